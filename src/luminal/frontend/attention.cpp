#include <cmath>
#include <limits>

#include "luminal/frontend/formula.h"
#include "luminal/frontend/matmul.h"
#include "luminal/frontend/normalise.h"
#include "luminal/frontend/reduce.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

constexpr std::string_view operation = "scaled_dot_product_attention";

void require_fit(const Tensor& q, const Tensor& k, const Tensor& v, Location where) {
  for (const Tensor& x : {q, k, v}) {
    if (x.rank() < 2)
      throw Error(cat(operation, ": takes tensors of rank 2 or more, got shape ", x.shape()), where);
    require_floating(x, operation, where);
  }
  if (q.rank() != k.rank() || k.rank() != v.rank())
    throw Error(
        cat(operation, ": shapes ", q.shape(), ", ", k.shape(), " and ", v.shape(), " have different ranks"),
        where);
  const auto differ = [](const Expr& a, const Expr& b) { return prove_lt(a, b) || prove_lt(b, a); };
  const std::size_t last = q.rank() - 1;
  if (differ(q.shape()[last], k.shape()[last]))
    throw Error(cat(operation, ": queries of shape ", q.shape(), " and keys of shape ", k.shape(),
                    " differ at axis ", last, ": ", q.shape()[last], " against ", k.shape()[last]),
                where);
  if (differ(k.shape()[last - 1], v.shape()[last - 1]))
    throw Error(
        cat(operation, ": keys of shape ", k.shape(), " and values of shape ", v.shape(), " differ at axis ",
            last - 1, ": ", k.shape()[last - 1], " against ", v.shape()[last - 1]),
        where);
}

/// How many heads of q one head of k serves. Heads that may or may not be as many are taken as grouped: a
/// group may have one.
Expr group_size(const Tensor& q, const Tensor& k, Location where) {
  if (q.rank() < 3) return 1;
  const Expr& heads = q.shape()[q.rank() - 3];
  const Expr& shared = k.shape()[k.rank() - 3];
  if (prove_eq(heads, shared) || is_value(shared, 1)) return 1;
  const auto known = heads.constant_value();
  const auto divisor = shared.constant_value();
  if (divisor == 0 || (known && divisor && *known % *divisor != 0))
    throw Error(
        cat(operation, ": ", heads, " heads of queries are no multiple of ", shared, " heads of keys"),
        where);
  return heads / shared;
}

/// Whether query i sees key j: j ≤ i.
Term causal_mask(const Term& scores) {
  const Location where = scores.where();
  const std::size_t rank = scores.rank();
  const Tensor query = positions(scores.tensor(), rank, rank - 2, scores.shape()[rank - 2], where);
  const Tensor key = positions(scores.tensor(), rank, rank - 1, scores.shape()[rank - 1], where);
  return !(Term(query, where) < Term(key, where));
}

/// The scores with -inf for the keys that are not seen, and which queries see a key at all.
struct Masked {
  Term scores;
  Term sees_some;
};

// A query without keys sees all of them here, and its result is put to 0 afterwards: so nothing is ever NaN.
Masked masked(const Term& scores, const Tensor& mask, bool causal) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Location where = scores.where();
  const bool boolean = is_boolean(mask.dtype());
  const Term given(boolean ? mask : mask.cast(scores.dtype(), where), where);
  Term seen = boolean ? given : !(given == -infinity);
  if (causal) seen = seen & causal_mask(scores);
  const Term some = reduce(Op::reduce_max, seen, {seen.rank() - 1}, true);
  const Term shown = select(seen | !some, scores, -infinity);
  if (boolean) return {shown, some};
  return {shown + select(seen, given, 0.0), some};
}

/// A mask of rank [… heads, queries, keys] as the scores have it: heads in groups.
Tensor grouped_mask(const Tensor& mask, const Expr& group, Location where) {
  if (is_value(group, 1) || mask.rank() < 3) return mask;
  const int heads = static_cast<int>(mask.rank()) - 3;
  const bool shared = is_value(mask.shape()[mask.rank() - 3], 1);
  return shared ? mask.unsqueeze(heads + 1, where) : mask.split_dims(heads, group, where);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Attention& options, Location where) {
  require_fit(q, k, v, where);
  const Expr group = group_size(q, k, where);
  const bool grouped = !is_value(group, 1);
  const DType dtype = result_type({Operand(q, where), Operand(k, where), Operand(v, where)}, operation);
  const DType wide = compute_dtype(dtype);
  const auto spread = [&](const Tensor& x) {
    const Tensor widened = x.cast(wide, where);
    return grouped ? widened.unsqueeze(-3, where) : widened;
  };
  const Tensor queries = grouped ? q.cast(wide, where).split_dims(-3, group, where) : q.cast(wide, where);
  Term scores(matmul(queries, spread(k).transpose(-1, -2, where), where), where);
  const Expr& size = q.shape()[q.rank() - 1];
  if (options.scale)
    scores = scores * *options.scale;
  else if (const auto known = size.constant_value())
    scores = scores * (1.0 / std::sqrt(static_cast<double>(*known)));
  else
    scores = scores / apply(Op::sqrt, Term(iota_like(q, size, {}, DType::i64, where), where).cast(wide));
  std::optional<Term> sees_some;
  if (options.mask) {
    const Tensor mask = grouped_mask(*options.mask, group, where);
    if (mask.rank() == 0)
      throw Error(cat(operation, ": the mask is a scalar, expected axes of queries and keys"), where);
    const Masked result = masked(scores, mask, options.causal);
    scores = result.scores;
    sees_some = result.sees_some;
  } else if (options.causal) {
    scores = select(causal_mask(scores), scores, -std::numeric_limits<double>::infinity());
  }
  const Tensor weights = softmax(scores, -1, where);
  Term result(matmul(weights, spread(v), where), where);
  if (sees_some) result = select(*sees_some, result, 0.0);
  if (grouped) result = {result.tensor().merge_dims(static_cast<int>(result.rank()) - 4, where), where};
  return result.cast(dtype);
}

Tensor flash_attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal,
                       const std::optional<Tensor>& mask, std::optional<double> scale, Location where) {
  Attention options;
  options.causal = causal;
  options.mask = mask;
  options.scale = scale;
  return scaled_dot_product_attention(q, k, v, options, where);
}

}  // namespace luminal
