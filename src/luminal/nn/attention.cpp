#include "luminal/nn/attention.h"

#include <cmath>
#include <limits>

#include "luminal/frontend/compare.h"
#include "luminal/frontend/formula.h"
#include "luminal/frontend/index.h"
#include "luminal/frontend/movement.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::nn {

Tensor Rotary::operator()(const Tensor& x, const Expr& first, Location where) const {
  const auto size = x.rank() < 2 ? std::nullopt : x.shape()[x.rank() - 1].constant_value();
  if (!size || *size % 2 != 0)
    throw Error(cat("Rotary: the input has shape ", x.shape(), ", expected [... positions, an even size]"),
                where);
  Graph graph = x.graph(where);
  const Shape table{x.shape()[x.rank() - 2], *size / 2};
  const Line at{where};
  const Term position =
      at(graph.iota(Expr::coordinate(0, table[0]) + first, table, DType::i64, where)).cast(DType::f32);
  const Term pair = at(graph.iota(table, 1, DType::i64, where)).cast(DType::f32);
  const Term angle = position * apply(Op::exp2, pair * (-2 * std::log2(base) / static_cast<double>(*size)));
  const Term cosine = apply(Op::cos, angle).cast(x.dtype());
  const Term sine = apply(Op::sin, angle).cast(x.dtype());
  const int last = static_cast<int>(x.rank()) - 1;
  if (interleaved) {
    const Tensor pairs = x.split_dims(last, 2, where);
    const Term a = at(pairs.slice(-1, 0, 1, 1, where).squeeze(-1, where));
    const Term b = at(pairs.slice(-1, 1, 2, 1, where).squeeze(-1, where));
    return stack({a * cosine - b * sine, b * cosine + a * sine}, -1, where).merge_dims(last, where);
  }
  const Term a = at(x.slice(last, 0, *size / 2, 1, where));
  const Term b = at(x.slice(last, *size / 2, *size, 1, where));
  return concat({a * cosine - b * sine, b * cosine + a * sine}, last, where);
}

KvCache::KvCache(const Scope& scope, std::int64_t batch, std::int64_t heads, std::int64_t capacity,
                 std::int64_t size, const Expr& past_, Location where)
    : keys(scope.of("cache").state("keys", {batch, heads, capacity, size}, init::zeros(), where)),
      values(scope.sibling(keys.name(where), "values", {batch, heads, capacity, size}, init::zeros(), where)),
      past(past_) {}

KvCache::Result KvCache::append(const Tensor& new_keys, const Tensor& new_values, Location where) const {
  for (const Tensor* fresh : {&new_keys, &new_values}) {
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
      if (fresh->rank() == 4 && prove_eq(fresh->shape()[axis], keys.shape()[axis])) continue;
      throw Error(cat("KvCache: new positions of shape ", fresh->shape(), " for a cache of shape ",
                      keys.shape(), "; expected the same batch, heads and size"),
                  where);
    }
    if (prove_lt(keys.shape()[2], past + fresh->shape()[2]))
      throw Error(
          cat("KvCache: ", past + fresh->shape()[2], " positions for a capacity of ", keys.shape()[2]),
          where);
  }
  Graph graph = new_keys.graph(where);
  const auto put = [&](const State& store, const Tensor& fresh) {
    const Tensor index =
        graph.iota(Expr::coordinate(2, fresh.shape()[2]) + past, fresh.shape(), DType::i64, where);
    const Tensor all = scatter(store, 2, index, Operand(fresh, where), where);
    store.assign(all, where);
    return all.slice(2, 0, past + fresh.shape()[2], 1, where);
  };
  return {put(keys, new_keys), put(values, new_values)};
}

namespace {

AttentionOptions completed(AttentionOptions options, std::int64_t size, Location where) {
  if (options.kv_heads == 0) options.kv_heads = options.heads;
  if (options.heads < 1 || options.kv_heads < 1 || options.heads % options.kv_heads != 0)
    throw Error(cat("MultiHeadAttention: ", options.heads, " heads are not a multiple of ", options.kv_heads,
                    " heads of keys and values"),
                where);
  if (options.head_size == 0) {
    if (size % options.heads != 0)
      throw Error(cat("MultiHeadAttention: size ", size, " does not divide into ", options.heads, " heads"),
                  where);
    options.head_size = size / options.heads;
  }
  return options;
}

/// [batch, positions, heads·size] as [batch, heads, positions, size].
Tensor by_heads(const Tensor& x, std::int64_t heads, Location where) {
  return x.split_dims(2, x.shape()[2] / heads, where).permute({0, 2, 1, 3}, where);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Scope& scope, std::int64_t size, const AttentionOptions& given,
                                       Location where)
    : MultiHeadAttention(Complete{scope.of("attention"), completed(given, size, where)}, size, where) {}

MultiHeadAttention::MultiHeadAttention(const Complete& made, std::int64_t size, Location where)
    : query(made.scope / "query", size, made.options.heads * made.options.head_size,
            {.bias = made.options.bias}, where),
      key(made.scope / "key", size, made.options.kv_heads * made.options.head_size,
          {.bias = made.options.bias}, where),
      value(made.scope / "value", size, made.options.kv_heads * made.options.head_size,
            {.bias = made.options.bias}, where),
      output(made.scope / "output", made.options.heads * made.options.head_size, size,
             {.bias = made.options.bias}, where),
      options(made.options) {}

Tensor MultiHeadAttention::forward(const Tensor& x, const Inputs& inputs, Location where) const {
  if (x.rank() != 3)
    throw Error(
        cat("MultiHeadAttention: the input has shape ", x.shape(), ", expected [batch, positions, size]"),
        where);
  const Tensor& context = inputs.context ? *inputs.context : x;
  Tensor q = by_heads(query(x, where), options.heads, where);
  Tensor k = by_heads(key(context, where), options.kv_heads, where);
  Tensor v = by_heads(value(context, where), options.kv_heads, where);
  const Expr past = inputs.cache != nullptr ? inputs.cache->past : Expr(0);
  if (options.rotary) {
    q = (*options.rotary)(q, past, where);
    k = (*options.rotary)(k, past, where);
  }
  if (inputs.cache != nullptr) {
    const auto all = inputs.cache->append(k, v, where);
    k = all.keys;
    v = all.values;
  }
  Attention attention{.causal = options.causal && inputs.cache == nullptr, .mask = inputs.mask};
  if (options.causal && inputs.cache != nullptr) {
    // Query i stands at position past + i and sees the keys up to there.
    Graph graph = x.graph(where);
    const Shape seen{q.shape()[2], k.shape()[2]};
    const Expr visible = Expr::less_equal(Expr::coordinate(1, seen[1]), Expr::coordinate(0, seen[0]) + past);
    const Tensor causal = graph.iota(visible, seen, DType::u8, where).cast(DType::boolean, where);
    if (!inputs.mask)
      attention.mask = causal;
    else if (is_boolean(inputs.mask->dtype()))
      attention.mask = Term(*inputs.mask, where) & Term(causal, where);
    else
      attention.mask = luminal::where(causal, *inputs.mask, -std::numeric_limits<double>::infinity(), where);
  }
  const Tensor mixed = scaled_dot_product_attention(q, k, v, attention, where);
  return output(mixed.permute({0, 2, 1, 3}, where).merge_dims(2, where), where);
}

void MultiHeadAttention::visit(Visitor& v) {
  v.module("query", query);
  v.module("key", key);
  v.module("value", value);
  v.module("output", output);
}

}  // namespace luminal::nn
