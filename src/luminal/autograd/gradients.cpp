#include "luminal/autograd/gradients.h"

#include <map>
#include <tuple>

#include "luminal/autograd/vjp.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// Which nodes lie between the parameters and the loss.
std::vector<bool> between(const Dag& dag, const std::vector<NodeId>& order,
                          const std::vector<Tensor>& parameters) {
  std::vector<bool> reached(dag.id_bound(), false);
  for (const auto& parameter : parameters) reached[parameter.node().index()] = true;
  for (const auto id : order)
    for (const auto& input : dag.node(id).inputs)
      if (reached[input.node.index()]) reached[id.index()] = true;
  return reached;
}

std::string which(const Dag& dag, const Tensor& tensor) {
  const std::string& name = dag.node(tensor.node()).name;
  return name.empty() ? cat(tensor.node()) : cat("'", name, "'");
}

void require_loss(const Tensor& loss, const GradientOptions& options, Location where) {
  if (!is_floating(loss.dtype()))
    throw Error(cat("gradients: the loss is ", loss.dtype(), ", expected floating-point elements"), where);
  if (!options.seed && loss.rank() != 0)
    throw Error(cat("gradients: the loss has shape ", loss.shape(), ", expected a scalar"), where);
  if (options.seed && (options.seed->shape() != loss.shape() || options.seed->dtype() != loss.dtype()))
    throw Error(cat("gradients: the seed is ", TensorType{options.seed->shape(), options.seed->dtype()},
                    ", expected ", TensorType{loss.shape(), loss.dtype()}),
                where);
}

void require_parameter(const Dag& dag, const Tensor& parameter, Location where) {
  if (!is_floating(parameter.dtype()))
    throw Error(cat("gradients: the parameter ", which(dag, parameter), " is ", parameter.dtype(),
                    ", expected floating-point elements"),
                where);
  if (!parameter.value().view.is_identity())
    throw Error(cat("gradients: the parameter ", which(dag, parameter),
                    " is a view; use the tensor it was made from"),
                where);
}

/// The parts of the graph that are computed again, each when the first gradient reaches it.
class Replay {
 public:
  Replay(const Graph& graph, const std::vector<Checkpoint>& checkpoints, Location where)
      : graph_(graph), checkpoints_(checkpoints) {
    for (std::size_t i = 0; i < checkpoints.size(); ++i) claim(i, where);
  }

  /// Where to read the values around a node, now that `gradient` has reached it.
  const Backward::Replayed& at(NodeId id, const Tensor& gradient) {
    const auto found = part_of_.find(id);
    if (found != part_of_.end() && !done_[found->second]) again(found->second, gradient);
    return replayed_;
  }

 private:
  /// Finds the nodes between a part's inputs and its output.
  void claim(std::size_t part, Location where) {
    const Dag& dag = graph_.dag();
    std::vector<bool> seen(dag.id_bound(), false);
    for (const auto& input : checkpoints_[part].inputs) seen[input.node().index()] = true;
    std::vector<NodeId> open{checkpoints_[part].output.node()};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (seen[id.index()]) continue;
      seen[id.index()] = true;
      const Node& node = dag.node(id);
      if (node.inputs.empty()) continue;
      if (!part_of_.emplace(id, part).second)
        throw Error("gradients: two checkpoints share a part of the graph", where);
      for (const auto& input : node.inputs) open.push_back(input.node);
    }
    done_.push_back(false);
  }

  void again(std::size_t part, const Tensor& gradient) {
    done_[part] = true;
    // Barriers behind the gradient keep the second computation from being merged with the first.
    for (const auto& input : checkpoints_[part].inputs) {
      const Value value = input.value();
      const Tensor held = graph_.add_op(Op::barrier, graph_.dag().node(value.node).where)
                              .input(graph_.at(value.node, value.output))
                              .after(gradient)
                              .finish();
      replayed_[{value.node, value.output}] = {held.node(), 0};
    }
    for (const auto id : execution_order(graph_.dag(), {checkpoints_[part].output.node()})) {
      const auto found = part_of_.find(id);
      if (found == part_of_.end() || found->second != part) continue;
      const Node node = graph_.dag().node(id);
      OpBuilder copy = graph_.add_op(node.op, node.where);
      copy.attribute(node.attribute).type(node.outputs[0]);
      for (Value input : node.inputs) {
        const auto place = replayed_.find({input.node, input.output});
        if (place != replayed_.end()) std::tie(input.node, input.output) = place->second;
        copy.input(graph_.at(input));
      }
      const auto outputs = copy.finish_all();
      for (std::uint32_t k = 0; k < outputs.size(); ++k) replayed_[{id, k}] = {outputs[k].node(), k};
    }
    for (const auto& input : checkpoints_[part].inputs) replayed_.erase({input.node(), input.value().output});
  }

  Graph graph_;
  const std::vector<Checkpoint>& checkpoints_;
  std::map<NodeId, std::size_t> part_of_;
  std::vector<bool> done_;
  Backward::Replayed replayed_;
};

