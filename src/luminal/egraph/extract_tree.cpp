#include <algorithm>
#include <queue>

#include "luminal/egraph/extract.h"

namespace luminal::egraph {

// Knuth's generalisation of Dijkstra's algorithm: classes are settled in the order of their costs, each by a
// node whose children are settled, so the choice is acyclic even if nodes cost nothing.
Choice extract_tree(const Frozen& frozen, const NodeCost& cost) {
  const std::size_t classes = frozen.class_count();
  Choice choice{std::vector<std::uint32_t>(classes, no_node), std::vector<std::uint64_t>(classes, no_cost)};
  std::vector<std::uint64_t> sums(frozen.node_count());
  std::vector<std::uint32_t> missing(frozen.node_count());
  std::vector<std::vector<std::uint32_t>> users(classes);
  using Entry = std::pair<std::uint64_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < frozen.node_count(); ++i) {
    const FrozenNode& node = frozen.node(i);
    sums[i] = cost ? cost(node) : node.cost;
    missing[i] = node.child_count;
    if (node.child_count == 0) ready.emplace(sums[i], i);
    for (const std::uint32_t child : frozen.children(node)) {
      if (child != no_class) users[child].push_back(i);
    }
  }
  while (!ready.empty()) {
    const auto [total, index] = ready.top();
    ready.pop();
    const std::uint32_t owner = frozen.node(index).owner;
    if (choice.nodes[owner] != no_node) continue;
    choice.nodes[owner] = index;
    choice.costs[owner] = total;
    for (const std::uint32_t user : users[owner]) {
      sums[user] = saturating_sum(sums[user], total);
      if (--missing[user] == 0) ready.emplace(sums[user], user);
    }
  }
  return choice;
}

}  // namespace luminal::egraph
