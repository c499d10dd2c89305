// and, or, not: sorted, without repeats, and without what the others imply.
#include <algorithm>

#include "luminal/shape/expr_node.h"
#include "luminal/support/error.h"

namespace luminal {
namespace detail {
namespace {

/// 0 or 1 instead of 0 or anything.
Expr truth(const Expr& e) {
  if (is_boolean(e)) return e;
  if (at_least(e, 0)) return Expr::less_equal(1, e);
  if (at_most(e, 0)) return Expr::less_equal(e, -1);
  return Expr::logical_not(Expr::equal(e, 0));
}

/// What two comparisons' gaps say of each other. Unknown for anything but comparisons.
struct Relation {
  bool first_implies_second = false;
  bool second_implies_first = false;
  bool never_both = false;
  bool always_one = false;
  bool opposite_gaps = false;  // gap and −gap: both hold exactly where it is 0
};

/// A proof is tried only where the gaps have something in common.
bool follows(const Expr& difference, std::size_t terms_before) {
  if (at_least(difference, 0)) return true;
  if (terms_of(difference).size() >= terms_before) return false;
  return proved_not_negative(difference, Effort::build);
}

Relation relate(const Expr& a, const Expr& b) {
  Relation relation;
  const auto first = gap_of(a);
  const auto second = gap_of(b);
  if (!first || !second) return relation;
  try {
    const auto terms = terms_of(*first).size() + terms_of(*second).size();
    const auto difference = *second - *first;
    const auto sum = *first + *second;
    relation.first_implies_second = follows(difference, terms);
    relation.second_implies_first = follows(-difference, terms);
    relation.never_both = at_most(sum, -1);
    relation.always_one = at_least(sum, -1);
    relation.opposite_gaps = sum == Expr(0);
  } catch (const Error&) {
    return relation;
  }
  return relation;
}

/// Whether one is the other == 0.
bool are_opposites(const Expr& a, const Expr& b) {
  const auto negates = [](const Expr& p, const Expr& q) {
    return p.kind() == Expr::Kind::equal && p.node().children[0] == q && p.node().children[1] == Expr(0);
  };
  return negates(a, b) || negates(b, a);
}

bool contains(Expr::Kind kind, const Expr& e, const Expr& part) {
  if (e == part) return true;
  if (e.kind() != kind) return false;
  return contains(kind, e.node().children[0], part) || contains(kind, e.node().children[1], part);
}

/// Simplifies two parts of a conjunction (or, with `either`, of a disjunction) to one, if they amount to one.
std::optional<Expr> join_pair(const Expr& a, const Expr& b, bool either) {
  const auto inner = either ? Expr::Kind::logical_and : Expr::Kind::logical_or;
  if (are_opposites(a, b)) return either ? 1 : 0;
  if (b.kind() == inner && contains(inner, b, a)) return a;
  if (a.kind() == inner && contains(inner, a, b)) return b;
  const auto relation = relate(a, b);
  if (relation.first_implies_second) return either ? b : a;
  if (relation.second_implies_first) return either ? a : b;
  if (either && relation.always_one) return 1;
  if (!either && relation.never_both) return 0;
  if (!either && relation.opposite_gaps) return is_zero(*gap_of(a));
  return std::nullopt;
}

/// Joins pairs until none amounts to one part.
void join_pairs(std::vector<Expr>& parts, bool either) {
  constexpr std::size_t max_parts = 16;
  for (std::size_t i = 0; i < parts.size() && parts.size() <= max_parts; ++i) {
    for (std::size_t j = i + 1; j < parts.size(); ++j) {
      const auto joined = join_pair(parts[i], parts[j], either);
      if (!joined) continue;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(j));
      parts[i] = *joined;
      std::sort(parts.begin(), parts.end());
      parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
      return join_pairs(parts, either);
    }
  }
}

}  // namespace

Expr joined(Expr::Kind kind, std::span<const Expr> operands) {
  const bool either = kind == Expr::Kind::logical_or;
  Expr decisive = either ? 1 : 0;
  Expr neutral = either ? 0 : 1;
  std::vector<Expr> parts;
  for (const auto& operand : operands) {
    for (const auto& part : flattened(kind, operand)) parts.push_back(truth(part));
  }
  std::erase(parts, neutral);
  if (std::find(parts.begin(), parts.end(), decisive) != parts.end()) return decisive;
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  join_pairs(parts, either);
  std::erase(parts, neutral);
  if (std::find(parts.begin(), parts.end(), decisive) != parts.end()) return decisive;
  return parts.empty() ? neutral : make_nest(kind, parts);
}

bool implies(const Expr& a, const Expr& b) {
  return a == b || a == Expr(0) || b == Expr(1) || relate(a, b).first_implies_second;
}

}  // namespace detail

Expr Expr::logical_and(const Expr& a, const Expr& b) {
  const Expr operands[] = {a, b};
  return detail::joined(Kind::logical_and, operands);
}
Expr Expr::logical_or(const Expr& a, const Expr& b) {
  const Expr operands[] = {a, b};
  return detail::joined(Kind::logical_or, operands);
}

Expr Expr::logical_not(const Expr& a) {
  const auto& children = a.node().children;
  switch (a.kind()) {
    case Kind::constant:
      return a.node().value == 0 ? 1 : 0;
    case Kind::less:
      return less_equal(children[1], children[0]);
    case Kind::less_equal:
      return less(children[1], children[0]);
    case Kind::logical_and:
      return logical_or(logical_not(children[0]), logical_not(children[1]));
    case Kind::logical_or:
      return logical_and(logical_not(children[0]), logical_not(children[1]));
    case Kind::equal: {
      const bool negation = children[1] == Expr(0) && children[0].kind() == Kind::equal;
      return negation ? children[0] : detail::make_binary(Kind::equal, a, 0);
    }
    default:
      return equal(a, 0);
  }
}

}  // namespace luminal
