#include "luminal/nn/transformer.h"

#include "luminal/frontend/activation.h"
#include "luminal/frontend/create.h"
#include "luminal/frontend/formula.h"
#include "luminal/frontend/index.h"
#include "luminal/frontend/matmul.h"
#include "luminal/frontend/normalise.h"
#include "luminal/frontend/scan.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::nn {

SwiGlu::SwiGlu(const Scope& scope, std::int64_t size, std::int64_t hidden, Location where)
    : SwiGlu(Made{scope.of("swiglu")}, size, hidden, where) {}

SwiGlu::SwiGlu(const Made& made, std::int64_t size, std::int64_t hidden, Location where)
    : gate(made.scope / "gate", size, hidden, {.bias = false}, where),
      up(made.scope / "up", size, hidden, {.bias = false}, where),
      down(made.scope / "down", hidden, size, {.bias = false}, where) {}

Tensor SwiGlu::operator()(const Tensor& x, Location where) const {
  const Line at{where};
  return down(at(silu(gate(x, where), where)) * at(up(x, where)), where);
}

void SwiGlu::visit(Visitor& v) {
  v.module("gate", gate);
  v.module("up", up);
  v.module("down", down);
}

MixtureOfExperts::MixtureOfExperts(const Scope& scope, std::int64_t size, std::int64_t hidden,
                                   const Options& given, Location where)
    : MixtureOfExperts(Made{scope.of("experts")}, size, hidden, given, where) {}

MixtureOfExperts::MixtureOfExperts(const Made& made, std::int64_t size, std::int64_t hidden,
                                   const Options& given, Location where)
    : router(made.scope / "router", size, given.experts, {.bias = false}, where),
      gate(made.scope.state("gate", {given.experts, size, hidden}, init::normal(0, 0.02), where)),
      up(made.scope.state("up", {given.experts, size, hidden}, init::normal(0, 0.02), where)),
      down(made.scope.state("down", {given.experts, hidden, size}, init::normal(0, 0.02), where)),
      options(given) {
  if (options.active < 1 || options.active > options.experts)
    throw Error(cat("MixtureOfExperts: ", options.active, " of ", options.experts,
                    " experts active, expected 1 to ", options.experts),
                where);
}

Tensor MixtureOfExperts::routing(const Tensor& x, Location where) const {
  const Tensor scores = softmax(router(x, where), -1, where);
  const Ranked best = topk(scores, options.active, -1, true, where);
  Graph graph = x.graph(where);
  const Term chosen(best.values, where);
  const Term weights = options.renormalise ? chosen / chosen.sum(-1, true) : chosen;
  return scatter_add(zeros(graph, scores.shape(), scores.dtype(), where), -1, best.indices, weights, where);
}

Tensor MixtureOfExperts::operator()(const Tensor& x, Location where) const {
  const Tensor weights = routing(x, where);
  const Line at{where};
  const Term hidden = at(silu(einsum("...s,esh->...eh", {x, in_dtype_of(x, gate, where)}, where), where)) *
                      at(einsum("...s,esh->...eh", {x, in_dtype_of(x, up, where)}, where));
  return einsum("...eh,ehs,...e->...s", {hidden, in_dtype_of(x, down, where), weights}, where);
}

void MixtureOfExperts::visit(Visitor& v) {
  v.module("router", router);
  v.parameter("gate", gate);
  v.parameter("up", up);
  v.parameter("down", down);
}

namespace {

LayerOptions completed(LayerOptions options, std::int64_t size) {
  if (options.hidden == 0) options.hidden = 4 * size;
  return options;
}

Tensor feed_forward(const Linear& widen, const Linear& narrow, const LayerOptions& options,
                    const Dropout& drop, const Tensor& x, Location where) {
  const Tensor wide = widen(x, where);
  return narrow(drop(options.gelu ? gelu(wide, Gelu::erf, where) : relu(wide, where), where), where);
}

/// x + part(norm(x)), or norm(x + part(x)).
template <typename Part>
Tensor residual(const Tensor& x, const LayerNorm& norm, const LayerOptions& options, const Dropout& drop,
                const Part& part, Location where) {
  const Line at{where};
  if (options.norm_first) return at(x) + at(drop(part(norm(x, where)), where));
  return norm(at(x) + at(drop(part(x), where)), where);
}

}  // namespace

EncoderLayer::EncoderLayer(const Scope& scope, std::int64_t size, const LayerOptions& given, Location where)
    : EncoderLayer(Made{scope.of("encoder"), completed(given, size)}, size, where) {}

