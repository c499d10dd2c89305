// Sums and products in normal form.
#include <algorithm>

#include "luminal/shape/expr_node.h"
#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace detail {
namespace {

/// A product of sums is expanded to at most this many terms and operations; beyond, it stays a product of
/// sums.
constexpr std::size_t max_expanded_terms = 64;
constexpr std::size_t max_expanded_size = 1024;

/// Terms in monomial order, none 0, and a constant.
struct Polynomial {
  std::vector<Expr> terms;
  std::int64_t constant = 0;
};

Expr scaled_term(const Expr& term, std::int64_t factor) {
  if (factor == 1) return term;
  const auto [coefficient, atoms] = term_of(term);
  return make_term(mul_or_throw(coefficient, factor), {atoms.begin(), atoms.end()});
}

/// a + factor·b.
Polynomial merge(const Expr& a, const Expr& b, std::int64_t factor) {
  Polynomial result;
  result.constant = add_or_throw(constant_of(a), mul_or_throw(constant_of(b), factor));
  const auto x = terms_of(a);
  const auto y = terms_of(b);
  result.terms.reserve(x.size() + y.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.size() && j < y.size()) {
    const auto left = term_of(x[i]);
    const auto right = term_of(y[j]);
    const int order = compare_monomials(left.atoms, right.atoms);
    if (order < 0) {
      result.terms.push_back(x[i++]);
    } else if (order > 0) {
      result.terms.push_back(scaled_term(y[j++], factor));
    } else {
      const auto sum = add_or_throw(left.coefficient, mul_or_throw(right.coefficient, factor));
      if (sum != 0) result.terms.push_back(make_term(sum, {left.atoms.begin(), left.atoms.end()}));
      ++i;
      ++j;
    }
  }
  for (; i < x.size(); ++i) result.terms.push_back(x[i]);
  for (; j < y.size(); ++j) result.terms.push_back(scaled_term(y[j], factor));
  return result;
}

Expr make_sum(Polynomial&& sum) {
  if (sum.terms.empty()) return sum.constant;
  if (sum.terms.size() == 1 && sum.constant == 0) return sum.terms[0];
  Expr::Node node;
  node.kind = Expr::Kind::add;
  node.value = sum.constant;
  node.children = std::move(sum.terms);
  return make_node(std::move(node));
}

/// a + factor·b without looking for remainders that meet their quotients.
Expr plain_sum(const Expr& a, const Expr& b, std::int64_t factor) {
  return make_sum(merge(a, b, factor));
}

/// Whether every term of `part` occurs in `sum` with the same coefficient. The constant is free.
bool contains_terms(const Expr& sum, const Expr& part) {
  const auto terms = terms_of(sum);
  const auto wanted = terms_of(part);
  if (wanted.empty() || wanted.size() > terms.size()) return false;
  return std::all_of(wanted.begin(), wanted.end(), [&](const Expr& term) {
    return std::find(terms.begin(), terms.end(), term) != terms.end();
  });
}

/// One remainder among the factors of a term: term = rest · (numerator % divisor).
struct Remainder {
  Expr term;
  Expr rest;
  Expr numerator;
  Expr divisor;
  Expr quotient;
};

std::vector<Remainder> remainders_in(const Expr& sum) {
  std::vector<Remainder> result;
  for (const auto& term : terms_of(sum)) {
    if (!term.node().has_mod) continue;
    const auto [coefficient, atoms] = term_of(term);
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      if (atoms[i].kind() != Expr::Kind::mod) continue;
      std::vector<Expr> others(atoms.begin(), atoms.end());
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const auto& parts = atoms[i].node().children;
      result.push_back({term, make_term(coefficient, std::move(others)), parts[0], parts[1], parts[2]});
    }
  }
  return result;
}

/// k·(x%g) + k·g·(x/g) is k·x, and k·(x%g) − k·x is −k·g·(x/g).
std::optional<Expr> meet_quotient(const Expr& sum, const Remainder& r) {
  const auto multiple = r.rest * r.divisor * r.quotient;
  const auto whole = r.rest * r.numerator;
  if (contains_terms(sum, multiple))
    return plain_sum(plain_sum(plain_sum(sum, r.term, -1), multiple, -1), whole, 1);
  if (contains_terms(sum, plain_sum(0, whole, -1))) {
    return plain_sum(plain_sum(plain_sum(sum, r.term, -1), whole, 1), multiple, -1);
  }
  return std::nullopt;
}

/// k·(x%g) + k·g·((x/g + w) % v) is k·((x + g·w) % (g·v)) for v ≥ 0 (v = 0 has no value either way).
std::optional<Expr> meet_remainder(const Expr& sum, const Remainder& low, const Remainder& high) {
  if (!at_least(high.divisor, 0) || high.rest != low.rest * low.divisor) return std::nullopt;
  const auto others = plain_sum(high.numerator, low.quotient, -1);
  const auto cancelled = terms_of(low.quotient).size();
  if (cancelled == 0 || terms_of(others).size() + cancelled != terms_of(high.numerator).size())
    return std::nullopt;
  const auto merged =
      low.rest * remainder(low.numerator + low.divisor * others, low.divisor * high.divisor, Effort::build);
  return plain_sum(plain_sum(plain_sum(sum, low.term, -1), high.term, -1), merged, 1);
}

