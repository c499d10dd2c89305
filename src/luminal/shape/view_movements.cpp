// What each movement does to a shape and its coordinates.
#include <algorithm>

#include "luminal/shape/view_data.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::detail {
namespace {

/// What a movement is applied to, for its errors: "slice of axis 1 of [2, 3]". An `Error` if there is no such
/// axis.
struct Subject {
  std::string_view movement;
  std::size_t axis;
  const Shape& shape;

  Subject(std::string_view movement_, std::size_t axis_, const Shape& shape_)
      : movement(movement_), axis(axis_), shape(shape_) {
    if (axis < shape.rank()) return;
    throw Error(cat(movement, ": ", shape, " has no axis ", axis, "; it has ", shape.rank(), " axes"));
  }
  friend std::ostream& operator<<(std::ostream& out, const Subject& s) {
    return out << s.movement << " of axis " << s.axis << " of " << s.shape;
  }
};

Shape with_dim(const Shape& shape, std::size_t axis, const Expr& dim) {
  auto dims = shape.dims();
  dims[axis] = dim;
  return Shape(std::move(dims));
}

Step one_axis(const Shape& shape, std::size_t axis, const Expr& dim) {
  Step step;
  step.result = with_dim(shape, axis, dim);
  step.coordinates = coordinates_of(step.result);
  return step;
}

Step apply(const movement::Permute& permute, const Shape& shape) {
  std::vector<bool> seen(shape.rank(), false);
  const bool valid = permute.axes.size() == shape.rank() &&
                     std::all_of(permute.axes.begin(), permute.axes.end(), [&](std::size_t axis) {
                       const bool fresh = axis < shape.rank() && !seen[axis];
                       if (fresh) seen[axis] = true;
                       return fresh;
                     });
  if (!valid) {
    throw Error(cat("permute: axes (", join(permute.axes), ") are no permutation of the ", shape.rank(),
                    " axes of ", shape));
  }
  std::vector<Expr> dims;
  dims.reserve(shape.rank());
  for (const auto axis : permute.axes) dims.push_back(shape[axis]);
  Step step;
  step.result = Shape(std::move(dims));
  const auto coordinates = coordinates_of(step.result);
  step.coordinates.resize(shape.rank());
  for (std::size_t k = 0; k < shape.rank(); ++k) step.coordinates[permute.axes[k]] = coordinates[k];
  return step;
}

Step apply(const movement::Expand& expand, const Shape& shape) {
  const Subject what("expand", expand.axis, shape);
  const auto& dim = shape[expand.axis];
  auto step = one_axis(shape, expand.axis, expand.size);
  if (dim == expand.size) return step;
  require(
      Expr::equal(dim, 1),
      [&] { return cat(what, " to ", expand.size, ": the axis has size ", dim, ", expected 1"); },
      step.checks);
  require(
      Expr::less_equal(0, expand.size),
      [&] { return cat(what, ": the new size ", expand.size, " is negative"); }, step.checks);
  step.coordinates[expand.axis] = 0;
  return step;
}

Step apply(const movement::Slice& slice, const Shape& shape) {
  const Subject what("slice", slice.axis, shape);
  const auto& dim = shape[slice.axis];
  auto step = one_axis(shape, slice.axis, slice.size);
  require(
      Expr::less_equal(1, slice.step), [&] { return cat(what, ": step ", slice.step, " is less than 1"); },
      step.checks);
  require(
      Expr::less_equal(0, slice.size), [&] { return cat(what, ": size ", slice.size, " is negative"); },
      step.checks);
  require(
      Expr::less_equal(0, slice.start), [&] { return cat(what, ": start ", slice.start, " is negative"); },
      step.checks);
  const auto last = slice.start + (slice.size - 1) * slice.step;
  require(
      Expr::logical_or(Expr::less_equal(slice.size, 0), Expr::less(last, dim)),
      [&] {
        return cat(what, ": ", slice.size, " elements from ", slice.start, " with step ", slice.step,
                   " end at ", last, ", but the axis has size ", dim);
      },
      step.checks);
  step.coordinates[slice.axis] = slice.start + slice.step * step.coordinates[slice.axis];
  return step;
}

Step apply(const movement::Pad& pad, const Shape& shape) {
  const Subject what("pad", pad.axis, shape);
  auto step = one_axis(shape, pad.axis, pad.before + shape[pad.axis] + pad.after);
  require(
      Expr::less_equal(0, pad.before),
      [&] { return cat(what, ": ", pad.before, " elements before are less than 0"); }, step.checks);
  require(
      Expr::less_equal(0, pad.after),
      [&] { return cat(what, ": ", pad.after, " elements after are less than 0"); }, step.checks);
  auto& coordinate = step.coordinates[pad.axis];
  coordinate = coordinate - pad.before;
  step.guards.push_back(
      {Expr::logical_and(Expr::less_equal(0, coordinate), Expr::less(coordinate, shape[pad.axis])),
       pad.fill});
  return step;
}

Step apply(const movement::Unfold& unfold, const Shape& shape) {
  const Subject what("unfold", unfold.axis, shape);
  const auto& dim = shape[unfold.axis];
  const auto span = unfold.dilation * (unfold.size - 1) + 1;
  std::vector<ViewCheck> checks;
  require(
      Expr::less_equal(1, unfold.stride),
      [&] { return cat(what, ": stride ", unfold.stride, " is less than 1"); }, checks);
  require(
      Expr::less_equal(1, unfold.dilation),
      [&] { return cat(what, ": dilation ", unfold.dilation, " is less than 1"); }, checks);
  require(
      Expr::less_equal(0, unfold.size), [&] { return cat(what, ": size ", unfold.size, " is negative"); },
      checks);
  require(
      Expr::less_equal(span, dim),
      [&] {
        return cat(what, ": a window of ", unfold.size, " elements with dilation ", unfold.dilation,
                   " spans ", span, ", but the axis has size ", dim);
      },
      checks);
  auto dims = shape.dims();
  dims[unfold.axis] = (dim - span) / unfold.stride + 1;
  dims.push_back(unfold.size);
  Step step;
  step.result = Shape(std::move(dims));
  step.checks = std::move(checks);
  step.coordinates = coordinates_of(step.result);
  const auto position = step.coordinates.back();
  step.coordinates.pop_back();
  auto& coordinate = step.coordinates[unfold.axis];
  coordinate = coordinate * unfold.stride + position * unfold.dilation;
  return step;
}

/// What Fold and Shear ask of the shape: an axis of windows and, behind it, the positions in one.
void require_windows(const Subject& what, const Expr& size, const Expr& stride, const Expr& dilation,
                     std::vector<ViewCheck>& checks) {
  if (what.axis + 1 >= what.shape.rank())
    throw Error(cat(what, ": the last axis is the position in a window and cannot be this one"));
  require(
      Expr::less_equal(1, stride), [&] { return cat(what, ": stride ", stride, " is less than 1"); }, checks);
  require(
      Expr::less_equal(1, dilation), [&] { return cat(what, ": dilation ", dilation, " is less than 1"); },
      checks);
  require(Expr::less_equal(0, size), [&] { return cat(what, ": size ", size, " is negative"); }, checks);
}

Step apply(const movement::Fold& fold, const Shape& shape) {
  const Subject what("fold", fold.axis, shape);
  auto step = one_axis(shape, fold.axis, fold.size);
  require_windows(what, fold.size, fold.stride, fold.dilation, step.checks);
  auto& coordinate = step.coordinates[fold.axis];
  const auto start = coordinate - step.coordinates.back() * fold.dilation;
  coordinate = start / fold.stride;
  const auto inside = Expr::logical_and(Expr::less_equal(0, start), Expr::less(coordinate, shape[fold.axis]));
  step.guards.push_back({Expr::logical_and(inside, Expr::equal(start % fold.stride, 0)), 0});
  return step;
}

Step apply(const movement::Shear& shear, const Shape& shape) {
  const Subject what("shear", shear.axis, shape);
  auto step = one_axis(shape, shear.axis, shear.size);
  require_windows(what, shear.size, shear.stride, shear.dilation, step.checks);
  const auto& window = shape[shape.rank() - 1];
  const auto last = (shear.size - 1) * shear.stride + (window - 1) * shear.dilation;
  require(
      Expr::logical_or(Expr::logical_or(Expr::less_equal(shear.size, 0), Expr::less_equal(window, 0)),
                       Expr::less(last, shape[shear.axis])),
      [&] { return cat(what, ": the windows end at ", last, ", but the axis has size ", shape[shear.axis]); },
      step.checks);
  auto& coordinate = step.coordinates[shear.axis];
  coordinate = coordinate * shear.stride + step.coordinates.back() * shear.dilation;
  return step;
}

Step apply(const movement::Flip& flip, const Shape& shape) {
  const Subject what("flip", flip.axis, shape);
  auto step = one_axis(shape, flip.axis, shape[flip.axis]);
  if (!is_one(shape[flip.axis])) {
    step.coordinates[flip.axis] = shape[flip.axis] - 1 - step.coordinates[flip.axis];
  }
  return step;
}

Step apply(const movement::Reshape& reshape, const Shape& shape) {
  return reshape_step(reshape, shape);
}
Step apply(const movement::Strided& strided, const Shape& shape) {
  return strided_step(strided, shape);
}

}  // namespace

