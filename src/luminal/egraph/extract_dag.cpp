#include <algorithm>
#include <iterator>

#include "luminal/egraph/extract.h"

namespace luminal::egraph {
namespace {

using Classes = std::vector<std::uint32_t>;  // sorted

std::uint64_t own_cost(const FrozenNode& node, const NodeCost& cost) {
  return cost ? cost(node) : node.cost;
}

/// Classes with a term, every one after those it needs.
Classes order_of(const Frozen& frozen, const Choice& choice) {
  Classes order;
  std::vector<std::uint8_t> state(frozen.class_count(), 0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stack;
  for (std::uint32_t start = 0; start < frozen.class_count(); ++start) {
    if (choice.nodes[start] == no_node || state[start] != 0) continue;
    stack.emplace_back(start, 0);
    state[start] = 1;
    while (!stack.empty()) {
      auto& [owner, next] = stack.back();
      const auto children = frozen.children(frozen.node(choice.nodes[owner]));
      if (next == children.size()) {
        order.push_back(owner);
        stack.pop_back();
        continue;
      }
      const std::uint32_t child = children[next++];
      if (state[child] != 0) continue;
      state[child] = 1;
      stack.emplace_back(child, 0);
    }
  }
  return order;
}

/// One pass over the classes in an order: each takes its cheapest node among those that need earlier classes
/// only.
class Pass {
 public:
  Pass(const Frozen& frozen, const NodeCost& cost, Choice& choice)
      : frozen_(frozen),
        cost_(cost),
        choice_(choice),
        needs_(frozen.class_count()),
        place_(frozen.class_count(), no_class),
        own_(frozen.class_count()) {}

  bool run(const Classes& order) {
    bool improved = false;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      const std::uint32_t owner = order[i];
      const std::uint64_t before = choice_.costs[owner];
      settle(owner);
      place_[owner] = i;
      improved = improved || choice_.costs[owner] < before;
    }
    return improved;
  }

 private:
  void settle(std::uint32_t owner) {
    std::uint64_t best = no_cost;
    for (std::uint32_t i = frozen_.first_node(owner); i < frozen_.last_node(owner); ++i) {
      const FrozenNode& node = frozen_.node(i);
      const auto children = frozen_.children(node);
      const bool earlier = std::all_of(children.begin(), children.end(), [&](std::uint32_t child) {
        return child != no_class && place_[child] != no_class;
      });
      if (!earlier) continue;
      Classes needed = needed_by(children);
      std::uint64_t total = own_cost(node, cost_);
      for (const std::uint32_t child : needed) total = saturating_sum(total, own_[child]);
      if (best != no_cost && total >= best) continue;
      best = total;
      choice_.nodes[owner] = i;
      choice_.costs[owner] = total;
      needs_[owner] = std::move(needed);
    }
    own_[owner] = own_cost(frozen_.node(choice_.nodes[owner]), cost_);
    Classes& needed = needs_[owner];
    needed.insert(std::lower_bound(needed.begin(), needed.end(), owner), owner);
  }

  Classes needed_by(std::span<const std::uint32_t> children) const {
    Classes all;
    Classes merged;
    for (const std::uint32_t child : children) {
      merged.clear();
      std::set_union(all.begin(), all.end(), needs_[child].begin(), needs_[child].end(),
                     std::back_inserter(merged));
      all.swap(merged);
    }
    return all;
  }

  const Frozen& frozen_;
  const NodeCost& cost_;
  Choice& choice_;
  std::vector<Classes> needs_;
  std::vector<std::uint32_t> place_;
  std::vector<std::uint64_t> own_;
};

}  // namespace

// Passes repeat with the classes ordered by what they cost in the last one: a class that turned out cheap
// through sharing then stands before classes it can serve. An order makes cycles impossible.
Choice extract_dag(const Frozen& frozen, const NodeCost& cost) {
  constexpr int most_passes = 8;
  Choice choice = extract_tree(frozen, cost);
  Classes order = order_of(frozen, choice);
  for (int pass = 0; pass < most_passes; ++pass) {
    if (!Pass(frozen, cost, choice).run(order) && pass > 0) break;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return choice.costs[a] < choice.costs[b]; });
  }
  return choice;
}

std::uint64_t dag_cost(const Frozen& frozen, const Choice& choice, const std::vector<std::uint32_t>& roots,
                       const NodeCost& cost) {
  std::vector<bool> seen(frozen.class_count(), false);
  std::vector<std::uint32_t> stack = roots;
  std::uint64_t total = 0;
  while (!stack.empty()) {
    const std::uint32_t owner = stack.back();
    stack.pop_back();
    if (owner == no_class || choice.nodes[owner] == no_node) return no_cost;
    if (seen[owner]) continue;
    seen[owner] = true;
    const FrozenNode& node = frozen.node(choice.nodes[owner]);
    total = saturating_sum(total, own_cost(node, cost));
    for (const std::uint32_t child : frozen.children(node)) stack.push_back(child);
  }
  return total;
}

bool acyclic(const Frozen& frozen, const Choice& choice, const std::vector<std::uint32_t>& roots) {
  enum : std::uint8_t { unseen, open, closed };
  std::vector<std::uint8_t> state(frozen.class_count(), unseen);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stack;
  for (const std::uint32_t root : roots) {
    if (state[root] != unseen) continue;
    stack.emplace_back(root, 0);
    state[root] = open;
    while (!stack.empty()) {
      auto& [owner, next] = stack.back();
      const auto children = frozen.children(frozen.node(choice.nodes[owner]));
      if (next == children.size()) {
        state[owner] = closed;
        stack.pop_back();
        continue;
      }
      const std::uint32_t child = children[next++];
      if (state[child] == open) return false;
      if (state[child] == closed) continue;
      state[child] = open;
      stack.emplace_back(child, 0);
    }
  }
  return true;
}

}  // namespace luminal::egraph
