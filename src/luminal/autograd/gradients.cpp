#include "luminal/autograd/gradients.h"

#include <map>

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

/// The way back through the graph, with what has been collected for each value so far.
class Backpropagation {
 public:
  Backpropagation(const Graph& graph, std::vector<bool> active) : graph_(graph), active_(std::move(active)) {}

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
    bool any = false;
    for (std::uint32_t k = 0; k < node.outputs.size(); ++k) {
      incoming.push_back(find({id, k}));
      any = any || incoming.back().has_value();
    }
    if (!any) return;
    const Vjp row = vjp(node.op);
    if (row == nullptr) throw Error(cat("gradients: ", node.op, " has no gradient"), node.where);
    Backward backward(graph_, id, std::move(incoming));
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
  std::map<OutputId, Tensor> collected_;
};

Tensor filled(Graph graph, const Tensor& like, double value, Location where) {
  return graph.constant(value, like.dtype(), where).expand(like.shape(), where);
}

}  // namespace

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
  Backpropagation back(graph, std::move(active));
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
