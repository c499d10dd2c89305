#include "luminal/frontend/reduce.h"

#include <cmath>
#include <limits>

#include "luminal/frontend/formula.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

using Resolved = std::vector<std::size_t>;

void require_elements(const Tensor& x, const Resolved& axes, std::string_view operation,
                      std::string_view what, Location where) {
  for (const auto axis : axes)
    if (prove_eq(x.shape()[axis], 0))
      throw Error(cat(operation, ": axis ", axis, " of ", x.shape(), " is empty and has no ", what), where);
}

/// Exchanges larger and smaller, exactly: an order-reversing function that is its own inverse.
Term reversed(const Term& x) {
  if (is_floating(x.dtype())) return -x;
  return is_boolean(x.dtype()) ? !x : x ^ -1;
}

Term smallest(const Term& x, const Resolved& axes, bool keep_dims) {
  return reversed(reduce(Op::reduce_max, reversed(x), axes, keep_dims));
}

Term mean_of(const Term& x, const Resolved& axes, bool keep_dims) {
  return sum(x, axes, keep_dims) / Term(count_of(x.shape(), axes));
}

Term variance(const Term& x, const Resolved& axes, int correction, bool keep_dims) {
  const Term distance = x - mean_of(x, axes, true);
  const Expr count = Expr::max(count_of(x.shape(), axes) - correction, 0);
  return sum(distance * distance, axes, keep_dims) / Term(count);
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keep_dims, Location where) {
  const auto resolved = axes.resolve(x.rank(), "sum", where);
  return reduce(Op::reduce_sum, {x.cast(accumulated(x.dtype()), where), where}, resolved, keep_dims);
}

Tensor prod(const Tensor& x, const Axes& axes, bool keep_dims, Location where) {
  const auto resolved = axes.resolve(x.rank(), "prod", where);
  return reduce(Op::reduce_prod, {x.cast(accumulated(x.dtype()), where), where}, resolved, keep_dims);
}

Tensor mean(const Tensor& x, const Axes& axes, bool keep_dims, Location where) {
  require_floating(x, "mean", where);
  const Wide wide(x, where);
  return wide.finish(mean_of(wide.x, axes.resolve(x.rank(), "mean", where), keep_dims));
}

Tensor max(const Tensor& x, const Axes& axes, bool keep_dims, Location where) {
  const auto resolved = axes.resolve(x.rank(), "max", where);
  require_elements(x, resolved, "max", "maximum", where);
  return reduce(Op::reduce_max, {x, where}, resolved, keep_dims);
}

Tensor min(const Tensor& x, const Axes& axes, bool keep_dims, Location where) {
  const auto resolved = axes.resolve(x.rank(), "min", where);
  require_elements(x, resolved, "min", "minimum", where);
  return smallest({x, where}, resolved, keep_dims);
}

Tensor any(const Tensor& x, const Axes& axes, bool keep_dims, Location where) {
  const auto resolved = axes.resolve(x.rank(), "any", where);
  return reduce(Op::reduce_max, {x.cast(DType::boolean, where), where}, resolved, keep_dims);
}

Tensor all(const Tensor& x, const Axes& axes, bool keep_dims, Location where) {
  const auto resolved = axes.resolve(x.rank(), "all", where);
  return reduce(Op::reduce_prod, {x.cast(DType::boolean, where), where}, resolved, keep_dims);
}

// An infinite maximum is not subtracted: inf - inf would hide the infinity. The result does not depend on
// what is, so neither does the gradient.
Tensor logsumexp(const Tensor& x, const Axes& axes, bool keep_dims, Location where) {
  const auto resolved = axes.resolve(x.rank(), "logsumexp", where);
  const Wide wide(x, where);
  const Term largest = reduce(Op::reduce_max, wide.x, resolved, true);
  const Term infinite = abs(largest) == std::numeric_limits<double>::infinity();
  const Term shift = select(infinite, 0.0, largest).stop_gradient();
  const Term total = log(sum(exp(wide.x - shift), resolved, keep_dims));
  const Shape& shape = total.shape();
  return wide.finish(total + (keep_dims ? shift : shift.reshape(shape)));
}

