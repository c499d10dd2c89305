#include <array>
#include <numbers>

#include "luminal/frontend/compare.h"
#include "luminal/frontend/formula.h"
#include "luminal/frontend/math.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// Both sides in one shape and in the dtype they compute in, and the dtype of the result.
struct Sides {
  Term a;
  Term b;
  DType dtype;
};

Sides sides(const Operand& a, const Operand& b, std::string_view operation, bool floating) {
  DType dtype = result_type({a, b}, operation);
  if (floating && !is_floating(dtype)) dtype = DType::f32;
  if (is_boolean(dtype)) throw Error(cat(operation, ": takes numbers, got bool"), a.where);
  const auto [x, y] = broadcast(a, b, operation, dtype);
  const DType wide = compute_dtype(dtype);
  return {Term(x.cast(wide, a.where), a.where), Term(y.cast(wide, a.where), a.where), dtype};
}

/// The value of a number on one side of an operator.
std::optional<double> number_in(const Operand& operand) {
  if (const auto* number = std::get_if<Number>(&operand.value)) return number->as_double();
  if (const auto* expression = std::get_if<Expr>(&operand.value))
    if (const auto known = expression->constant_value()) return static_cast<double>(*known);
  return std::nullopt;
}

/// The exponents that PyTorch computes without pow; they keep the gradient simple.
std::optional<Term> simple_power(const Term& base, double exponent) {
  if (exponent == 2) return base * base;
  if (exponent == 3) return base * base * base;
  if (!is_floating(base.dtype())) return std::nullopt;
  if (exponent == 0.5) return apply(Op::sqrt, base);
  if (exponent == -0.5) return apply(Op::recip, apply(Op::sqrt, base));
  if (exponent == -1) return apply(Op::recip, base);
  if (exponent == -2) return apply(Op::recip, base * base);
  return std::nullopt;
}

}  // namespace

Tensor pow(const Operand& base, const Operand& exponent) {
  const auto known = number_in(exponent);
  const Sides both = sides(base, exponent, "pow", false);
  if (known && *known < 0 && is_integer(both.dtype))
    throw Error(cat("pow: integers cannot be raised to ", static_cast<std::int64_t>(*known),
                    "; cast them to a float"),
                base.where);
  if (known)
    if (const auto simple = simple_power(both.a, *known)) return simple->cast(both.dtype);
  return apply(Op::pow, both.a, both.b).cast(both.dtype);
}

Tensor fmod(const Operand& a, const Operand& b) {
  const Sides both = sides(a, b, "fmod", false);
  return apply(Op::mod, both.a, both.b).cast(both.dtype);
}

namespace {

/// Whether a truncated remainder must become a floored one: it is not 0 and its sign is not the divisor's.
Term needs_correction(const Term& remainder, const Term& divisor) {
  return (!(remainder == 0)) & ((remainder < 0) ^ (divisor < 0));
}

// As PyTorch: from the exact remainder, so that the quotient of floats is exact too.
Term floor_quotient(const Term& a, const Term& b) {
  const Term rest = apply(Op::mod, a, b);
  if (is_integer(a.dtype())) {
    const Term quotient = apply(Op::idiv, a, b);
    return select(needs_correction(rest, b), quotient - 1, quotient);
  }
  const Term exact = (a - rest) / b;
  const Term quotient = select(needs_correction(rest, b), exact - 1.0, exact);
  const Term floored = apply(Op::floor, quotient);
  const Term nearest = select(0.5 < quotient - floored, floored + 1.0, floored);
  const Term plain = a / b;
  return select(b == 0, plain, select(quotient == 0, plain * 0.0, nearest));
}

}  // namespace

Tensor remainder(const Operand& a, const Operand& b) {
  const Sides both = sides(a, b, "remainder", false);
  const Term rest = apply(Op::mod, both.a, both.b);
  return select(needs_correction(rest, both.b), rest + both.b, rest).cast(both.dtype);
}

Tensor floor_divide(const Operand& a, const Operand& b) {
  const Sides both = sides(a, b, "floor_divide", false);
  return floor_quotient(both.a, both.b).cast(both.dtype);
}

// The smaller coordinate is divided by the larger: the quotient neither overflows nor loses its gradient on
// the axes.
Tensor atan2(const Operand& y_side, const Operand& x_side) {
  const Sides both = sides(y_side, x_side, "atan2", true);
  const Term& y_given = both.a;
  const Term& x_given = both.b;
  const Term below = sign_bit(y_given);
  const Term left = sign_bit(x_given);
  const double infinity = std::numeric_limits<double>::infinity();
  const Term both_infinite = (abs(y_given) == infinity) & (abs(x_given) == infinity);
  const Term y = select(both_infinite, select(below, -1.0, 1.0), y_given);
  const Term x = select(both_infinite, select(left, -1.0, 1.0), x_given);
  const Term steep = abs(x) < abs(y);
  const Term divisor = select(steep, y, x);
  const Term ratio = select(steep, x, y) / select(divisor == 0, 1.0, divisor);
  const Term angle = apply(Op::atan, ratio);
  const Term sign = select(below, -1.0, 1.0).cast(y.dtype());
  const auto with_sign_of_y = [&](double size) { return sign * size; };
  const Term from_left = select(divisor == 0, y, angle) + with_sign_of_y(std::numbers::pi);
  const Term flat = select(left, from_left, angle);
  return select(steep, with_sign_of_y(std::numbers::pi / 2) - angle, flat).cast(both.dtype);
}

}  // namespace luminal
