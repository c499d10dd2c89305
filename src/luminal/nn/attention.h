#pragma once
#include <optional>

#include "luminal/frontend/matmul.h"
#include "luminal/nn/linear.h"

namespace luminal::nn {

/// Rotary position embedding: turns pairs of elements of the last axis by angles that grow with the position.
struct Rotary {
  double base = 10000;
  /// Pairs are neighbours (2i, 2i + 1) instead of halves (i, i + size/2), which Llama's files use.
  bool interleaved = false;
  /// x [… positions, size], whose positions are first, first + 1 … The first may be symbolic.
  Tensor operator()(const Tensor& x, const Expr& first = 0, Location where = Location::current()) const;
};

/// Keys and values of earlier positions, as states [batch, heads, capacity, size]. `past` counts them:
/// usually a named dim that the caller raises after each run.
struct KvCache {
  KvCache(const Scope& scope, std::int64_t batch, std::int64_t heads, std::int64_t capacity,
          std::int64_t size, const Expr& past, Location where = Location::current());
  struct Result {
    Tensor keys;
    Tensor values;
  };
  /// Puts new positions [batch, heads, n, size] behind the past ones, and gives all past + n of them. Once a
  /// graph: a second call would write to the same positions.
  Result append(const Tensor& new_keys, const Tensor& new_values, Location where = Location::current()) const;

  State keys;
  State values;
  Expr past;
};

struct AttentionOptions {
  std::int64_t heads = 1;
  /// Heads of keys and values, each serving several of the queries'; as many as `heads` if 0.
  std::int64_t kv_heads = 0;
  /// Of one head; size / heads if 0.
  std::int64_t head_size = 0;
  bool bias = true;
  bool causal = false;
  std::optional<Rotary> rotary = std::nullopt;
};

/// Attention with its projections: queries from x, keys and values from x or from `context`.
struct MultiHeadAttention {
  MultiHeadAttention(const Scope& scope, std::int64_t size, const AttentionOptions& options,
                     Location where = Location::current());
  struct Inputs {
    std::optional<Tensor> context = std::nullopt;
    /// Broadcasts to [batch, heads, queries, keys]: a bool says which keys are seen, a float is added to the
    /// scores.
    std::optional<Tensor> mask = std::nullopt;
    const KvCache* cache = nullptr;
  };
  /// x [batch, positions, size].
  Tensor forward(const Tensor& x, const Inputs& inputs, Location where = Location::current()) const;
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return forward(x, {}, where);
  }
  void visit(Visitor& v);

  Linear query;
  Linear key;
  Linear value;
  Linear output;
  AttentionOptions options;

 private:
  struct Complete {
    Scope scope;
    AttentionOptions options;
  };
  MultiHeadAttention(const Complete& made, std::int64_t size, Location where);
};

}  // namespace luminal::nn
