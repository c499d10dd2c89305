#pragma once
#include <optional>

#include "luminal/nn/module.h"

namespace luminal::nn {

struct LinearOptions {
  bool bias = true;
  /// Keep the weight as [inputs, outputs] instead of PyTorch's [outputs, inputs].
  bool permuted = false;
};

/// x Wᵀ + b over the last axis. First values as PyTorch's: uniform in ±1/√inputs.
struct Linear {
  Linear(const Scope& scope, std::int64_t inputs, std::int64_t outputs, const LinearOptions& options = {},
         Location where = Location::current());
  Tensor operator()(const Tensor& x, Location where = Location::current()) const { return forward(x, where); }
  Tensor forward(const Tensor& x, Location where = Location::current()) const;
  void visit(Visitor& v);

  State weight;
  std::optional<State> bias;
  bool permuted;
};

/// Rows of a table by number. First values: standard normal.
struct Embedding {
  /// `permuted`: the table is [size, count], one column an entry.
  Embedding(const Scope& scope, std::int64_t count, std::int64_t size, bool permuted = false,
            Location where = Location::current());
  Tensor operator()(const Tensor& index, Location where = Location::current()) const {
    return forward(index, where);
  }
  Tensor forward(const Tensor& index, Location where = Location::current()) const;
  void visit(Visitor& v) { v.parameter("weight", weight); }

  State weight;
  bool permuted;
};

}  // namespace luminal::nn
