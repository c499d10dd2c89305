#include <algorithm>

#include "luminal/egraph/extract.h"

namespace luminal::egraph {
namespace {

/// Branch and bound over the nodes of the classes that turn out to be needed. A partial choice costs at least
/// its nodes plus, for every needed class without one, that class's cheapest node.
class Search {
 public:
  Search(const Frozen& frozen, const NodeCost& cost, std::chrono::steady_clock::time_point deadline,
         ExactResult& best)
      : frozen_(frozen), deadline_(deadline), best_(best) {
    chosen_.assign(frozen.class_count(), no_node);
    needed_.assign(frozen.class_count(), false);
    floor_.assign(frozen.class_count(), no_cost);
    own_.resize(frozen.node_count());
    for (const std::uint32_t node : best.choice.nodes) extractable_.push_back(node != no_node);
    for (std::uint32_t i = 0; i < frozen.node_count(); ++i) {
      const FrozenNode& node = frozen.node(i);
      own_[i] = cost ? cost(node) : node.cost;
      if (usable(node)) floor_[node.owner] = std::min(floor_[node.owner], own_[i]);
    }
  }

  void need(std::uint32_t owner) {
    if (needed_[owner]) return;
    needed_[owner] = true;
    open_.push_back(owner);
    bound_ = saturating_sum(bound_, floor_[owner]);
  }

  // False if time ran out.
  bool run() {
    if (bound_ >= best_.cost) return true;
    if (++visited_ % 1024 == 0 && std::chrono::steady_clock::now() > deadline_) return false;
    if (open_.empty()) {
      best_.cost = bound_;
      best_.choice.nodes = chosen_;
      return true;
    }
    const auto place = fewest_ways();
    const std::uint32_t owner = open_[static_cast<std::size_t>(place)];
    open_.erase(open_.begin() + place);
    bool in_time = true;
    for (const std::uint32_t index : candidates(owner)) {
      in_time = in_time && try_node(owner, index);
    }
    open_.insert(open_.begin() + place, owner);  // whoever opened classes finds them last
    return in_time;
  }

 private:
  bool usable(const FrozenNode& node) const {
    const auto children = frozen_.children(node);
    return std::all_of(children.begin(), children.end(),
                       [&](std::uint32_t child) { return child != no_class && extractable_[child]; });
  }

  // The open class with the fewest ways: forced ones first.
  std::ptrdiff_t fewest_ways() const {
    const auto fewest = std::min_element(open_.begin(), open_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return frozen_.last_node(a) - frozen_.first_node(a) < frozen_.last_node(b) - frozen_.first_node(b);
    });
    return fewest - open_.begin();
  }

  std::vector<std::uint32_t> candidates(std::uint32_t owner) const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked;
    for (std::uint32_t i = frozen_.first_node(owner); i < frozen_.last_node(owner); ++i) {
      const FrozenNode& node = frozen_.node(i);
      if (!usable(node)) continue;
      std::uint64_t added = own_[i];
      for (const std::uint32_t child : frozen_.children(node)) {
        if (!needed_[child]) added = saturating_sum(added, floor_[child]);
      }
      ranked.emplace_back(added, i);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::uint32_t> order;
    order.reserve(ranked.size());
    for (const auto& [added, index] : ranked) order.push_back(index);
    return order;
  }

  bool try_node(std::uint32_t owner, std::uint32_t index) {
    const FrozenNode& node = frozen_.node(index);
    if (reaches(node, owner)) return true;
    const std::size_t open_before = open_.size();
    const std::uint64_t bound_before = bound_;
    bound_ = saturating_sum(bound_ - floor_[owner], own_[index]);
    chosen_[owner] = index;
    for (const std::uint32_t child : frozen_.children(node)) need(child);
    const bool in_time = run();
    while (open_.size() > open_before) {
      needed_[open_.back()] = false;
      open_.pop_back();
    }
    chosen_[owner] = no_node;
    bound_ = bound_before;
    return in_time;
  }

  // Whether the node's children need the class through nodes chosen so far.
  bool reaches(const FrozenNode& node, std::uint32_t target) const {
    std::vector<bool> seen(frozen_.class_count(), false);
    const auto first = frozen_.children(node);
    std::vector<std::uint32_t> stack(first.begin(), first.end());
    while (!stack.empty()) {
      const std::uint32_t owner = stack.back();
      stack.pop_back();
      if (owner == target) return true;
      if (seen[owner] || chosen_[owner] == no_node) continue;
      seen[owner] = true;
      for (const std::uint32_t child : frozen_.children(frozen_.node(chosen_[owner]))) stack.push_back(child);
    }
    return false;
  }

  const Frozen& frozen_;
  std::chrono::steady_clock::time_point deadline_;
  ExactResult& best_;
  std::vector<bool> extractable_;
  std::vector<std::uint32_t> chosen_;
  std::vector<bool> needed_;
  std::vector<std::uint64_t> floor_;
  std::vector<std::uint64_t> own_;
  std::vector<std::uint32_t> open_;
  std::uint64_t bound_ = 0;
  std::uint64_t visited_ = 0;
};

}  // namespace

ExactResult extract_exact(const Frozen& frozen, const std::vector<std::uint32_t>& roots,
                          std::chrono::duration<double> limit, const NodeCost& cost) {
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit);
  ExactResult result;
  result.choice = extract_dag(frozen, cost);
  result.cost = dag_cost(frozen, result.choice, roots, cost);
  Choice tree = extract_tree(frozen, cost);
  if (const std::uint64_t other = dag_cost(frozen, tree, roots, cost); other < result.cost) {
    result.choice = std::move(tree);
    result.cost = other;
  }
  if (result.cost == no_cost) {
    result.proved = true;
    return result;
  }
  Search search(frozen, cost, deadline, result);
  const Choice start = result.choice;
  for (const std::uint32_t root : roots) search.need(root);
  result.proved = search.run();
  // Classes that the best choice does not need keep what they had.
  for (std::size_t i = 0; i < start.nodes.size(); ++i) {
    if (result.choice.nodes[i] == no_node) result.choice.nodes[i] = start.nodes[i];
  }
  return result;
}

}  // namespace luminal::egraph
