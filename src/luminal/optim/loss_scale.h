#pragma once
#include <vector>

#include "luminal/optim/optimiser.h"

namespace luminal::optim {

struct LossScaleOptions {
  double initial = 65536;
  double growth = 2;
  double backoff = 0.5;
  std::int64_t interval = 2000;  // runs without overflow before the scale grows
};

/// Keeps f16 gradients from vanishing: the loss is multiplied by a scale that grows until gradients overflow;
/// a run whose gradients are not all finite is skipped and the scale shrinks. As PyTorch's GradScaler.
class LossScale {
 public:
  explicit LossScale(Graph& graph, const LossScaleOptions& options = {},
                     Location where = Location::current());
  /// The loss to take gradients of.
  Tensor scaled(const Tensor& loss, Location where = Location::current()) const;

  struct Unscaled {
    std::vector<Tensor> gradients;  // in f32 at least, of the loss itself
    Tensor finite;                  // bool scalar: give it to Updates::apply_if
    Updates updates;                // of the scale; apply them always
  };
  Unscaled unscale(const std::vector<Tensor>& gradients, Location where = Location::current()) const;

  const State& scale() const { return scale_; }

 private:
  State scale_;
  State good_runs_;
  LossScaleOptions options_;
};

}  // namespace luminal::optim
