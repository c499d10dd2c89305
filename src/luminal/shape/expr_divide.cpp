// Floor division and its remainder.
#include <algorithm>

#include "luminal/shape/expr_node.h"
#include "luminal/support/error.h"

namespace luminal {
namespace detail {
namespace {

/// A division half done: a/b = quotient + sign·(numerator/divisor) and
/// a%b = rest + scale·(numerator%divisor). If `exact`, 0 ≤ numerator < divisor is proved.
struct Division {
  Expr quotient = 0;
  int sign = 1;
  Expr scale = 1;
  Expr rest = 0;
  Expr numerator;
  Expr divisor;
  bool exact = false;

  /// Moves `times` whole divisors out of the numerator.
  void take(const Expr& times) {
    quotient = quotient + Expr(sign) * times;
    numerator = numerator - times * divisor;
  }
};

/// 0 ≤ e < limit, where limit divides a divisor and so is not 0.
bool in_range(const Expr& e, const Expr& limit, Effort effort) {
  const auto& bounds = e.node().bounds;
  if (limit.is_constant() && bounds.low && bounds.high) {
    if (*bounds.low >= 0 && *bounds.high < limit.node().value) return true;
    if (effort == Effort::build) return false;
  }
  const Given given{{}, {&limit, 1}};
  return proved_not_negative(e, effort, given) && proved_not_negative(limit - 1 - e, effort, given);
}

/// The term of the highest degree: what long division divides by.
Expr leading_term(const Expr& sum) {
  const auto terms = terms_of(sum);
  return terms.empty() ? sum : terms[0];
}

/// How often `lead` goes into `term`, rounded towards 0; 0 unless its atoms do.
Expr times_in(const Expr& term, const Expr& lead) {
  const auto [coefficient, atoms] = term_of(lead);
  const auto parts = term_of(term);
  if (coefficient == 0 || coefficient == -1 || parts.coefficient / coefficient == 0) return 0;
  const auto monomial = make_term(1, {atoms.begin(), atoms.end()});
  const auto bare = divide_term(make_term(1, {parts.atoms.begin(), parts.atoms.end()}), monomial);
  return bare ? *bare * Expr(parts.coefficient / coefficient) : Expr(0);
}

/// Long division by a sum's leading term, or of every coefficient by a term: numerator = quotient·divisor +
/// rest.
void take_multiples(Division& d) {
  constexpr int max_steps = 32;
  const auto lead = leading_term(d.divisor);
  for (int step = 0; step < max_steps; ++step) {
    Expr times = 0;
    for (const auto& term : terms_of(d.numerator)) {
      times = times_in(term, lead);
      if (!(times == Expr(0))) break;
    }
    if (times == Expr(0)) break;
    d.take(times);
  }
}

/// The same for a constant divisor, all at once; the constant term ends up in [0, divisor).
void take_constant_multiples(Division& d) {
  const auto divisor = d.divisor.node().value;
  const auto constant = constant_of(d.numerator);
  Expr times = floor_div(constant, divisor);
  for (const auto& term : terms_of(d.numerator)) {
    const auto [coefficient, atoms] = term_of(term);
    if (coefficient / divisor != 0)
      times = times + make_term(coefficient / divisor, {atoms.begin(), atoms.end()});
  }
  d.take(times);
}

void take_whole_multiples(Division& d) {
  if (d.divisor.is_constant()) {
    take_constant_multiples(d);
  } else {
    take_multiples(d);
  }
}

/// Moves numerator by one or two divisors where that provably brings it into range.
bool settle(Division& d, Effort effort) {
  const auto& bounds = d.numerator.node().bounds;
  if (d.divisor.is_constant() && bounds.low && bounds.high) {
    const auto divisor = d.divisor.node().value;
    const auto times = floor_div(*bounds.low, divisor);
    if (times == floor_div(*bounds.high, divisor)) {
      d.take(times);
      return d.exact = true;
    }
    if (effort == Effort::build) return false;
  }
  for (const int times : {0, -1, 1}) {
    if (!in_range(d.numerator - Expr(times) * d.divisor, d.divisor, effort)) continue;
    d.take(times);
    return d.exact = true;
  }
  return false;
}

/// numerator = factor·multiple + rest, term by term.
struct Split {
  Expr multiple;
  Expr rest;
};

Split split_by(const Expr& numerator, const Expr& factor) {
  std::vector<Expr> multiples;
  std::vector<Expr> rest;
  const auto constant = constant_of(numerator);
  if (factor.is_constant()) {
    multiples.emplace_back(floor_div(constant, factor.node().value));
    rest.emplace_back(floor_mod(constant, factor.node().value));
  } else {
    rest.emplace_back(constant);
  }
  for (const auto& term : terms_of(numerator)) {
    if (const auto times = divide_term(term, factor)) {
      multiples.push_back(*times);
    } else {
      rest.push_back(term);
    }
  }
  return {sum_of(multiples), sum_of(rest)};
}

/// (g·u + s)/(g·v) = u/v for 0 ≤ s < g and v ≥ 0, or s = 0; the remainder is g·(u%v) + s.
bool cancel_factor(Division& d, const Expr& factor, Effort effort) {
  if (factor == Expr(1)) return false;
  const auto divisor = divide_exactly(d.divisor, factor);
  if (!divisor) return false;
  const auto split = split_by(d.numerator, factor);
  if (split.multiple == Expr(0)) return false;
  if (!(split.rest == Expr(0)) && !(at_least(*divisor, 0) && in_range(split.rest, factor, effort)))
    return false;
  d.rest = d.rest + d.scale * split.rest;
  d.scale = d.scale * factor;
  d.numerator = split.multiple;
  d.divisor = *divisor;
  return true;
}

bool cancel_some_factor(Division& d, Effort effort) {
  const auto limit = content(d.divisor);
  if (limit == Expr(1)) return false;
  std::vector<Expr> tried;
  std::vector<Expr> terms(terms_of(d.numerator).begin(), terms_of(d.numerator).end());
  terms.push_back(content(d.numerator));
  for (const auto& term : terms) {
    const auto factor = common_factor(term, limit);
    if (std::find(tried.begin(), tried.end(), factor) != tried.end()) continue;
    if (cancel_factor(d, factor, effort)) return true;
    tried.push_back(factor);
  }
  return false;
}

/// Numerators start with a positive coefficient: a/b = −1 − (−a − 1)/b and a%b = b − 1 − (−a − 1)%b for b ≥
/// 0.
void turn_positive(Division& d) {
  if (term_of(leading_term(d.numerator)).coefficient >= 0 || !at_least(d.divisor, 0)) return;
  d.quotient = d.quotient - d.sign;
  d.sign = -d.sign;
  d.rest = d.rest + d.scale * (d.divisor - 1);
  d.scale = -d.scale;
  d.numerator = -d.numerator - 1;
  take_whole_multiples(d);
}

/// Whether the division is finished: by 1, of 0, or of what is provably in range.
bool finished(Division& d, Effort effort) {
  if (d.divisor == Expr(1)) d.take(d.numerator);
  if (d.numerator == Expr(0)) return d.exact = true;
  return settle(d, effort);
}

Division begin_division(const Expr& a, const Expr& b, Effort effort) {
  Division d;
  d.numerator = a;
  d.divisor = b;
  if (b == Expr(0)) return d;
  constexpr int max_rounds = 8;
  for (int round = 0; round < max_rounds; ++round) {
    take_whole_multiples(d);
    if (finished(d, effort)) break;
    turn_positive(d);
    if (finished(d, effort) || !cancel_some_factor(d, effort)) break;
  }
  return d;
}

/// (x/e + w)/d = (x + e·w)/(e·d) for d ≥ 0, if there is exactly one such x/e.
std::optional<Expr> join_divisions(const Expr& numerator, const Expr& divisor, Effort effort) {
  if (!at_least(divisor, 0)) return std::nullopt;
  std::optional<Expr> inner;
  for (const auto& term : terms_of(numerator)) {
    if (term.kind() != Expr::Kind::div) continue;
    if (inner) return std::nullopt;
    inner = term;
  }
  if (!inner || inner->node().children[1] == Expr(0)) return std::nullopt;
  const auto& x = inner->node().children[0];
  const auto& e = inner->node().children[1];
  return divide(x + e * (numerator - *inner), e * divisor, effort);
}

/// (x % (d·k)) / d = (x/d) % k for positive d and k.
std::optional<Expr> divide_remainder(const Expr& numerator, const Expr& divisor, Effort effort) {
  if (numerator.kind() != Expr::Kind::mod || !at_least(divisor, 0)) return std::nullopt;
  const auto& x = numerator.node().children[0];
  const auto& modulus = numerator.node().children[1];
  std::optional<Expr> times;
  if (modulus == divisor) times = 1;
  if (!times && terms_of(divisor).size() <= 1 && (divisor.is_constant() || constant_of(divisor) == 0)) {
    times = divide_exactly(modulus, divisor);
  }
  if (!times || !at_least(*times, 0)) return std::nullopt;
  return remainder(divide(x, divisor, effort), *times, effort);
}

/// What is left of a division that `begin_division` could not finish.
Expr finish_quotient(const Expr& numerator, const Expr& divisor, Effort effort) {
  try {
    if (auto joined = join_divisions(numerator, divisor, effort)) return *joined;
    if (auto divided = divide_remainder(numerator, divisor, effort)) return *divided;
  } catch (const Error&) {
    return make_binary(Expr::Kind::div, numerator, divisor);
  }
  return make_binary(Expr::Kind::div, numerator, divisor);
}

/// k·(x%e) differs from k·x by a multiple of k·e, so a remainder by a divisor of that need not take x%e.
std::optional<Expr> drop_inner_remainder(const Expr& numerator, const Expr& divisor) {
  if (!numerator.node().has_mod) return std::nullopt;
  for (const auto& term : terms_of(numerator)) {
    const auto [coefficient, atoms] = term_of(term);
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      if (atoms[i].kind() != Expr::Kind::mod) continue;
      std::vector<Expr> others(atoms.begin(), atoms.end());
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const auto rest = make_term(coefficient, std::move(others));
      const auto& inner = atoms[i].node().children;
      const auto period = rest * inner[1];
      const bool divides =
          period == divisor ||
          (terms_of(divisor).size() <= 1 && constant_of(divisor) == 0 && divide_exactly(period, divisor)) ||
          (divisor.is_constant() && divide_exactly(period, divisor));
      if (divides) return numerator - term + rest * inner[0];
    }
  }
  return std::nullopt;
}

Expr finish_remainder(const Expr& numerator, const Expr& divisor, Effort effort) {
  try {
    if (auto simpler = drop_inner_remainder(numerator, divisor)) return remainder(*simpler, divisor, effort);
  } catch (const Error&) {
    // A coefficient left 64 bits: keep the inner remainder.
  }
  Expr::Node node;
  node.kind = Expr::Kind::mod;
  node.children = {numerator, divisor, finish_quotient(numerator, divisor, effort)};
  return make_node(std::move(node));
}

/// Divisors start with a positive coefficient: a/b = (−a)/(−b) and a%b = −((−a)%(−b)).
bool starts_negative(const Expr& divisor) {
  return term_of(leading_term(divisor)).coefficient < 0;
}

Expr opaque_quotient(const Expr& a, const Expr& b) {
  return make_binary(Expr::Kind::div, a, b);
}

Expr opaque_remainder(const Expr& a, const Expr& b) {
  Expr::Node node;
  node.kind = Expr::Kind::mod;
  node.children = {a, b, opaque_quotient(a, b)};
  return make_node(std::move(node));
}

}  // namespace

Expr divide(const Expr& a, const Expr& b, Effort effort) {
  if (b.is_constant()) {
    const auto divisor = b.node().value;
    if (divisor == 1) return a;
    if (divisor != 0 && a.is_constant()) return floor_div(a.node().value, divisor);
  }
  try {
    if (starts_negative(b)) return divide(-a, -b, effort);
    const auto d = begin_division(a, b, effort);
    return d.exact ? d.quotient : d.quotient + Expr(d.sign) * finish_quotient(d.numerator, d.divisor, effort);
  } catch (const Error&) {
    return opaque_quotient(a, b);  // a coefficient left 64 bits though the value may not
  }
}

Expr remainder(const Expr& a, const Expr& b, Effort effort) {
  if (b.is_constant()) {
    const auto divisor = b.node().value;
    if (divisor == 1) return 0;
    if (divisor != 0 && a.is_constant()) return floor_mod(a.node().value, divisor);
  }
  try {
    if (starts_negative(b)) return -remainder(-a, -b, effort);
    const auto d = begin_division(a, b, effort);
    if (d.exact) return d.rest + d.scale * d.numerator;
    return d.rest + d.scale * finish_remainder(d.numerator, d.divisor, effort);
  } catch (const Error&) {
    return opaque_remainder(a, b);
  }
}

}  // namespace detail

Expr Expr::div(const Expr& a, const Expr& b) {
  return detail::divide(a, b, detail::Effort::build);
}
Expr Expr::mod(const Expr& a, const Expr& b) {
  return detail::remainder(a, b, detail::Effort::build);
}

Expr Expr::ceil_div(const Expr& a, const Expr& b) {
  if (!a.is_constant() || !b.is_constant()) {
    try {
      return detail::at_least(b, 0) ? div(a + b - 1, b) : -div(-a, b);
    } catch (const Error&) {
      // A constant left 64 bits on the way, which it does not below.
    }
  }
  return div(a, b) + logical_not(equal(mod(a, b), 0));
}

}  // namespace luminal
