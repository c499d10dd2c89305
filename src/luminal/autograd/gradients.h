#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "luminal/frontend/graph.h"

namespace luminal {

/// A part of the graph whose inner values are not kept for the way back: they are computed again from
/// `inputs` when the gradient of `output` arrives. Saves memory for one more forward pass of that part.
struct Checkpoint {
  std::vector<Tensor> inputs;
  Tensor output;
};
/// Builds a part from its inputs and marks it; give the result to `GradientOptions::checkpoints`.
Checkpoint checkpoint(const std::function<Tensor(const std::vector<Tensor>&)>& part,
                      std::vector<Tensor> inputs);

struct GradientOptions {
  /// The gradient of `loss` itself, of its shape; 1 if absent, and then the loss must be a scalar.
  std::optional<Tensor> seed;
  /// Give zeros for a parameter that the loss does not depend on, instead of refusing it.
  bool allow_unused = false;
  /// Parts to compute again on the way back. They must not overlap.
  std::vector<Checkpoint> checkpoints = {};
};

/// The gradients of `loss` with respect to `parameters`, as new nodes of the same graph: an ordinary graph
/// again, so gradients of gradients need nothing else. Only what lies between the parameters and the loss is
/// differentiated. Throws `Error` for a loss that is no scalar, a loss or parameter that is not
/// floating-point, a parameter without a path to the loss, a parameter that is a view, and an op on the way
/// that has no gradient.
std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Tensor>& parameters,
                              const GradientOptions& options = {}, Location where = Location::current());

}  // namespace luminal
