#pragma once
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "luminal/frontend/graph.h"

namespace luminal {

/// One node on the way back: its inputs as it reads them, its outputs, and the gradients of its outputs.
class Backward {
 public:
  /// Where the values of a node are to be read on the way back: itself, or where they were computed again.
  using Replayed = std::map<OutputId, OutputId>;
  Backward(const Graph& graph, NodeId id, std::vector<std::optional<Tensor>> gradients,
           const Replayed& replayed);

  const Node& node() const { return graph_.dag().node(id_); }
  Graph& graph() { return graph_; }
  /// Input k through its view.
  Tensor input(std::size_t k) const;
  Tensor output(std::uint32_t k = 0) const;
  /// The gradient of output k; zeros if nothing came back.
  Tensor gradient(std::uint32_t k = 0);
  Location where() const { return node().where; }

 private:
  Graph graph_;
  NodeId id_;
  std::vector<std::optional<Tensor>> gradients_;
  const Replayed& replayed_;
};

/// The gradients of a node's inputs, one each, in the shape and dtype the node reads them; absent where none
/// flows (an index, a condition). Never more than the inputs there are.
using InputGradients = std::vector<std::optional<Tensor>>;
using Vjp = InputGradients (*)(Backward&);

/// A user's function with a gradient: give it to `Graph::custom` like any other.
struct DifferentiableOp : CustomOp {
  /// The inputs' gradients, from the inputs, the outputs and the outputs' gradients.
  std::function<InputGradients(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                               const std::vector<Tensor>& gradients)>
      gradient;
};

/// The row of an op; null for ops that have no gradient (asking for one is the user's `Error`).
Vjp vjp(Op op);

/// The gradient of what a view reads, from the gradient of what it gives: movements are transposed one by
/// one, last first.
Tensor transpose(const View& view, const Tensor& gradient, Location where);

}  // namespace luminal
