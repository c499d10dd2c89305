// The canonical form of index maps.
#include <algorithm>

#include "luminal/shape/expr_node.h"
#include "luminal/shape/view_data.h"

namespace luminal::detail {
namespace {

/// `valid` without the parts that follow from one of `known`.
Expr given(const Expr& valid, const std::vector<Expr>& known) {
  auto parts = flattened(Expr::Kind::logical_and, valid);
  std::erase_if(parts, [&](const Expr& part) {
    return std::any_of(known.begin(), known.end(), [&](const Expr& fact) { return implies(fact, part); });
  });
  return joined(Expr::Kind::logical_and, parts);
}

/// Guards that matter, in order: none that follows from those before it, neighbours of one fill joined,
/// nothing behind one that never holds.
std::vector<IndexMap::Guard> canonical_guards(const std::vector<IndexMap::Guard>& guards) {
  std::vector<IndexMap::Guard> result;
  std::vector<Expr> known;
  for (const auto& guard : guards) {
    auto valid = known.empty() ? guard.valid : given(guard.valid, known);
    if (valid == Expr(1)) continue;
    for (const auto& part : flattened(Expr::Kind::logical_and, valid)) known.push_back(part);
    const bool never = joined(Expr::Kind::logical_and, known) == Expr(0);
    if (never) valid = 0;
    if (!result.empty() && result.back().fill == guard.fill) {
      result.back().valid = Expr::logical_and(result.back().valid, valid);
    } else {
      result.push_back({valid, guard.fill});
    }
    if (never) break;
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
