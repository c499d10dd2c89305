#include "luminal/shape/expr_facts.h"

#include <algorithm>

#include "luminal/support/checked.h"

namespace luminal::detail {

Facts::Facts(const Expr& claim, const Given& given) {
  visit(claim);
  for (const auto& e : given.mentioned) visit(e);
  for (const auto& e : given.positive) {
    if (at_least(e, 0)) assume_at_least(e, 1);
  }
}

std::int64_t Facts::low(const Expr& variable) const {
  const auto found = low_.find(variable);
  return found == low_.end() ? variable.node().value : found->second;
}

void Facts::visit(const Expr& e) {
  if (e.is_constant() || --budget_ < 0) return;
  const auto& node = e.node();
  if (node.is_coordinate) assume_at_least(node.children[0], 1);
  const bool division = node.kind == Expr::Kind::div || node.kind == Expr::Kind::mod;
  if (division && at_least(node.children[1], 0)) assume_at_least(node.children[1], 1);
  // What either side of `&&` needs is not needed where the other side already decides.
  if (node.kind == Expr::Kind::logical_and || node.kind == Expr::Kind::logical_or) return;
  const auto count = node.kind == Expr::Kind::mod ? std::size_t{2} : node.children.size();
  for (std::size_t i = 0; i < count; ++i) visit(node.children[i]);
}

void Facts::raise(const Expr& variable, std::int64_t bound) {
  const auto [place, added] = low_.emplace(variable, std::max(bound, variable.node().value));
  if (!added) place->second = std::max(place->second, bound);
}

void Facts::assume_at_least(const Expr& e, std::int64_t bound) {
  if (e.is_constant() || --budget_ < 0) return;
  const auto terms = terms_of(e);
  const auto [coefficient, atoms] = term_of(terms[0]);
  const auto rest = checked_sub(bound, constant_of(e));
  if (terms.size() > 1 && !at_least(e, bound)) sums_.push_back(e - bound);
  if (terms.size() != 1 || coefficient <= 0 || !rest) return;
  const auto least = -floor_div(-std::max(*rest, -INT64_MAX), coefficient);
  if (atoms.size() == 1) return assume_atom(atoms[0], least);
  if (least < 1 || !std::all_of(atoms.begin(), atoms.end(), [](const Expr& a) { return at_least(a, 0); }))
    return;
  for (const auto& atom : atoms) assume_at_least(atom, 1);
}

void Facts::assume_atom(const Expr& atom, std::int64_t bound) {
  const auto& node = atom.node();
  if (node.kind == Expr::Kind::variable && !node.is_coordinate) raise(atom, bound);
  if (node.kind == Expr::Kind::div && node.children[1].is_constant() && node.children[1].node().value > 0) {
    const auto scaled = checked_mul(bound, node.children[1].node().value);
    if (scaled) assume_at_least(node.children[0], *scaled);
  }
  if (node.kind == Expr::Kind::min) {
    assume_at_least(node.children[0], bound);
    assume_at_least(node.children[1], bound);
  }
}

}  // namespace luminal::detail
