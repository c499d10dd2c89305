#pragma once
#include <optional>

#include "luminal/nn/attention.h"
#include "luminal/nn/linear.h"
#include "luminal/nn/norm.h"

namespace luminal::nn {

/// down(silu(gate x) · up x), without biases.
struct SwiGlu {
  SwiGlu(const Scope& scope, std::int64_t size, std::int64_t hidden, Location where = Location::current());
  Tensor operator()(const Tensor& x, Location where = Location::current()) const;
  void visit(Visitor& v);

  Linear gate;
  Linear up;
  Linear down;

 private:
  struct Made {
    Scope scope;
  };
  SwiGlu(const Made& made, std::int64_t size, std::int64_t hidden, Location where);
};

/// Several SwiGLU networks, of which a router chooses `active` for each position: the softmax of the router's
/// scores over all experts, the largest kept, and (if `renormalise`) scaled to sum to 1. Every expert is
/// evaluated at every position and weighted, with 0 where it was not chosen: exact, differentiable, and one
/// batched contraction a projection.
struct MixtureOfExperts {
  struct Options {
    std::int64_t experts = 8;
    std::int64_t active = 2;
    bool renormalise = true;
  };
  MixtureOfExperts(const Scope& scope, std::int64_t size, std::int64_t hidden, const Options& options,
                   Location where = Location::current());
  /// x [… size].
  Tensor operator()(const Tensor& x, Location where = Location::current()) const;
  /// The weights of the experts at each position, [… experts], for losses that balance them.
  Tensor routing(const Tensor& x, Location where = Location::current()) const;
  void visit(Visitor& v);

  Linear router;
  State gate;  // [experts, size, hidden]
  State up;    // [experts, size, hidden]
  State down;  // [experts, hidden, size]
  Options options;

 private:
  struct Made {
    Scope scope;
  };
  MixtureOfExperts(const Made& made, std::int64_t size, std::int64_t hidden, const Options& options,
                   Location where);
};

struct LayerOptions {
  std::int64_t heads = 1;
  std::int64_t hidden = 0;  // 4·size if 0
  /// Normalise before each part instead of after the residual sum.
  bool norm_first = false;
  /// GELU instead of ReLU.
  bool gelu = false;
  double dropout = 0;
};

/// PyTorch's TransformerEncoderLayer with batch_first=True.
struct EncoderLayer {
  EncoderLayer(const Scope& scope, std::int64_t size, const LayerOptions& options,
               Location where = Location::current());
  Tensor forward(const Tensor& x, const std::optional<Tensor>& mask = std::nullopt,
                 Location where = Location::current()) const;
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return forward(x, std::nullopt, where);
  }
  void visit(Visitor& v);

  MultiHeadAttention attention;
  Linear widen;
  Linear narrow;
  LayerNorm norm1;
  LayerNorm norm2;
  Dropout drop;
  LayerOptions options;

 private:
  struct Made {
    Scope scope;
    LayerOptions options;
  };
  EncoderLayer(const Made& made, std::int64_t size, Location where);
};

/// PyTorch's TransformerDecoderLayer with batch_first=True: causal attention, attention to `memory`,
/// feed-forward.
struct DecoderLayer {
  DecoderLayer(const Scope& scope, std::int64_t size, const LayerOptions& options,
               Location where = Location::current());
  Tensor forward(const Tensor& x, const Tensor& memory, Location where = Location::current()) const;
  void visit(Visitor& v);

  MultiHeadAttention self_attention;
  MultiHeadAttention cross_attention;
  Linear widen;
  Linear narrow;
  LayerNorm norm1;
  LayerNorm norm2;
  LayerNorm norm3;
  Dropout drop;
  LayerOptions options;

 private:
  struct Made {
    Scope scope;
    LayerOptions options;
  };
  DecoderLayer(const Made& made, std::int64_t size, Location where);
};

struct LlamaOptions {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 0;
  std::int64_t head_size = 0;
  std::int64_t hidden = 0;
  double epsilon = 1e-5;
  Rotary rotary = {};
};

/// Llama's block: RMS norms first, causal grouped-query attention with rotary positions and an optional
/// cache, SwiGLU.
struct LlamaBlock {
  LlamaBlock(const Scope& scope, std::int64_t size, const LlamaOptions& options,
             Location where = Location::current());
  Tensor forward(const Tensor& x, const KvCache* cache = nullptr, Location where = Location::current()) const;
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return forward(x, nullptr, where);
  }
  void visit(Visitor& v);

  RmsNorm attention_norm;
  MultiHeadAttention attention;
  RmsNorm mlp_norm;
  SwiGlu mlp;

 private:
  struct Made {
    Scope scope;
    LlamaOptions options;
  };
  LlamaBlock(const Made& made, std::int64_t size, Location where);
};

}  // namespace luminal::nn
