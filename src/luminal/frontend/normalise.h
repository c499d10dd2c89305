#pragma once
#include "luminal/frontend/tensor.h"

namespace luminal {

// Normalisation along axes. All take floats, compute narrow ones in f32 and round once.

Tensor softmax(const Tensor& x, int axis, Location where = Location::current());
Tensor log_softmax(const Tensor& x, int axis, Location where = Location::current());
/// (x - mean) / √(variance + epsilon) over these axes; the variance is without correction.
Tensor layer_norm(const Tensor& x, const Axes& axes, double epsilon = 1e-5,
                  Location where = Location::current());
/// The same times `weight` plus `bias`, which broadcast.
Tensor layer_norm(const Tensor& x, const Axes& axes, const Tensor& weight, const std::optional<Tensor>& bias,
                  double epsilon = 1e-5, Location where = Location::current());
/// x / √(mean x² + epsilon); without an epsilon, the dtype's (torch.finfo(dtype).eps).
Tensor rms_norm(const Tensor& x, const Axes& axes, std::optional<double> epsilon = std::nullopt,
                Location where = Location::current());
/// The same times `weight`.
Tensor rms_norm(const Tensor& x, const Axes& axes, const Tensor& weight,
                std::optional<double> epsilon = std::nullopt, Location where = Location::current());
/// x - mean.
Tensor mean_norm(const Tensor& x, const Axes& axes, Location where = Location::current());
/// x / √(mean x² + epsilon): deviation 1 if the mean is 0.
Tensor std_norm(const Tensor& x, const Axes& axes, double epsilon = 1e-5,
                Location where = Location::current());
/// x / max(norm(x, p), epsilon).
Tensor normalize(const Tensor& x, double p = 2.0, const Axes& axes = 1, double epsilon = 1e-12,
                 Location where = Location::current());

}  // namespace luminal
