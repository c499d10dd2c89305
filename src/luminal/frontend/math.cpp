#include "luminal/frontend/math.h"

#include <limits>
#include <numbers>

#include "luminal/frontend/formula.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// A primitive of floats, which rounds once by itself.
Tensor primitive(Op op, const Tensor& x, Location where) {
  return x.cast(is_floating(x.dtype()) ? x.dtype() : DType::f32, where).unary(op, where);
}

/// What leaves integers as they are and refuses bools.
Tensor rounded(const Tensor& x, std::string_view operation, Location where, Term (*formula)(const Term&)) {
  require_numbers(x, operation, where);
  return is_integer(x.dtype()) ? x : formula({x, where}).tensor();
}

Term floor_of(const Term& x) {
  return apply(Op::floor, x);
}

Tensor everywhere(const Tensor& x, bool value, Location where) {
  return stretched(constant_like(x, value, DType::boolean, where), x.shape(), where);
}

}  // namespace

Tensor abs(const Tensor& x, Location where) {
  require_numbers(x, "abs", where);
  if (row(x.dtype()).kind == DTypeKind::unsigned_integer) return x;
  return abs(Term(x, where));
}

Tensor sign(const Tensor& x, Location where) {
  if (is_boolean(x.dtype())) return x;
  const Term term(x, where);
  return (0 < term).cast(x.dtype()) - (term < 0).cast(x.dtype());
}

Tensor neg(const Tensor& x, Location where) {
  return -Operand(x, where);
}
Tensor reciprocal(const Tensor& x, Location where) {
  return primitive(Op::recip, x, where);
}
Tensor square(const Tensor& x, Location where) {
  const Term term(is_boolean(x.dtype()) ? x.cast(DType::i64, where) : x, where);
  return term * term;
}
Tensor sqrt(const Tensor& x, Location where) {
  return primitive(Op::sqrt, x, where);
}
Tensor rsqrt(const Tensor& x, Location where) {
  const Wide wide(x, where);
  return wide.finish(apply(Op::recip, apply(Op::sqrt, wide.x)));
}
Tensor exp(const Tensor& x, Location where) {
  const Wide wide(x, where);
  return wide.finish(exp(wide.x));
}
Tensor exp2(const Tensor& x, Location where) {
  return primitive(Op::exp2, x, where);
}
Tensor log(const Tensor& x, Location where) {
  const Wide wide(x, where);
  return wide.finish(log(wide.x));
}
Tensor log2(const Tensor& x, Location where) {
  return primitive(Op::log2, x, where);
}
Tensor log10(const Tensor& x, Location where) {
  const Wide wide(x, where);
  return wide.finish(apply(Op::log2, wide.x) * (std::numbers::ln2 / std::numbers::ln10));
}
Tensor log1p(const Tensor& x, Location where) {
  return primitive(Op::log1p, x, where);
}
Tensor expm1(const Tensor& x, Location where) {
  return primitive(Op::expm1, x, where);
}
Tensor sin(const Tensor& x, Location where) {
  return primitive(Op::sin, x, where);
}
Tensor cos(const Tensor& x, Location where) {
  return primitive(Op::cos, x, where);
}
Tensor tan(const Tensor& x, Location where) {
  const Wide wide(x, where);
  return wide.finish(apply(Op::sin, wide.x) / apply(Op::cos, wide.x));
}

Tensor asin(const Tensor& x, Location where) {
  const Wide wide(x, where);
  const Term across = apply(Op::sqrt, (1.0 - wide.x) * (1.0 + wide.x));
  return wide.finish(apply(Op::atan, wide.x / across));
}

// Half the angle has a tangent that is accurate at both ends.
Tensor acos(const Tensor& x, Location where) {
  const Wide wide(x, where);
  const Term half = apply(Op::atan, apply(Op::sqrt, (1.0 - wide.x) / (1.0 + wide.x)));
  return wide.finish(2.0 * half);
}

Tensor atan(const Tensor& x, Location where) {
  return primitive(Op::atan, x, where);
}

// Beyond 20, where exp(-x) is lost in rounding, exp(x)/2 is a product of two halves that overflows no earlier
// than the result. What is not chosen computes on 0, so that its gradient is finite.
Tensor sinh(const Tensor& x, Location where) {
  const Wide wide(x, where);
  const Term negative = wide.x < 0;
  const Term size = select(negative, -wide.x, wide.x);
  const Term large = 20.0 < size;
  const Term less_one = apply(Op::expm1, select(large, 0.0, size));
  const Term small_result = 0.5 * (less_one + less_one / (less_one + 1.0));
  const Term root = apply(Op::expm1, 0.5 * select(large, size, 0.0)) + 1.0;
  const Term result = select(large, (0.5 * root) * root, small_result);
  return wide.finish(select(negative, -result, result));
}

Tensor cosh(const Tensor& x, Location where) {
  const Wide wide(x, where);
  const Term root = apply(Op::expm1, 0.5 * abs(wide.x)) + 1.0;
  return wide.finish((0.5 * root) * root + (0.5 / root) / root);
}

Tensor tanh(const Tensor& x, Location where) {
  const Wide wide(x, where);
  return wide.finish(tanh(wide.x));
}
Tensor erf(const Tensor& x, Location where) {
  return primitive(Op::erf, x, where);
}

Tensor floor(const Tensor& x, Location where) {
  return rounded(x, "floor", where, floor_of);
}
Tensor ceil(const Tensor& x, Location where) {
  return rounded(x, "ceil", where, [](const Term& t) { return -floor_of(-t); });
}
Tensor round(const Tensor& x, Location where) {
  return rounded(x, "round", where, [](const Term& t) { return apply(Op::round, t); });
}
Tensor trunc(const Tensor& x, Location where) {
  return rounded(x, "trunc", where, [](const Term& t) { return select(t < 0, -floor_of(-t), floor_of(t)); });
}

Tensor isnan(const Tensor& x, Location where) {
  if (!is_floating(x.dtype())) return everywhere(x, false, where);
  return is_nan({x, where});
}
Tensor isinf(const Tensor& x, Location where) {
  if (!is_floating(x.dtype())) return everywhere(x, false, where);
  const Wide wide(x, where);
  return abs(wide.x) == std::numeric_limits<double>::infinity();
}
Tensor isfinite(const Tensor& x, Location where) {
  if (!is_floating(x.dtype())) return everywhere(x, true, where);
  const Wide wide(x, where);
  return abs(wide.x) < std::numeric_limits<double>::infinity();
}

}  // namespace luminal