Step step_of(const Movement& movement, const Shape& shape) {
  return std::visit([&](const auto& each) { return apply(each, shape); }, movement);
}

namespace {

using namespace movement;

std::optional<Movement> fold(const Permute& first, const Permute& second) {
  Permute both;
  for (const auto axis : second.axes) both.axes.push_back(first.axes[axis]);
  return both;
}

std::optional<Movement> fold(const Reshape&, const Reshape& second) {
  return second;
}

std::optional<Movement> fold(const Slice& first, const Slice& second) {
  if (first.axis != second.axis) return std::nullopt;
  return Slice{first.axis, first.start + second.start * first.step, second.size, first.step * second.step};
}

template <typename First, typename Second>
std::optional<Movement> fold(const First&, const Second&) {
  return std::nullopt;
}

Permute substituted_movement(const Permute& m, const DimMap&) {
  return m;
}
Flip substituted_movement(const Flip& m, const DimMap&) {
  return m;
}
Expand substituted_movement(const Expand& m, const DimMap& v) {
  return {m.axis, m.size.substitute(v)};
}
Slice substituted_movement(const Slice& m, const DimMap& v) {
  return {m.axis, m.start.substitute(v), m.size.substitute(v), m.step.substitute(v)};
}
Pad substituted_movement(const Pad& m, const DimMap& v) {
  return {m.axis, m.before.substitute(v), m.after.substitute(v), m.fill};
}
Reshape substituted_movement(const Reshape& m, const DimMap& v) {
  return {m.shape.substitute(v)};
}
Unfold substituted_movement(const Unfold& m, const DimMap& v) {
  return {m.axis, m.size.substitute(v), m.stride.substitute(v), m.dilation.substitute(v)};
}
Fold substituted_movement(const Fold& m, const DimMap& v) {
  return {m.axis, m.size.substitute(v), m.stride.substitute(v), m.dilation.substitute(v)};
}
Shear substituted_movement(const Shear& m, const DimMap& v) {
  return {m.axis, m.size.substitute(v), m.stride.substitute(v), m.dilation.substitute(v)};
}
Strided substituted_movement(const Strided& m, const DimMap& v) {
  return {m.shape.substitute(v), Shape(m.strides).substitute(v).dims(), m.offset.substitute(v)};
}

}  // namespace

std::optional<Movement> folded(const Movement& first, const Movement& second) {
  return std::visit([](const auto& a, const auto& b) { return fold(a, b); }, first, second);
}

std::vector<Expr> expressions_in(const Movement& movement) {
  std::vector<Expr> result;
  const auto add = [&](const std::vector<Expr>& more) {
    result.insert(result.end(), more.begin(), more.end());
  };
  const auto visit = [&](const auto& m) {
    if constexpr (requires { m.size; }) add({m.size});
    if constexpr (requires { m.start; }) add({m.start, m.step});
    if constexpr (requires { m.before; }) add({m.before, m.after});
    if constexpr (requires { m.dilation; }) add({m.stride, m.dilation});
    if constexpr (requires { m.shape; }) add(m.shape.dims());
    if constexpr (requires { m.offset; }) {
      add(m.strides);
      add({m.offset});
    }
  };
  std::visit(visit, movement);
  return result;
}

Movement substituted(const Movement& movement, const DimMap& values) {
  return std::visit([&](const auto& each) -> Movement { return substituted_movement(each, values); },
                    movement);
}

}  // namespace luminal::detail
