#include <queue>

#include "luminal/graph/dag.h"
#include "luminal/graph/infer.h"
#include "luminal/graph/text.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::vector<NodeId> needs_of(const Node& node) {
  std::vector<NodeId> needs = node.after;
  for (const auto& input : node.inputs) needs.push_back(input.node);
  return needs;
}

std::vector<bool> needed_by(const Dag& dag, const std::vector<NodeId>& roots) {
  std::vector<bool> needed(dag.id_bound(), false);
  std::vector<NodeId> open = roots;
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (needed[id.index()]) continue;
    needed[id.index()] = true;
    for (const auto need : needs_of(dag.node(id))) open.push_back(need);
  }
  return needed;
}

}  // namespace

std::vector<NodeId> execution_order(const Dag& dag, const std::vector<NodeId>& roots) {
  const std::vector<bool> needed = needed_by(dag, roots);
  std::vector<std::uint32_t> waiting(dag.id_bound(), 0);
  std::vector<std::vector<NodeId>> readers(dag.id_bound());
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  std::size_t count = 0;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    ++count;
    const auto needs = needs_of(dag.node(NodeId(i)));
    waiting[i] = static_cast<std::uint32_t>(needs.size());
    for (const auto need : needs) readers[need.index()].emplace_back(i);
    if (needs.empty()) ready.emplace(i);
  }
  std::vector<NodeId> order;
  order.reserve(count);
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    for (const auto reader : readers[id.index()])
      if (--waiting[reader.index()] == 0) ready.push(reader);
  }
  if (order.size() != count) throw InternalError("the graph has a circle");
  return order;
}

void verify(const Dag& dag) {
  const auto require = [&](bool holds, const std::string& promise) {
    if (!holds) throw InternalError(promise, print(dag));
  };
  for (const auto id : dag.nodes()) {
    const Node& node = dag.node(id);
    std::vector<TensorType> types;
    for (const auto& input : node.inputs) {
      require(dag.contains(input.node), cat(id, " reads ", input.node, ", which was removed"));
      require(input.view.source() == dag.type(input.node, input.output).shape,
              cat(id, " reads ", input.node, " through a view of another shape"));
      types.push_back(dag.type(input));
    }
    for (const auto earlier : node.after)
      require(dag.contains(earlier), cat(id, " runs after ", earlier, ", which was removed"));
    const TensorType requested = node.outputs.empty() ? TensorType{} : node.outputs[0];
    require(infer(node.op, node.attribute, types, requested, node.where).outputs == node.outputs,
            cat("the outputs of ", id, " are not what its op gives"));
  }
  for (const auto& value : dag.outputs())
    require(dag.contains(value.node) && value.view.source() == dag.type(value.node, value.output).shape,
            cat("an output reads ", value.node, " through a view of another shape"));
  for (const auto& [state, value] : dag.assignments())
    require(dag.contains(state) && dag.contains(value.node) && dag.node(state).op == Op::state,
            cat("an assignment to ", state, " is broken"));
  execution_order(dag, dag.nodes());
}

}  // namespace luminal
