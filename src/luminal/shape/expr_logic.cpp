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

/// The truth values joined by nested `kind`s.
void flatten(Expr::Kind kind, const Expr& e, std::vector<Expr>& into) {
  if (e.kind() != kind) {
    into.push_back(truth(e));
    return;
  }
  for (const auto& child : e.node().children) flatten(kind, child, into);
}

std::vector<Expr> flattened(Expr::Kind kind, const Expr& a, const Expr& b) {
  std::vector<Expr> parts;
  flatten(kind, a, parts);
  flatten(kind, b, parts);
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

/// What two comparisons' gaps say of each other. Unknown for anything but comparisons.
struct Relation {
  bool first_implies_second = false;
  bool second_implies_first = false;
  bool never_both = false;
  bool always_one = false;
  bool opposite_gaps = false;  // gap and −gap: both hold exactly where it is 0
};

Relation relate(const Expr& a, const Expr& b) {
  Relation relation;
  const auto first = gap_of(a);
  const auto second = gap_of(b);
  if (!first || !second) return relation;
  try {
    const auto difference = *second - *first;
    const auto sum = *first + *second;
    relation.first_implies_second = proved_not_negative(difference, Effort::build);
    relation.second_implies_first = proved_not_negative(-difference, Effort::build);
    relation.never_both = at_most(sum, -1);
    relation.always_one = at_least(sum, -1);
    relation.opposite_gaps = sum == Expr(0);
  } catch (const Error&) {
    return relation;
  }
  return relation;
}

bool contains(Expr::Kind kind, const Expr& e, const Expr& part) {
  if (e == part) return true;
  if (e.kind() != kind) return false;
  return contains(kind, e.node().children[0], part) || contains(kind, e.node().children[1], part);
}

/// Simplifies two parts of a conjunction (or, with `either`, of a disjunction) to one, if they amount to one.
std::optional<Expr> join_pair(const Expr& a, const Expr& b, bool either) {
  const auto inner = either ? Expr::Kind::logical_and : Expr::Kind::logical_or;
  const bool simple = b.kind() != Expr::Kind::logical_and && b.kind() != Expr::Kind::logical_or;
  if (simple && a == Expr::logical_not(b)) return either ? 1 : 0;
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

Expr joined(Expr::Kind kind, const Expr& a, const Expr& b) {
  const bool either = kind == Expr::Kind::logical_or;
  auto parts = flattened(kind, a, b);
  const Expr decisive = either ? 1 : 0;
  const Expr neutral = either ? 0 : 1;
  std::erase(parts, neutral);
  join_pairs(parts, either);
  std::erase(parts, neutral);
  if (std::find(parts.begin(), parts.end(), decisive) != parts.end()) return decisive;
  if (parts.empty()) return neutral;
  Expr result = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) result = make_binary(kind, result, parts[i]);
  return result;
}

}  // namespace

Expr conjunction(const Expr& a, const Expr& b) {
  return joined(Expr::Kind::logical_and, a, b);
}
Expr disjunction(const Expr& a, const Expr& b) {
  return joined(Expr::Kind::logical_or, a, b);
}

}  // namespace detail

Expr Expr::logical_and(const Expr& a, const Expr& b) {
  return detail::conjunction(a, b);
}
Expr Expr::logical_or(const Expr& a, const Expr& b) {
  return detail::disjunction(a, b);
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
