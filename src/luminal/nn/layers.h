#pragma once
#include "luminal/frontend/activation.h"
#include "luminal/frontend/math.h"
#include "luminal/frontend/normalise.h"
#include "luminal/frontend/pooling.h"
#include "luminal/nn/module.h"

namespace luminal::nn {

// Modules without states: they let functions take part in tuples and Sequential.

struct Relu {
  Tensor operator()(const Tensor& x, Location where = Location::current()) const { return relu(x, where); }
};
struct LeakyRelu {
  double slope = 0.01;
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return leaky_relu(x, slope, where);
  }
};
struct Elu {
  double alpha = 1;
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return elu(x, alpha, where);
  }
};
struct Selu {
  Tensor operator()(const Tensor& x, Location where = Location::current()) const { return selu(x, where); }
};
struct GeluLayer {
  Gelu form = Gelu::erf;
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return gelu(x, form, where);
  }
};
struct Silu {
  Tensor operator()(const Tensor& x, Location where = Location::current()) const { return silu(x, where); }
};
struct Sigmoid {
  Tensor operator()(const Tensor& x, Location where = Location::current()) const { return sigmoid(x, where); }
};
struct LogSigmoid {
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return log_sigmoid(x, where);
  }
};
struct Hardsigmoid {
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return hardsigmoid(x, where);
  }
};
struct Hardswish {
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return hardswish(x, where);
  }
};
struct Softplus {
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return softplus(x, 1.0, 20.0, where);
  }
};
struct Mish {
  Tensor operator()(const Tensor& x, Location where = Location::current()) const { return mish(x, where); }
};
struct Tanh {
  Tensor operator()(const Tensor& x, Location where = Location::current()) const { return tanh(x, where); }
};
struct Softmax {
  int axis = -1;
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return softmax(x, axis, where);
  }
};
struct LogSoftmax {
  int axis = -1;
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return log_softmax(x, axis, where);
  }
};
/// All axes from `first` on become one.
struct Flatten {
  int first = 1;
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return x.flatten(first, -1, where);
  }
};

/// Over the last `axes` axes.
struct MaxPool {
  Spatial window;
  std::size_t axes = 2;
  Pooling options = {};
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return max_pool(x, window, axes, options, where);
  }
};
struct AvgPool {
  Spatial window;
  std::size_t axes = 2;
  Pooling options = {};
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return avg_pool(x, window, axes, options, where);
  }
};
struct AdaptiveAvgPool {
  std::vector<Expr> sizes;
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return adaptive_avg_pool(x, sizes, where);
  }
};

}  // namespace luminal::nn