EncoderLayer::EncoderLayer(const Made& made, std::int64_t size, Location where)
    : attention(made.scope / "attention", size, {.heads = made.options.heads}, where),
      widen(made.scope / "widen", size, made.options.hidden, {}, where),
      narrow(made.scope / "narrow", made.options.hidden, size, {}, where),
      norm1(made.scope / "norm1", size, 1e-5, true, where),
      norm2(made.scope / "norm2", size, 1e-5, true, where),
      drop(made.scope / "drop", made.options.dropout, where),
      options(made.options) {}

Tensor EncoderLayer::forward(const Tensor& x, const std::optional<Tensor>& mask, Location where) const {
  const Tensor attended = residual(
      x, norm1, options, drop, [&](const Tensor& y) { return attention.forward(y, {.mask = mask}, where); },
      where);
  return residual(
      attended, norm2, options, drop,
      [&](const Tensor& y) { return feed_forward(widen, narrow, options, drop, y, where); }, where);
}

void EncoderLayer::visit(Visitor& v) {
  v.module("attention", attention);
  v.module("widen", widen);
  v.module("narrow", narrow);
  v.module("norm1", norm1);
  v.module("norm2", norm2);
  v.module("drop", drop);
}

DecoderLayer::DecoderLayer(const Scope& scope, std::int64_t size, const LayerOptions& given, Location where)
    : DecoderLayer(Made{scope.of("decoder"), completed(given, size)}, size, where) {}

DecoderLayer::DecoderLayer(const Made& made, std::int64_t size, Location where)
    : self_attention(made.scope / "self_attention", size, {.heads = made.options.heads, .causal = true},
                     where),
      cross_attention(made.scope / "cross_attention", size, {.heads = made.options.heads}, where),
      widen(made.scope / "widen", size, made.options.hidden, {}, where),
      narrow(made.scope / "narrow", made.options.hidden, size, {}, where),
      norm1(made.scope / "norm1", size, 1e-5, true, where),
      norm2(made.scope / "norm2", size, 1e-5, true, where),
      norm3(made.scope / "norm3", size, 1e-5, true, where),
      drop(made.scope / "drop", made.options.dropout, where),
      options(made.options) {}

Tensor DecoderLayer::forward(const Tensor& x, const Tensor& memory, Location where) const {
  const Tensor own =
      residual(x, norm1, options, drop, [&](const Tensor& y) { return self_attention(y, where); }, where);
  const Tensor crossed = residual(
      own, norm2, options, drop,
      [&](const Tensor& y) { return cross_attention.forward(y, {.context = memory}, where); }, where);
  return residual(
      crossed, norm3, options, drop,
      [&](const Tensor& y) { return feed_forward(widen, narrow, options, drop, y, where); }, where);
}

void DecoderLayer::visit(Visitor& v) {
  v.module("self_attention", self_attention);
  v.module("cross_attention", cross_attention);
  v.module("widen", widen);
  v.module("narrow", narrow);
  v.module("norm1", norm1);
  v.module("norm2", norm2);
  v.module("norm3", norm3);
  v.module("drop", drop);
}

LlamaBlock::LlamaBlock(const Scope& scope, std::int64_t size, const LlamaOptions& given, Location where)
    : LlamaBlock(Made{scope.of("block"), given}, size, where) {}

LlamaBlock::LlamaBlock(const Made& made, std::int64_t size, Location where)
    : attention_norm(made.scope / "attention_norm", size, made.options.epsilon, where),
      attention(made.scope / "attention", size,
                {.heads = made.options.heads,
                 .kv_heads = made.options.kv_heads,
                 .head_size = made.options.head_size,
                 .bias = false,
                 .causal = true,
                 .rotary = made.options.rotary},
                where),
      mlp_norm(made.scope / "mlp_norm", size, made.options.epsilon, where),
      mlp(made.scope / "mlp", size, made.options.hidden == 0 ? 4 * size : made.options.hidden, where) {}

Tensor LlamaBlock::forward(const Tensor& x, const KvCache* cache, Location where) const {
  const Line at{where};
  const Term attended = at(x) + at(attention.forward(attention_norm(x, where), {.cache = cache}, where));
  return attended + at(mlp(mlp_norm(attended, where), where));
}

void LlamaBlock::visit(Visitor& v) {
  v.module("attention_norm", attention_norm);
  v.module("attention", attention);
  v.module("mlp_norm", mlp_norm);
  v.module("mlp", mlp);
}

}  // namespace luminal::nn
