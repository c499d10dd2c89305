#include "tests/shape/random_expr.h"

#include <algorithm>

#include "luminal/support/checked.h"
#include "luminal/support/text.h"

namespace luminal::test {

using Kind = Expr::Kind;

Variables::Variables() {
  const auto n = Expr("n");
  const auto m = Expr::variable("m", 1, 6);
  all = {n,
         m,
         Expr::variable("x", -9, 9),
         Expr::variable("y", 0, 30),
         Expr::variable("w", -4),
         Expr::variable("one", 1, 1),
         Expr::coordinate(0, n),
         Expr::coordinate(1, 5),
         Expr::coordinate(2, n * m),
         Expr::coordinate(3, m),
         Expr::coordinate(4, n + 2)};
}

std::optional<DimMap> Variables::sample(Random& random) const {
  DimMap values;
  for (const auto& variable : all) {
    if (variable.coordinate_axis()) continue;
    const auto bounds = variable.declared_bounds();
    const auto low = bounds.low.value_or(-20);
    values.emplace(variable.name(), random.between(low, std::min(bounds.high.value_or(low + 12), low + 40)));
  }
  for (const auto& variable : all) {
    if (!variable.coordinate_axis()) continue;
    const auto extent = variable.coordinate_extent().eval(values);
    if (extent < 1) return std::nullopt;
    values.emplace(variable.name(), random.between(0, extent - 1));
  }
  return values;
}

std::map<std::string, Expr, std::less<>> Variables::declared() const {
  std::map<std::string, Expr, std::less<>> result;
  for (const auto& variable : all) result.emplace(variable.name(), variable);
  return result;
}

namespace {

std::int64_t random_constant(Random& random, bool large) {
  if (large && random.chance(0.2)) {
    constexpr std::array<std::int64_t, 6> extremes = {
        INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, std::int64_t{1} << 62, -(std::int64_t{1} << 40)};
    return extremes[static_cast<std::size_t>(random.between(0, 5))];
  }
  constexpr std::array<std::int64_t, 10> usual = {0, 1, 2, 3, 4, 8, 12, -1, -2, -4};
  return random.chance(0.8) ? usual[static_cast<std::size_t>(random.between(0, 9))] : random.between(-40, 40);
}

Kind random_operator(Random& random) {
  // Divisions and sums are what index maps are made of, so they come more often.
  constexpr std::array<Kind, 20> kinds = {
      Kind::add, Kind::add, Kind::add,  Kind::add,        Kind::mul,   Kind::mul,        Kind::mul,
      Kind::div, Kind::div, Kind::div,  Kind::mod,        Kind::mod,   Kind::mod,        Kind::ceil_div,
      Kind::min, Kind::max, Kind::less, Kind::less_equal, Kind::equal, Kind::logical_and};
  const auto kind = kinds[static_cast<std::size_t>(random.between(0, 19))];
  return kind == Kind::logical_and && random.chance(0.5) ? Kind::logical_or : kind;
}

}  // namespace

std::unique_ptr<Written> write_randomly(Random& random, const Variables& variables, int depth,
                                        bool large_constants) {
  auto result = std::make_unique<Written>();
  if (depth == 0 || random.chance(0.12)) {
    if (random.chance(0.35)) {
      result->value = random_constant(random, large_constants);
    } else {
      result->kind = Kind::variable;
      result->variable =
          static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(variables.all.size()) - 1));
    }
    return result;
  }
  result->kind = random_operator(random);
  result->negated = result->kind >= Kind::less && random.chance(0.2);
  result->left = write_randomly(random, variables, depth - 1, large_constants);
  const bool shallow =
      result->kind == Kind::div || result->kind == Kind::mod || result->kind == Kind::ceil_div;
  result->right =
      write_randomly(random, variables, shallow && random.chance(0.7) ? 0 : depth - 1, large_constants);
  return result;
}

Expr build(const Written& w, const Variables& variables) {
  if (w.kind == Kind::constant) return w.value;
  if (w.kind == Kind::variable) return variables.all[w.variable];
  const auto a = build(*w.left, variables);
  const auto b = build(*w.right, variables);
  const auto plain = [&]() -> Expr {
    switch (w.kind) {
      case Kind::add:
        return a + b;
      case Kind::mul:
        return a * b;
      case Kind::div:
        return a / b;
      case Kind::mod:
        return a % b;
      case Kind::ceil_div:
        return Expr::ceil_div(a, b);
      case Kind::min:
        return Expr::min(a, b);
      case Kind::max:
        return Expr::max(a, b);
      case Kind::less:
        return Expr::less(a, b);
      case Kind::less_equal:
        return Expr::less_equal(a, b);
      case Kind::equal:
        return Expr::equal(a, b);
      case Kind::logical_and:
        return Expr::logical_and(a, b);
      default:
        return Expr::logical_or(a, b);
    }
  }();
  return w.negated ? Expr::logical_not(plain) : plain;
}

namespace {

struct Quotient {
  std::int64_t floor, rest, ceiling;
};

std::optional<Quotient> divide(std::int64_t a, std::int64_t b) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
  const auto quotient = a / b;
  const auto rest = a % b;
  if (rest == 0) return Quotient{quotient, 0, quotient};
  if ((a < 0) != (b < 0)) return Quotient{quotient - 1, rest + b, quotient};
  return Quotient{quotient, rest, quotient + 1};
}

std::optional<std::int64_t> apply(Kind kind, std::int64_t a, std::int64_t b) {
  switch (kind) {
    case Kind::add:
      return checked_add(a, b);
    case Kind::mul:
      return checked_mul(a, b);
    case Kind::div:
    case Kind::mod:
    case Kind::ceil_div: {
      const auto quotient = divide(a, b);
      if (!quotient) return std::nullopt;
      return kind == Kind::div ? quotient->floor : (kind == Kind::mod ? quotient->rest : quotient->ceiling);
    }
    case Kind::min:
      return std::min(a, b);
    case Kind::max:
      return std::max(a, b);
    case Kind::less:
      return a < b ? 1 : 0;
    case Kind::less_equal:
      return a <= b ? 1 : 0;
    case Kind::equal:
      return a == b ? 1 : 0;
    case Kind::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    default:
      return a != 0 || b != 0 ? 1 : 0;
  }
}

}  // namespace

std::optional<std::int64_t> evaluate(const Written& w, const Variables& variables, const DimMap& values) {
  if (w.kind == Kind::constant) return w.value;
  if (w.kind == Kind::variable) return values.find(variables.all[w.variable].name())->second;
  const auto a = evaluate(*w.left, variables, values);
  const auto b = evaluate(*w.right, variables, values);
  if (!a || !b) return std::nullopt;
  const auto value = apply(w.kind, *a, *b);
  if (!value || !w.negated) return value;
  return *value == 0 ? 1 : 0;
}

std::string Written::text() const {
  static const Variables variables;
  constexpr std::array<const char*, 14> names = {"",    "",    "+", "*",  "/",  "%",  "ceil_div",
                                                 "min", "max", "<", "<=", "==", "&&", "||"};
  if (kind == Kind::constant) return std::to_string(value);
  if (kind == Kind::variable) return std::string(variables.all[variable].name());
  return cat(negated ? "!" : "", "(", left->text(), " ", names[static_cast<std::size_t>(kind)], " ",
             right->text(), ")");
}

}  // namespace luminal::test