std::optional<Expr> combine_once(const Expr& sum) {
  const auto remainders = remainders_in(sum);
  for (const auto& low : remainders) {
    if (auto combined = meet_quotient(sum, low)) return combined;
    for (const auto& high : remainders) {
      if (high.term == low.term) continue;
      if (auto combined = meet_remainder(sum, low, high)) return combined;
    }
  }
  return std::nullopt;
}

/// Lets remainders meet their quotients. Each step removes a remainder or widens one, so few are ever needed.
Expr combine_remainders(Expr sum) {
  constexpr int max_steps = 16;
  constexpr std::size_t max_terms = 64;
  if (sum.kind() != Expr::Kind::add || !sum.node().has_mod || terms_of(sum).size() > max_terms) return sum;
  try {
    for (int step = 0; step < max_steps; ++step) {
      auto combined = combine_once(sum);
      if (!combined) break;
      sum = *combined;
    }
  } catch (const Error&) {
    return sum;  // a coefficient left 64 bits on the way: stay with what there is
  }
  return sum;
}

Expr plain_sum_of(std::span<const Expr> parts) {
  if (parts.empty()) return 0;
  if (parts.size() == 1) return parts[0];
  const auto half = parts.size() / 2;
  return plain_sum(plain_sum_of(parts.first(half)), plain_sum_of(parts.subspan(half)), 1);
}

Expr scaled(const Expr& e, std::int64_t factor) {
  if (factor == 0) return 0;
  return factor == 1 ? e : plain_sum(0, e, factor);
}

Expr scaled_sum(const Expr& a, const Expr& b, std::int64_t factor) {
  return combine_remainders(plain_sum(a, b, factor));
}

Expr multiply_terms(const Expr& a, const Expr& b) {
  const auto x = term_of(a);
  const auto y = term_of(b);
  std::vector<Expr> atoms;
  atoms.reserve(x.atoms.size() + y.atoms.size());
  std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(), std::back_inserter(atoms));
  return make_term(mul_or_throw(x.coefficient, y.coefficient), std::move(atoms));
}

Expr expand(const Expr& a, const Expr& b) {
  Expr result = constant_of(a) == 0 ? Expr(0) : plain_sum(0, b, constant_of(a));
  for (const auto& term : terms_of(a)) {
    Polynomial row;
    for (const auto& other : terms_of(b)) row.terms.push_back(multiply_terms(term, other));
    if (constant_of(b) != 0) row.terms.push_back(scaled_term(term, constant_of(b)));
    std::sort(row.terms.begin(), row.terms.end(), [](const Expr& p, const Expr& q) {
      return compare_monomials(term_of(p).atoms, term_of(q).atoms) < 0;
    });
    result = plain_sum(result, make_sum(std::move(row)), 1);
  }
  return combine_remainders(result);
}

bool is_sum(const Expr& e) {
  return e.kind() == Expr::Kind::add;
}

bool worth_expanding(const Expr& a, const Expr& b) {
  const auto count = [](const Expr& e) { return terms_of(e).size() + (constant_of(e) != 0 ? 1 : 0); };
  if (count(a) * count(b) > max_expanded_terms) return false;
  return a.node().size * count(b) + b.node().size * count(a) <= max_expanded_size;
}

}  // namespace

Expr sum_of(std::span<const Expr> parts) {
  return combine_remainders(plain_sum_of(parts));
}

}  // namespace detail

Expr operator+(const Expr& a, const Expr& b) {
  using namespace detail;
  if (a.is_constant() && b.is_constant()) return add_or_throw(a.node().value, b.node().value);
  if (a.is_constant() && a.node().value == 0) return b;
  if (b.is_constant() && b.node().value == 0) return a;
  return scaled_sum(a, b, 1);
}

Expr operator-(const Expr& a, const Expr& b) {
  using namespace detail;
  if (b.is_constant() && b.node().value == 0) return a;
  if (a.is_constant() && b.is_constant()) {
    const auto difference = checked_sub(a.node().value, b.node().value);
    if (!difference) throw Error(cat("expression: ", a, " - ", b, " leaves 64 bits"));
    return *difference;
  }
  return scaled_sum(a, b, -1);
}

Expr operator-(const Expr& a) {
  return detail::plain_sum(0, a, -1);
}

Expr operator*(const Expr& a, const Expr& b) {
  using namespace detail;
  if (a.is_constant() && b.is_constant()) return mul_or_throw(a.node().value, b.node().value);
  if (a.is_constant()) return scaled(b, a.node().value);
  if (b.is_constant()) return scaled(a, b.node().value);
  if (!is_sum(a) && !is_sum(b)) return multiply_terms(a, b);
  if (!worth_expanding(a, b)) return multiply_terms(a, b);
  try {
    return expand(a, b);
  } catch (const Error&) {
    return multiply_terms(a, b);  // a coefficient left 64 bits though the value may not
  }
}

}  // namespace luminal