Tensor var(const Tensor& x, const Axes& axes, int correction, bool keep_dims, Location where) {
  require_floating(x, "var", where);
  const Wide wide(x, where);
  return wide.finish(variance(wide.x, axes.resolve(x.rank(), "var", where), correction, keep_dims));
}

Tensor std(const Tensor& x, const Axes& axes, int correction, bool keep_dims, Location where) {
  require_floating(x, "std", where);
  const Wide wide(x, where);
  const auto resolved = axes.resolve(x.rank(), "std", where);
  return wide.finish(sqrt_or_zero(variance(wide.x, resolved, correction, keep_dims)));
}

namespace {

/// The first position of the largest element along the last axis; a NaN is the largest.
Tensor first_largest(const Term& x) {
  const std::size_t last = x.rank() - 1;
  const Term largest = reduce(Op::reduce_max, x, {last}, true);
  const Term equal = x == largest;
  const Term hit = is_floating(x.dtype()) ? equal | is_nan(x) : equal;
  const Expr& length = x.shape()[last];
  // Counted from the end, so that the first has the largest count.
  const Tensor count =
      iota_like(x.tensor(), length - Expr::coordinate(last, length), x.shape(), DType::i64, x.where());
  const Term best = reduce(Op::reduce_max, select(hit, Term(count, x.where()), 0), {last}, false);
  return Term(length) - best;
}

Tensor position(const Tensor& x, int axis, bool keep_dims, bool largest, std::string_view operation,
                Location where) {
  require_numbers(x, operation, where);
  if (x.rank() == 0) {
    resolve_axis(axis, 1, operation, where);
    return constant_like(x, 0, DType::i64, where);
  }
  const std::size_t at = resolve_axis(axis, x.rank(), operation, where);
  require_elements(x, {at}, operation, largest ? "maximum" : "minimum", where);
  const Term moved(axis_last(x, at, where), where);
  const Tensor found = first_largest(largest ? moved : reversed(moved));
  return keep_dims ? found.unsqueeze(static_cast<int>(at), where) : found;
}

Tensor position(const Tensor& x, bool largest, std::string_view operation, Location where) {
  return position(x.reshape({count_of(x.shape(), where)}, where), 0, false, largest, operation, where);
}

}  // namespace

Tensor argmax(const Tensor& x, Location where) {
  return position(x, true, "argmax", where);
}
Tensor argmax(const Tensor& x, int axis, bool keep_dims, Location where) {
  return position(x, axis, keep_dims, true, "argmax", where);
}
Tensor argmin(const Tensor& x, Location where) {
  return position(x, false, "argmin", where);
}
Tensor argmin(const Tensor& x, int axis, bool keep_dims, Location where) {
  return position(x, axis, keep_dims, false, "argmin", where);
}

Tensor norm(const Tensor& x, double p, const Axes& axes, bool keep_dims, Location where) {
  require_floating(x, "norm", where);
  const auto resolved = axes.resolve(x.rank(), "norm", where);
  const Wide wide(x, where);
  if (std::isinf(p)) {
    require_elements(x, resolved, "norm", p > 0 ? "maximum" : "minimum", where);
    const Term size = abs(wide.x);
    return wide.finish(p > 0 ? reduce(Op::reduce_max, size, resolved, keep_dims)
                             : smallest(size, resolved, keep_dims));
  }
  if (p == 0) return wide.finish(sum((!(wide.x == 0)).cast(wide.x.dtype()), resolved, keep_dims));
  if (p == 1) return wide.finish(sum(abs(wide.x), resolved, keep_dims));
  if (p == 2) return wide.finish(sqrt_or_zero(sum(wide.x * wide.x, resolved, keep_dims)));
  // Elements of 0 take no part in the gradient, as in PyTorch.
  const Term nothing = wide.x == 0;
  const Term power = apply(Op::pow, select(nothing, 1.0, abs(wide.x)), p);
  const double of_zero = p > 0 ? 0.0 : std::numeric_limits<double>::infinity();
  const Term total = sum(select(nothing, of_zero, power), resolved, keep_dims);
  if (p < 0) return wide.finish(apply(Op::pow, total, 1.0 / p));
  const Term zero = total == 0;
  return wide.finish(select(zero, 0.0, apply(Op::pow, select(zero, 1.0, total), 1.0 / p)));
}

}  // namespace luminal
