// min, max and comparisons.
#include <algorithm>

#include "luminal/shape/expr_node.h"
#include "luminal/support/error.h"

namespace luminal {
namespace detail {
namespace {

bool always_at_most(const Expr& a, const Expr& b, Effort effort) {
  try {
    return proved_not_negative(b - a, effort);
  } catch (const Error&) {
    return false;
  }
}

/// A comparison as lower ≤ upper, terms with positive coefficients on both sides.
struct Sides {
  Expr lower = 0;
  Expr upper = 0;
  std::int64_t constant = 0;
};

Sides sides_of(const Expr& gap) {
  Sides sides;
  sides.constant = constant_of(gap);
  for (const auto& term : terms_of(gap)) {
    if (term_of(term).coefficient < 0) {
      sides.lower = sides.lower - term;
    } else {
      sides.upper = sides.upper + term;
    }
  }
  return sides;
}

/// gap ≥ 0, spelled the way one would write it: 3 <= x, x <= 3, a < b, a + 2 <= b.
Expr spelled_not_negative(const Expr& gap) {
  auto sides = sides_of(gap);
  const Expr constant = sides.constant;
  if (sides.lower.is_constant()) return make_binary(Expr::Kind::less_equal, 0 - constant, sides.upper);
  if (sides.upper.is_constant()) return make_binary(Expr::Kind::less_equal, sides.lower, constant);
  if (sides.constant == -1) return make_binary(Expr::Kind::less, sides.lower, sides.upper);
  if (sides.constant < 0) return make_binary(Expr::Kind::less_equal, sides.lower - constant, sides.upper);
  return make_binary(Expr::Kind::less_equal, sides.lower, sides.upper + constant);
}

Expr spelled_zero(const Expr& difference) {
  auto sides = sides_of(difference);
  const Expr constant = sides.constant;
  if (sides.lower.is_constant()) return make_binary(Expr::Kind::equal, sides.upper, 0 - constant);
  if (sides.constant > 0) return make_binary(Expr::Kind::equal, sides.upper + constant, sides.lower);
  return make_binary(Expr::Kind::equal, sides.upper, sides.lower - constant);
}

/// The only atom of a sum that is one multiple of a comparison (or `&&`, `||`) and a constant.
std::optional<Expr> sole_truth_value(const Expr& sum) {
  const auto terms = terms_of(sum);
  if (terms.size() != 1) return std::nullopt;
  const auto atoms = term_of(terms[0]).atoms;
  if (atoms.size() != 1 || atoms[0].kind() < Expr::Kind::less) return std::nullopt;
  return atoms[0];
}

/// The greatest common divisor of the terms' coefficients (not of the constant).
std::int64_t coefficient_divisor(const Expr& sum) {
  Expr divisor = 0;
  for (const auto& term : terms_of(sum)) divisor = common_factor(term_of(term).coefficient, divisor);
  return divisor.node().value;
}

}  // namespace

Expr extremum(Expr::Kind kind, const Expr& a, const Expr& b, Effort effort) {
  const bool smallest = kind == Expr::Kind::min;
  if (a.is_constant() && b.is_constant()) return (a.node().value < b.node().value) == smallest ? a : b;
  auto operands = flattened(kind, a);
  for (const auto& operand : flattened(kind, b)) operands.push_back(operand);
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  constexpr std::size_t max_compared = 8;
  for (std::size_t i = 0; i < operands.size() && operands.size() <= max_compared;) {
    const bool dominated = std::any_of(operands.begin(), operands.end(), [&](const Expr& other) {
      if (&other == &operands[i]) return false;
      return smallest ? always_at_most(other, operands[i], effort)
                      : always_at_most(operands[i], other, effort);
    });
    if (dominated) {
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return make_nest(kind, operands);
}

std::optional<Expr> gap_of(const Expr& comparison) {
  const auto kind = comparison.kind();
  if (kind != Expr::Kind::less && kind != Expr::Kind::less_equal) return std::nullopt;
  const auto& sides = comparison.node().children;
  try {
    return sides[1] - sides[0] - (kind == Expr::Kind::less ? 1 : 0);
  } catch (const Error&) {
    return std::nullopt;
  }
}

namespace {

/// x/d + r ≥ 0 is x + d·r ≥ 0, and r − x/d ≥ 0 is d·(r + 1) − 1 − x ≥ 0, for d ≥ 0.
std::optional<Expr> gap_without_division(const Expr& gap) {
  for (const auto& term : terms_of(gap)) {
    const auto [coefficient, atoms] = term_of(term);
    if (atoms.size() != 1 || atoms[0].kind() != Expr::Kind::div || (coefficient != 1 && coefficient != -1))
      continue;
    const auto& x = atoms[0].node().children[0];
    const auto& d = atoms[0].node().children[1];
    if (!at_least(d, 0) || d == Expr(0)) continue;
    const auto rest = gap - term;
    return coefficient == 1 ? x + d * rest : d * (rest + 1) - 1 - x;
  }
  return std::nullopt;
}

/// The same claim with coefficients that have no common divisor.
Expr reduced(const Expr& gap) {
  const auto divisor = coefficient_divisor(gap);
  if (divisor == 1) return gap;
  const Expr constant = constant_of(gap);
  return *divide_exactly(gap - constant, divisor) + floor_div(constant.node().value, divisor);
}

}  // namespace

Expr not_negative(const Expr& gap, Effort effort) {
  if (at_least(gap, 0)) return 1;
  if (at_most(gap, -1)) return 0;
  if (const auto truth = sole_truth_value(gap)) {
    return term_of(terms_of(gap)[0]).coefficient > 0 ? *truth : Expr::logical_not(*truth);
  }
  if (proved_not_negative(gap, effort)) return 1;
  if (proved_not_negative(-1 - gap, effort)) return 0;
  const auto least = reduced(gap);
  if (const auto undivided = gap_without_division(least)) return not_negative(*undivided, effort);
  return spelled_not_negative(least);
}

Expr is_zero(const Expr& difference) {
  if (difference.is_constant()) return difference.node().value == 0 ? 1 : 0;
  if (at_least(difference, 1) || at_most(difference, -1)) return 0;
  auto canonical = difference;
  const auto divisor = coefficient_divisor(difference);
  if (divisor > 1) {
    const auto divided = divide_exactly(difference, divisor);
    if (!divided) return 0;
    canonical = *divided;
  }
  if (term_of(terms_of(canonical)[0]).coefficient < 0) canonical = -canonical;
  if (const auto truth = sole_truth_value(canonical)) {
    return constant_of(canonical) == -1 ? *truth : Expr::logical_not(*truth);
  }
  return spelled_zero(canonical);
}

}  // namespace detail

using detail::Effort;

Expr Expr::min(const Expr& a, const Expr& b) {
  return detail::extremum(Kind::min, a, b, Effort::build);
}
Expr Expr::max(const Expr& a, const Expr& b) {
  return detail::extremum(Kind::max, a, b, Effort::build);
}

Expr Expr::less(const Expr& a, const Expr& b) {
  if (a.is_constant() && b.is_constant()) return a.node().value < b.node().value ? 1 : 0;
  try {
    return detail::not_negative(b - a - 1, Effort::build);
  } catch (const Error&) {
    return detail::make_binary(Kind::less, a, b);
  }
}

Expr Expr::less_equal(const Expr& a, const Expr& b) {
  if (a.is_constant() && b.is_constant()) return a.node().value <= b.node().value ? 1 : 0;
  try {
    return detail::not_negative(b - a, Effort::build);
  } catch (const Error&) {
    return detail::make_binary(Kind::less_equal, a, b);
  }
}

Expr Expr::equal(const Expr& a, const Expr& b) {
  if (a.is_constant() && b.is_constant()) return a.node().value == b.node().value ? 1 : 0;
  try {
    return detail::is_zero(a - b);
  } catch (const Error&) {
    return detail::make_binary(Kind::equal, a, b);
  }
}

}  // namespace luminal
