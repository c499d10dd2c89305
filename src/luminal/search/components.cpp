#include "luminal/search/components.h"

#include <algorithm>
#include <iterator>

namespace luminal::search {
namespace {

/// Tarjan's algorithm with a stack of its own: graphs can be deeper than the machine's.
class Finder {
 public:
  explicit Finder(const std::vector<std::vector<std::size_t>>& children)
      : children_(children), number_(children.size(), -1), low_(children.size()), open_(children.size()) {}

  void visit(std::size_t root) {
    if (number_[root] >= 0) return;
    enter(root);
    while (!frames_.empty()) {
      const std::size_t at = frames_.back().node;
      if (frames_.back().next == children_[at].size()) {
        leave(at);
        continue;
      }
      const std::size_t child = children_[at][frames_.back().next++];
      if (number_[child] < 0)
        enter(child);
      else if (open_[child])
        low_[at] = std::min(low_[at], number_[child]);
    }
  }

  std::vector<std::vector<std::size_t>> components;

 private:
  struct Frame {
    std::size_t node = 0;
    std::size_t next = 0;  // child to look at
  };

  void enter(std::size_t node) {
    number_[node] = low_[node] = next_number_++;
    open_[node] = true;
    stack_.push_back(node);
    frames_.push_back({node});
  }

  void leave(std::size_t node) {
    if (low_[node] == number_[node]) {
      const auto first = std::prev(std::find(stack_.rbegin(), stack_.rend(), node).base());
      components.emplace_back(first, stack_.end());
      stack_.erase(first, stack_.end());
      for (const auto member : components.back()) open_[member] = false;
      std::sort(components.back().begin(), components.back().end());
    }
    frames_.pop_back();
    if (frames_.empty()) return;
    const std::size_t parent = frames_.back().node;
    low_[parent] = std::min(low_[parent], low_[node]);
  }

  const std::vector<std::vector<std::size_t>>& children_;
  std::vector<int> number_;  // in order of visit; -1: not yet
  std::vector<int> low_;     // the least number that is reached and still open
  std::vector<bool> open_;
  std::vector<std::size_t> stack_;
  std::vector<Frame> frames_;
  int next_number_ = 0;
};

}  // namespace

std::vector<std::vector<std::size_t>> strong_components(const std::vector<std::vector<std::size_t>>& children,
                                                        const std::vector<std::size_t>& roots) {
  Finder finder(children);
  for (const auto root : roots) finder.visit(root);
  return std::move(finder.components);
}

}  // namespace luminal::search
