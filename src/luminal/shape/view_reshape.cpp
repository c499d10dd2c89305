// Movements through the flat, row-major order: reshape and strided.
#include <algorithm>

#include "luminal/shape/view_data.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::detail {

bool is_one(const Expr& dim) {
  const auto bounds = dim.bounds();
  return bounds.low == 1 && bounds.high == 1;
}

bool is_empty(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Expr& dim) {
    const auto bounds = dim.bounds();
    return bounds.high && *bounds.high <= 0;
  });
}

std::vector<Expr> coordinates_of(const Shape& shape) {
  std::vector<Expr> result;
  result.reserve(shape.rank());
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    result.push_back(is_one(shape[axis]) ? Expr(0) : Expr::coordinate(axis, shape[axis]));
  }
  return result;
}

Expr flat_index(const std::vector<Expr>& coordinates, const Shape& shape) {
  if (is_empty(shape)) return 0;
  Expr flat = 0;
  Expr stride = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    flat = flat + coordinates[axis] * stride;
    if (axis > 0) stride = stride * shape[axis];
  }
  return flat;
}

std::vector<Expr> unflatten(const Expr& flat, const Shape& shape) {
  std::vector<Expr> result(shape.rank(), Expr(0));
  Expr stride = 1;
  std::size_t outermost = 0;
  while (outermost < shape.rank() && is_one(shape[outermost])) ++outermost;
  for (std::size_t axis = shape.rank(); axis-- > outermost;) {
    if (is_one(shape[axis])) continue;
    const auto above = flat / stride;
    result[axis] = axis == outermost ? above : above % shape[axis];
    if (axis > outermost) stride = stride * shape[axis];
  }
  return result;
}

void add_check(const ViewCheck& check, std::vector<ViewCheck>& checks) {
  const bool known =
      std::any_of(checks.begin(), checks.end(), [&](const ViewCheck& c) { return c.holds == check.holds; });
  if (!known) checks.push_back(check);
}

namespace {

void refuse_negative_dims(std::string_view movement, const Shape& shape, std::vector<ViewCheck>& checks) {
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    require(
        Expr::less_equal(0, shape[axis]),
        [&] { return cat(movement, ": axis ", axis, " of ", shape, " is negative"); }, checks);
  }
}

void require_same_count(const Shape& from, const Shape& to, std::vector<ViewCheck>& checks) {
  const auto before = from.element_count();
  const auto after = to.element_count();
  if (before == after || prove_eq(before, after)) return;
  const bool differ = prove_lt(before, after) || prove_lt(after, before);
  if (differ) throw Error(cat("reshape: ", from, " has ", before, " elements, ", to, " has ", after));
  require(
      Expr::equal(before, after), [&] { return cat("reshape: ", from, " has not as many elements as ", to); },
      checks);
}

/// The products of the first 0, 1, … dims.
std::vector<Expr> running_products(const Shape& shape) {
  std::vector<Expr> result{1};
  for (const auto& dim : shape) result.push_back(result.back() * dim);
  return result;
}

/// A run of source axes that holds the same elements, in order, as a run of result axes.
struct Group {
  std::size_t from_begin, from_end, to_begin, to_end;
};

/// Cuts both shapes wherever as many elements lie left of the cut: a merge or split then speaks of its own
/// axes only.
std::vector<Group> matching_groups(const Shape& from, const Shape& to) {
  const auto before = running_products(from);
  const auto after = running_products(to);
  std::vector<Group> groups;
  std::size_t a = 0;
  std::size_t b = 0;
  for (std::size_t i = 1; i < before.size(); ++i) {
    for (std::size_t j = b + 1; j < after.size(); ++j) {
      if (!(before[i] == after[j])) continue;
      groups.push_back({a, i, b, j});
      a = i;
      b = j;
      break;
    }
  }
  if (a < from.rank() || b < to.rank()) groups.push_back({a, from.rank(), b, to.rank()});
  return groups;
}

Shape part(const Shape& shape, std::size_t begin, std::size_t end) {
  return Shape(std::vector<Expr>(shape.dims().begin() + static_cast<std::ptrdiff_t>(begin),
                                 shape.dims().begin() + static_cast<std::ptrdiff_t>(end)));
}

}  // namespace

Step reshape_step(const movement::Reshape& reshape, const Shape& shape) {
  Step step;
  step.result = reshape.shape;
  refuse_negative_dims("reshape", reshape.shape, step.checks);
  require_same_count(shape, reshape.shape, step.checks);
  step.coordinates.assign(shape.rank(), Expr(0));
  if (is_empty(shape) || is_empty(reshape.shape)) return step;
  const auto coordinates = coordinates_of(reshape.shape);
  for (const auto& group : matching_groups(shape, reshape.shape)) {
    const std::vector<Expr> own(coordinates.begin() + static_cast<std::ptrdiff_t>(group.to_begin),
                                coordinates.begin() + static_cast<std::ptrdiff_t>(group.to_end));
    const auto flat = flat_index(own, part(reshape.shape, group.to_begin, group.to_end));
    const auto inner = unflatten(flat, part(shape, group.from_begin, group.from_end));
    std::copy(inner.begin(), inner.end(),
              step.coordinates.begin() + static_cast<std::ptrdiff_t>(group.from_begin));
  }
  return step;
}

namespace {

/// All flat elements that are read must exist. `flat` speaks of coordinates, which exist only if something is
/// read, so a proof about it says more than the two ends do; where there is none, the ends make the check.
void require_inside(const movement::Strided& strided, const Expr& flat, const Shape& shape,
                    std::vector<ViewCheck>& checks) {
  const auto count = shape.element_count();
  if (prove_le(0, flat) && prove_lt(flat, count)) return;
  Expr lowest = strided.offset;
  Expr highest = strided.offset;
  Expr empty = 0;
  for (std::size_t axis = 0; axis < strided.shape.rank(); ++axis) {
    const auto reach = strided.strides[axis] * (strided.shape[axis] - 1);
    lowest = lowest + Expr::min(reach, 0);
    highest = highest + Expr::max(reach, 0);
    empty = Expr::logical_or(empty, Expr::equal(strided.shape[axis], 0));
  }
  const auto inside = Expr::logical_and(Expr::less_equal(0, lowest), Expr::less(highest, count));
  const auto problem = [&] {
    return cat("strided: ", strided.shape, " with strides (", join(strided.strides), ") and offset ",
               strided.offset, " reads elements ", lowest, " to ", highest, " of ", shape, ", which has ",
               count);
  };
  require(Expr::logical_or(empty, inside), problem, checks);
}

}  // namespace

Step strided_step(const movement::Strided& strided, const Shape& shape) {
  if (strided.strides.size() != strided.shape.rank()) {
    throw Error(
        cat("strided: ", strided.strides.size(), " strides for ", strided.shape, ", expected one an axis"));
  }
  Step step;
  step.result = strided.shape;
  refuse_negative_dims("strided", strided.shape, step.checks);
  step.coordinates.assign(shape.rank(), Expr(0));
  if (is_empty(strided.shape)) return step;
  const auto coordinates = coordinates_of(strided.shape);
  Expr flat = strided.offset;
  for (std::size_t axis = 0; axis < strided.shape.rank(); ++axis) {
    flat = flat + coordinates[axis] * strided.strides[axis];
  }
  require_inside(strided, flat, shape, step.checks);
  if (!is_empty(shape)) step.coordinates = unflatten(flat, shape);
  return step;
}

}  // namespace luminal::detail
