#pragma once
#include <optional>

#include "luminal/nn/module.h"

namespace luminal::nn {

/// Over the last axis, with a weight (1) and a bias (0).
struct LayerNorm {
  LayerNorm(const Scope& scope, std::int64_t size, double epsilon = 1e-5, bool has_bias = true,
            Location where = Location::current());
  Tensor operator()(const Tensor& x, Location where = Location::current()) const;
  void visit(Visitor& v);

  State weight;
  std::optional<State> bias;
  double epsilon;
};

/// Over the last axis, with a weight (1).
struct RmsNorm {
  RmsNorm(const Scope& scope, std::int64_t size, double epsilon = 1e-5, Location where = Location::current());
  Tensor operator()(const Tensor& x, Location where = Location::current()) const;
  void visit(Visitor& v) { v.parameter("weight", weight); }

  State weight;
  double epsilon;
};

/// Of [batch, channels, …], over groups of channels and all further axes.
struct GroupNorm {
  GroupNorm(const Scope& scope, std::int64_t groups, std::int64_t channels, double epsilon = 1e-5,
            Location where = Location::current());
  Tensor operator()(const Tensor& x, Location where = Location::current()) const;
  void visit(Visitor& v);

  State weight;
  State bias;
  std::int64_t groups;
  double epsilon;
};

/// Of [batch, channels, …], channel by channel. In training it uses the batch's statistics and moves the
/// running ones towards them after each run; in evaluation it uses the running ones. As PyTorch's, momentum
/// included.
struct BatchNorm {
  BatchNorm(const Scope& scope, std::int64_t channels, double epsilon = 1e-5, double momentum = 0.1,
            Location where = Location::current());
  Tensor operator()(const Tensor& x, Location where = Location::current()) const;
  void visit(Visitor& v);

  State weight;
  State bias;
  State running_mean;
  State running_var;
  double epsilon;
  double momentum;
  Mode mode = Mode::train;
};

/// Elements are 0 with this probability in training, the others scaled up; the identity in evaluation. Draws
/// anew in every run: the number of the run is a state.
struct Dropout {
  Dropout(const Scope& scope, double probability, Location where = Location::current());
  Tensor operator()(const Tensor& x, Location where = Location::current()) const;
  void visit(Visitor& v);

  State runs;
  double probability;
  std::uint64_t stream;
  mutable std::uint64_t calls = 0;  // each call in a graph draws numbers of its own
  Mode mode = Mode::train;
};

}  // namespace luminal::nn
