#pragma once
// What the files that implement View share. Not for other layers.
#include <memory>
#include <optional>
#include <vector>

#include "luminal/shape/view.h"
#include "luminal/support/error.h"

namespace luminal {

struct View::Data {
  IndexMap map;
  std::shared_ptr<const Data> previous;  // without the last movement; null without movements
  std::vector<Movement> movements;
  std::vector<ViewCheck> checks;
  std::uint64_t hash = 0;
};

namespace detail {

/// What a movement does to a shape: coordinates of the old shape as functions of the new one's, where they
/// are valid, and what must hold.
struct Step {
  Shape result;
  std::vector<Expr> coordinates;
  std::vector<IndexMap::Guard> guards;
  std::vector<ViewCheck> checks;
};

Step step_of(const Movement& movement, const Shape& shape);
Step reshape_step(const movement::Reshape& reshape, const Shape& shape);
Step strided_step(const movement::Strided& strided, const Shape& shape);

/// The coordinates of an array of this shape; 0 along axes of size 1.
std::vector<Expr> coordinates_of(const Shape& shape);
/// Σ coordinate · row-major stride.
Expr flat_index(const std::vector<Expr>& coordinates, const Shape& shape);
/// The coordinates of the flat element `flat`.
std::vector<Expr> unflatten(const Expr& flat, const Shape& shape);

bool is_one(const Expr& dim);
bool is_empty(const Shape& shape);

void add_check(const ViewCheck& check, std::vector<ViewCheck>& checks);

/// Throws what `problem` says if `holds` is never true, and records a check if that cannot be decided.
template <typename Problem>
void require(const Expr& holds, const Problem& problem, std::vector<ViewCheck>& checks) {
  if (holds == Expr(1)) return;
  const auto decided = holds.simplify();
  if (decided == Expr(0)) throw Error(problem());
  if (!decided.is_constant()) add_check({decided, problem()}, checks);
}

/// Brings a map to the form in which equal maps are equal values.
IndexMap canonical(IndexMap map);

/// The one movement that does what `first` and then `second` do, if there is one of the same kind.
std::optional<Movement> folded(const Movement& first, const Movement& second);

/// The sizes, steps and offsets of a movement.
std::vector<Expr> expressions_in(const Movement& movement);

Movement substituted(const Movement& movement, const DimMap& values);

}  // namespace detail
}  // namespace luminal
