// The canonical form of index maps.
#include <algorithm>

#include "luminal/shape/view_data.h"

namespace luminal::detail {
namespace {

/// The parts of a conjunction.
void parts_of(const Expr& e, std::vector<Expr>& into) {
  if (e.kind() != Expr::Kind::logical_and) {
    into.push_back(e);
    return;
  }
  for (const auto& operand : e.operands()) parts_of(operand, into);
}

/// `valid` without the parts that follow from `known`.
Expr given(const Expr& valid, const Expr& known) {
  std::vector<Expr> parts;
  parts_of(valid, parts);
  Expr result = 1;
  for (const auto& part : parts) {
    const bool follows = Expr::logical_and(known, part) == known;
    if (!follows) result = Expr::logical_and(result, part);
  }
  return result;
}

/// Guards that matter, in order: none that follows from those before it, neighbours of one fill joined,
/// nothing behind one that never holds.
std::vector<IndexMap::Guard> canonical_guards(const std::vector<IndexMap::Guard>& guards) {
  std::vector<IndexMap::Guard> result;
  Expr known = 1;
  for (const auto& guard : guards) {
    auto valid = guard.valid.is_constant() ? guard.valid : given(guard.valid.simplify(), known);
    if (valid == Expr(1)) continue;
    known = Expr::logical_and(known, valid);
    if (known == Expr(0)) valid = 0;
    if (!result.empty() && result.back().fill == guard.fill) {
      result.back().valid = Expr::logical_and(result.back().valid, valid);
    } else {
      result.push_back({valid, guard.fill});
    }
    if (known == Expr(0)) break;
  }
  return result;
}

}  // namespace

IndexMap canonical(IndexMap map) {
  map.guards = is_empty(map.result) ? std::vector<IndexMap::Guard>{} : canonical_guards(map.guards);
  const bool reads_nothing = is_empty(map.result) ||
                             std::any_of(map.guards.begin(), map.guards.end(),
                                         [](const IndexMap::Guard& guard) { return guard.valid == Expr(0); });
  for (std::size_t axis = 0; axis < map.index.size(); ++axis) {
    if (reads_nothing || is_one(map.source[axis])) map.index[axis] = 0;
  }
  return map;
}

}  // namespace luminal::detail
