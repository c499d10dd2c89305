#include <algorithm>

#include "luminal/frontend/formula.h"
#include "luminal/frontend/graph_data.h"
#include "luminal/frontend/tensor.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::vector<Expr> replaced(const Shape& shape, std::size_t first, std::size_t count, std::vector<Expr> by) {
  std::vector<Expr> dims(shape.begin(), shape.end());
  const auto from = dims.begin() + static_cast<std::ptrdiff_t>(first);
  dims.erase(from, from + static_cast<std::ptrdiff_t>(count));
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(first), by.begin(), by.end());
  return dims;
}

bool is_constant(const Expr& e, std::int64_t value) {
  return e.constant_value() == value;
}

/// A position as Python's slices take it: negative from the end, cut off at the axis' ends.
Expr clamped(const Expr& position, const Expr& length) {
  const Expr from_start = prove_lt(position, 0) ? position + length : position;
  return Expr::max(Expr::min(from_start, length), 0);
}

}  // namespace

Tensor Tensor::move(const Movement& movement, Location where) const {
  try {
    GraphData::of(*this, "move", where);
    return with_view(value_.view.then(movement));
  } catch (const Error& error) {
    throw Error(error.problem(), where);
  }
}

Tensor Tensor::permute(const std::vector<int>& axes, Location where) const {
  if (axes.size() != rank())
    throw Error(cat("permute: ", axes.size(), " axes for a tensor of rank ", rank()), where);
  Axes(axes).resolve(rank(), "permute", where);
  std::vector<std::size_t> resolved;
  for (const int axis : axes) resolved.push_back(resolve_axis(axis, rank(), "permute", where));
  return move(movement::Permute{std::move(resolved)}, where);
}

Tensor Tensor::transpose(int a, int b, Location where) const {
  std::vector<std::size_t> axes(rank());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = i;
  std::swap(axes[resolve_axis(a, rank(), "transpose", where)],
            axes[resolve_axis(b, rank(), "transpose", where)]);
  return move(movement::Permute{std::move(axes)}, where);
}

Tensor Tensor::reshape(const Shape& wanted, Location where) const {
  std::vector<Expr> dims(wanted.begin(), wanted.end());
  const auto unknown =
      std::count_if(dims.begin(), dims.end(), [](const Expr& dim) { return is_constant(dim, -1); });
  if (unknown > 1) throw Error(cat("reshape: ", wanted, " has more than one dim of -1"), where);
  if (unknown == 1) {
    Expr others = 1;
    for (const auto& dim : dims)
      if (!is_constant(dim, -1)) others = others * dim;
    if (is_constant(others, 0))
      throw Error(cat("reshape: the dim of -1 in ", wanted, " could be anything"), where);
    const Expr count = count_of(shape(), where);
    const auto known = count.constant_value();
    const auto divisor = others.constant_value();
    if (known && divisor && *known % *divisor != 0)
      throw Error(cat("reshape: ", shape(), " has ", count, " elements, not a multiple of ", others, " as ",
                      wanted, " needs"),
                  where);
    for (auto& dim : dims)
      if (is_constant(dim, -1)) dim = count / others;
  }
  return move(movement::Reshape{Shape(std::move(dims))}, where);
}

Tensor Tensor::expand(const Shape& wanted, Location where) const {
  if (wanted.rank() < rank())
    throw Error(cat("expand: ", shape(), " has a higher rank than ", wanted), where);
  const std::size_t added = wanted.rank() - rank();
  std::vector<Expr> front(added, Expr(1));
  Tensor result = added == 0 ? *this : move(movement::Reshape{Shape(replaced(shape(), 0, 0, front))}, where);
  for (std::size_t axis = 0; axis < wanted.rank(); ++axis) {
    const Expr& dim = result.shape()[axis];
    const bool stays = (axis >= added && is_constant(wanted[axis], -1)) || dim == wanted[axis];
    if (stays || prove_eq(dim, wanted[axis])) continue;
    if (is_constant(dim, 1)) {
      result = result.move(movement::Expand{axis, wanted[axis]}, where);
      continue;
    }
    if (prove_lt(dim, wanted[axis]) || prove_lt(wanted[axis], dim))
      throw Error(cat("expand: ", shape(), " does not fit ", wanted, " at axis ", axis, ": ", dim,
                      " against ", wanted[axis]),
                  where);
    // Equal for some values of the dims: the reshape checks it.
    result = result.move(movement::Reshape{Shape(replaced(result.shape(), axis, 1, {wanted[axis]}))}, where);
  }
  return result;
}

Tensor Tensor::expand_dim(int axis, const Expr& size, Location where) const {
  const std::size_t at = resolve_axis(axis, rank() + 1, "expand_dim", where);
  return unsqueeze(axis, where).move(movement::Expand{at, size}, where);
}

Tensor Tensor::unsqueeze(int axis, Location where) const {
  const std::size_t at = resolve_axis(axis, rank() + 1, "unsqueeze", where);
  return move(movement::Reshape{Shape(replaced(shape(), at, 0, {1}))}, where);
}

Tensor Tensor::squeeze(int axis, Location where) const {
  const std::size_t at = resolve_axis(axis, rank(), "squeeze", where);
  if (!prove_eq(shape()[at], 1))
    throw Error(cat("squeeze: axis ", at, " of ", shape(), " has ", shape()[at], " elements, expected 1"),
                where);
  return move(movement::Reshape{Shape(replaced(shape(), at, 1, {}))}, where);
}

Tensor Tensor::merge_dims(int first, Location where) const {
  const std::size_t at = resolve_axis(first, rank(), "merge_dims", where);
  if (at + 1 >= rank()) throw Error(cat("merge_dims: axis ", at, " of ", shape(), " is the last one"), where);
  return move(movement::Reshape{Shape(replaced(shape(), at, 2, {shape()[at] * shape()[at + 1]}))}, where);
}

Tensor Tensor::split_dims(int axis, const Expr& inner, Location where) const {
  const std::size_t at = resolve_axis(axis, rank(), "split_dims", where);
  if (prove_le(inner, 0))
    throw Error(cat("split_dims: the inner dim is ", inner, ", expected at least 1"), where);
  const auto length = shape()[at].constant_value();
  if (length && inner.is_constant() && *length % *inner.constant_value() != 0)
    throw Error(cat("split_dims: axis ", at, " of ", shape(), " is not a multiple of ", inner), where);
  return move(movement::Reshape{Shape(replaced(shape(), at, 1, {shape()[at] / inner, inner}))}, where);
}

Tensor Tensor::slice(int axis, const Expr& start, const Expr& end, const Expr& step, Location where) const {
  const std::size_t at = resolve_axis(axis, rank(), "slice", where);
  if (prove_le(step, 0)) throw Error(cat("slice: the step is ", step, ", expected at least 1"), where);
  const Expr& length = shape()[at];
  const Expr from = clamped(start, length);
  const Expr to = clamped(end, length);
  const Expr size = Expr::max(Expr::ceil_div(to - from, step), 0);
  return move(movement::Slice{at, from, size, step}, where);
}

Tensor Tensor::unfold(int axis, const Expr& size, const Expr& stride, const Expr& dilation,
                      Location where) const {
  return move(movement::Unfold{resolve_axis(axis, rank(), "unfold", where), size, stride, dilation}, where);
}

}  // namespace luminal
