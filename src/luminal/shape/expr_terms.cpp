// Terms: a coefficient times a sorted product of atoms.
#include <algorithm>
#include <numeric>

#include "luminal/shape/expr_node.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::detail {

Term term_of(const Expr& term) {
  if (term.kind() == Expr::Kind::constant) return {term.node().value, {}};
  if (term.kind() != Expr::Kind::mul) return {1, {&term, 1}};
  return {term.node().value, term.node().children};
}

Expr make_term(std::int64_t coefficient, std::vector<Expr> sorted_atoms) {
  if (coefficient == 0 || sorted_atoms.empty()) return coefficient;
  if (coefficient == 1 && sorted_atoms.size() == 1) return sorted_atoms[0];
  if (sorted_atoms.size() > max_degree)
    throw Error(cat("expression: a product of more than ", max_degree, " factors"));
  Expr::Node node;
  node.kind = Expr::Kind::mul;
  node.value = coefficient;
  node.children = std::move(sorted_atoms);
  return make_node(std::move(node));
}

std::span<const Expr> terms_of(const Expr& sum) {
  if (sum.kind() == Expr::Kind::constant) return {};
  if (sum.kind() != Expr::Kind::add) return {&sum, 1};
  return sum.node().children;
}

std::int64_t constant_of(const Expr& sum) {
  const auto kind = sum.kind();
  return kind == Expr::Kind::constant || kind == Expr::Kind::add ? sum.node().value : 0;
}

int compare_monomials(std::span<const Expr> a, std::span<const Expr> b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const int by_atom = a[i].compare(b[i])) return by_atom;
  }
  return 0;
}

std::optional<Expr> divide_term(const Expr& a, const Expr& b) {
  const auto numerator = term_of(a);
  const auto divisor = term_of(b);
  if (divisor.coefficient == 0 || numerator.atoms.size() < divisor.atoms.size()) return std::nullopt;
  if (divisor.coefficient == -1 || numerator.coefficient % divisor.coefficient != 0) return std::nullopt;
  std::vector<Expr> rest;
  std::size_t used = 0;
  for (const auto& atom : numerator.atoms) {
    if (used < divisor.atoms.size() && atom == divisor.atoms[used]) {
      ++used;
    } else {
      rest.push_back(atom);
    }
  }
  if (used != divisor.atoms.size()) return std::nullopt;
  return make_term(numerator.coefficient / divisor.coefficient, std::move(rest));
}

std::optional<Expr> divide_exactly(const Expr& sum, const Expr& term) {
  if (term == Expr(1)) return sum;
  std::vector<Expr> quotients;
  if (const auto constant = constant_of(sum)) {
    const auto quotient = divide_term(constant, term);
    if (!quotient) return std::nullopt;
    quotients.push_back(*quotient);
  }
  for (const auto& part : terms_of(sum)) {
    const auto quotient = divide_term(part, term);
    if (!quotient) return std::nullopt;
    quotients.push_back(*quotient);
  }
  return sum_of(quotients);
}

namespace {

/// The greatest common divisor, 1 where it does not fit (both are −2^63).
std::int64_t greatest_divisor(std::int64_t a, std::int64_t b) {
  const auto magnitude = [](std::int64_t x) {
    return x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
  };
  const auto divisor = std::gcd(magnitude(a), magnitude(b));
  return divisor > static_cast<std::uint64_t>(INT64_MAX) ? 1 : static_cast<std::int64_t>(divisor);
}

}  // namespace

Expr common_factor(const Expr& a, const Expr& b) {
  const auto x = term_of(a);
  const auto y = term_of(b);
  std::vector<Expr> atoms;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.atoms.size() && j < y.atoms.size()) {
    const int order = x.atoms[i].compare(y.atoms[j]);
    if (order == 0) atoms.push_back(x.atoms[i]);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
  return make_term(greatest_divisor(x.coefficient, y.coefficient), std::move(atoms));
}

Expr content(const Expr& sum) {
  std::optional<Expr> result;
  if (const auto constant = constant_of(sum)) result = common_factor(constant, 0);
  for (const auto& term : terms_of(sum)) {
    if (result) {
      result = common_factor(*result, term);
    } else {
      const auto [coefficient, atoms] = term_of(term);
      result = make_term(greatest_divisor(coefficient, 0), {atoms.begin(), atoms.end()});
    }
  }
  return result.value_or(1);
}

std::optional<Linear> linear_in(const Expr& sum, const Expr& atom) {
  std::vector<Expr> coefficients;
  std::vector<Expr> rest{constant_of(sum)};
  for (const auto& term : terms_of(sum)) {
    const auto [coefficient, atoms] = term_of(term);
    const auto found = std::find(atoms.begin(), atoms.end(), atom);
    if (found == atoms.end()) {
      rest.push_back(term);
      continue;
    }
    std::vector<Expr> others(atoms.begin(), found);
    others.insert(others.end(), found + 1, atoms.end());
    if (std::find(others.begin(), others.end(), atom) != others.end()) return std::nullopt;
    coefficients.push_back(make_term(coefficient, std::move(others)));
  }
  return Linear{sum_of(coefficients), sum_of(rest)};
}

}  // namespace luminal::detail
