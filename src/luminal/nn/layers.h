#pragma once
#include "luminal/frontend/activation.h"
#include "luminal/frontend/math.h"
#include "luminal/frontend/normalise.h"
#include "luminal/frontend/pooling.h"
#include "luminal/nn/module.h"

namespace luminal::nn {

// Modules without states: they let functions take part in tuples and Sequential.

struct Relu {
  Tensor operator()(const Tensor& x) const { return relu(x); }
};
struct LeakyRelu {
  double slope = 0.01;
  Tensor operator()(const Tensor& x) const { return leaky_relu(x, slope); }
};
struct Elu {
  double alpha = 1;
  Tensor operator()(const Tensor& x) const { return elu(x, alpha); }
};
struct Selu {
  Tensor operator()(const Tensor& x) const { return selu(x); }
};
struct GeluLayer {
  Gelu form = Gelu::erf;
  Tensor operator()(const Tensor& x) const { return gelu(x, form); }
};
struct Silu {
  Tensor operator()(const Tensor& x) const { return silu(x); }
};
struct Sigmoid {
  Tensor operator()(const Tensor& x) const { return sigmoid(x); }
};
struct LogSigmoid {
  Tensor operator()(const Tensor& x) const { return log_sigmoid(x); }
};
struct Hardsigmoid {
  Tensor operator()(const Tensor& x) const { return hardsigmoid(x); }
};
struct Hardswish {
  Tensor operator()(const Tensor& x) const { return hardswish(x); }
};
struct Softplus {
  Tensor operator()(const Tensor& x) const { return softplus(x); }
};
struct Mish {
  Tensor operator()(const Tensor& x) const { return mish(x); }
};
struct Tanh {
  Tensor operator()(const Tensor& x) const { return tanh(x); }
};
struct Softmax {
  int axis = -1;
  Tensor operator()(const Tensor& x) const { return softmax(x, axis); }
};
struct LogSoftmax {
  int axis = -1;
  Tensor operator()(const Tensor& x) const { return log_softmax(x, axis); }
};
/// All axes from `first` on become one.
struct Flatten {
  int first = 1;
  Tensor operator()(const Tensor& x) const { return x.flatten(first); }
};

/// Over the last `axes` axes.
struct MaxPool {
  Spatial window;
  std::size_t axes = 2;
  Pooling options = {};
  Tensor operator()(const Tensor& x) const { return max_pool(x, window, axes, options); }
};
struct AvgPool {
  Spatial window;
  std::size_t axes = 2;
  Pooling options = {};
  Tensor operator()(const Tensor& x) const { return avg_pool(x, window, axes, options); }
};
struct AdaptiveAvgPool {
  std::vector<Expr> sizes;
  Tensor operator()(const Tensor& x) const { return adaptive_avg_pool(x, sizes); }
};

}  // namespace luminal::nn
