#pragma once
#include "luminal/frontend/tensor.h"

namespace luminal {

// Activations, as the functions of torch.nn.functional with the same names. They take floats.

/// Also of integers.
Tensor relu(const Tensor& x, Location where = Location::current());
Tensor leaky_relu(const Tensor& x, double slope = 0.01, Location where = Location::current());
Tensor elu(const Tensor& x, double alpha = 1.0, Location where = Location::current());
Tensor selu(const Tensor& x, Location where = Location::current());
/// PyTorch: approximate='none' or 'tanh'.
Tensor gelu(const Tensor& x, Gelu form = Gelu::erf, Location where = Location::current());
/// x · sigmoid(x).
Tensor silu(const Tensor& x, Location where = Location::current());
/// Another name of silu.
Tensor swish(const Tensor& x, Location where = Location::current());
/// Integers give f32.
Tensor sigmoid(const Tensor& x, Location where = Location::current());
/// PyTorch: logsigmoid.
Tensor log_sigmoid(const Tensor& x, Location where = Location::current());
Tensor hardsigmoid(const Tensor& x, Location where = Location::current());
Tensor hardswish(const Tensor& x, Location where = Location::current());
/// log(1 + exp(beta · x)) / beta, and x where beta · x exceeds the threshold.
Tensor softplus(const Tensor& x, double beta = 1.0, double threshold = 20.0,
                Location where = Location::current());
Tensor mish(const Tensor& x, Location where = Location::current());

}  // namespace luminal
