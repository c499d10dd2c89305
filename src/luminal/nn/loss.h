#pragma once
#include <cstdint>
#include <optional>

#include "luminal/frontend/tensor.h"

namespace luminal::nn {

/// What becomes of the losses of the elements.
enum class Reduction : std::uint8_t { mean, sum, none };

// As the functions of torch.nn.functional of these names. Prediction and target broadcast; narrow floats
// compute in f32.

Tensor mse_loss(const Tensor& prediction, const Tensor& target, Reduction reduction = Reduction::mean,
                Location where = Location::current());
/// The square root of the mean squared error.
Tensor rmse_loss(const Tensor& prediction, const Tensor& target, Location where = Location::current());
/// The mean absolute error; PyTorch: l1_loss.
Tensor mae_loss(const Tensor& prediction, const Tensor& target, Reduction reduction = Reduction::mean,
                Location where = Location::current());
/// Squared up to `delta`, linear beyond.
Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta = 1,
                  Reduction reduction = Reduction::mean, Location where = Location::current());
/// huber_loss / beta; mae_loss for a beta of 0.
Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, double beta = 1,
                      Reduction reduction = Reduction::mean, Location where = Location::current());

struct ClassOptions {
  /// One weight a class.
  std::optional<Tensor> weight = std::nullopt;
  /// Elements with this label count for nothing.
  std::int64_t ignored = -100;
  /// Share of the target that is spread over all classes.
  double smoothing = 0;
  /// Which axis of the prediction counts classes: 1, or 0 for a single vector.
  std::optional<int> axis = std::nullopt;
  Reduction reduction = Reduction::mean;
};
/// Of scores (logits) and either integer labels, which lack the class axis, or soft targets of the scores'
/// shape. A mean is weighted by the labels' weights.
Tensor cross_entropy(const Tensor& scores, const Tensor& target, const ClassOptions& options = {},
                     Location where = Location::current());
/// The same of log-probabilities and labels; `smoothing` must be 0.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& labels, const ClassOptions& options = {},
                Location where = Location::current());
/// target · (log target − prediction): the prediction is a logarithm, and so is the target if `log_target`.
/// `batch_mean` divides the sum by the size of axis 0, as PyTorch's 'batchmean'.
Tensor kl_div(const Tensor& prediction, const Tensor& target, bool log_target = false,
              bool batch_mean = false, Reduction reduction = Reduction::mean,
              Location where = Location::current());
/// Of probabilities; logarithms are cut off at −100.
Tensor binary_cross_entropy(const Tensor& prediction, const Tensor& target,
                            const std::optional<Tensor>& weight = std::nullopt,
                            Reduction reduction = Reduction::mean, Location where = Location::current());
/// Of scores; `positive_weight` multiplies the loss of positive targets.
Tensor binary_cross_entropy_with_logits(const Tensor& scores, const Tensor& target,
                                        const std::optional<Tensor>& weight = std::nullopt,
                                        const std::optional<Tensor>& positive_weight = std::nullopt,
                                        Reduction reduction = Reduction::mean,
                                        Location where = Location::current());
/// Of scores and 0/1 targets (Lin et al., 2017): well-classified elements count less. A negative alpha does
/// not balance.
Tensor focal_loss(const Tensor& scores, const Tensor& target, double alpha = 0.25, double gamma = 2,
                  Reduction reduction = Reduction::mean, Location where = Location::current());
/// 1 − cos for pairs that belong together (label 1), max(0, cos − margin) for others (−1), along the last
/// axis. PyTorch: cosine_embedding_loss.
Tensor cosine_loss(const Tensor& a, const Tensor& b, const Tensor& label, double margin = 0,
                   Reduction reduction = Reduction::mean, Location where = Location::current());

}  // namespace luminal::nn