/// The way back through the graph, with what has been collected for each value so far.
class Backpropagation {
 public:
  Backpropagation(const Graph& graph, std::vector<bool> active, Replay& replay)
      : graph_(graph), active_(std::move(active)), replay_(replay) {}

  void add(const Value& value, const Tensor& gradient, Location where) {
    const Tensor whole = transpose(value.view, gradient, where);
    const OutputId place{value.node, value.output};
    const auto found = collected_.find(place);
    if (found == collected_.end())
      collected_.emplace(place, whole);
    else
      found->second = Operand(found->second, where) + Operand(whole, where);
  }

  void through(NodeId id) {
    const Node& node = graph_.dag().node(id);
    if (node.inputs.empty()) return;
    std::vector<std::optional<Tensor>> incoming;
    std::optional<Tensor> arrived;
    for (std::uint32_t k = 0; k < node.outputs.size(); ++k) {
      incoming.push_back(find({id, k}));
      if (!arrived) arrived = incoming.back();
    }
    if (!arrived) return;
    const Vjp row = vjp(node.op);
    if (row == nullptr) throw Error(cat("gradients: ", node.op, " has no gradient"), node.where);
    Backward backward(graph_, id, std::move(incoming), replay_.at(id, *arrived));
    const InputGradients outgoing = row(backward);
    for (std::size_t i = 0; i < outgoing.size(); ++i)
      if (outgoing[i] && active_[node.inputs[i].node.index()]) add(node.inputs[i], *outgoing[i], node.where);
  }

  std::optional<Tensor> find(const OutputId& place) const {
    const auto found = collected_.find(place);
    return found == collected_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  Graph graph_;
  std::vector<bool> active_;
  Replay& replay_;
  std::map<OutputId, Tensor> collected_;
};

Tensor filled(Graph graph, const Tensor& like, double value, Location where) {
  return graph.constant(value, like.dtype(), where).expand(like.shape(), where);
}

}  // namespace

Checkpoint checkpoint(const std::function<Tensor(const std::vector<Tensor>&)>& part,
                      std::vector<Tensor> inputs) {
  const Tensor output = part(inputs);
  return {std::move(inputs), output};
}

std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Tensor>& parameters,
                              const GradientOptions& options, Location where) {
  Graph graph = loss.graph(where);
  require_loss(loss, options, where);
  for (const auto& parameter : parameters) {
    if (!(parameter.graph(where) == graph))
      throw Error("gradients: the tensors belong to different graphs", where);
    require_parameter(graph.dag(), parameter, where);
  }
  const auto order = execution_order(graph.dag(), {loss.node()});
  std::vector<bool> active = between(graph.dag(), order, parameters);
  Replay replay(graph, options.checkpoints, where);
  Backpropagation back(graph, std::move(active), replay);
  back.add(loss.value(), options.seed ? *options.seed : filled(graph, loss, 1, where), where);
  for (auto id = order.rbegin(); id != order.rend(); ++id) back.through(*id);
  std::vector<Tensor> result;
  for (const auto& parameter : parameters) {
    const auto found = back.find({parameter.node(), parameter.value().output});
    if (!found && !options.allow_unused)
      throw Error(cat("gradients: the loss does not depend on the parameter ", which(graph.dag(), parameter)),
                  where);
    result.push_back(found ? *found : filled(graph, parameter, 0, where));
  }
  return result;
}

}  // namespace luminal
