#include <algorithm>

#include "luminal/frontend/formula.h"
#include "luminal/frontend/movement.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// An axis `times` times, one after the other.
Tensor repeated(const Tensor& x, std::size_t axis, const Expr& times, Location where) {
  if (is_value(times, 1)) return x;
  const int at = static_cast<int>(axis);
  return x.expand_dim(at, times, where).merge_dims(at, where);
}

Tensor repeated_all(const Tensor& x, std::vector<Expr> times, std::string_view operation, Location where) {
  for (const auto& count : times)
    if (prove_lt(count, 0))
      throw Error(cat(operation, ": a count is ", count, ", expected at least 0"), where);
  Tensor result = x;
  while (result.rank() < times.size()) result = result.unsqueeze(0, where);
  for (std::size_t axis = 0; axis < times.size(); ++axis) result = repeated(result, axis, times[axis], where);
  return result;
}

}  // namespace

Tensor squeeze(const Tensor& x, Location where) {
  std::vector<Expr> dims;
  for (const auto& dim : x.shape())
    if (!prove_eq(dim, 1)) dims.push_back(dim);
  return x.reshape(Shape(std::move(dims)), where);
}

Tensor flatten(const Tensor& x, int first, int last, Location where) {
  if (x.rank() == 0) return x.reshape({1}, where);
  const std::size_t from = resolve_axis(first, x.rank(), "flatten", where);
  const std::size_t to = resolve_axis(last, x.rank(), "flatten", where);
  if (from > to) throw Error(cat("flatten: axis ", from, " stands after axis ", to), where);
  Expr count = 1;
  for (std::size_t i = from; i <= to; ++i) count = count * x.shape()[i];
  return x.reshape(Shape(replaced_dims(x.shape(), from, to - from + 1, {count})), where);
}

Tensor flip(const Tensor& x, const Axes& axes, Location where) {
  Tensor result = x;
  for (const auto axis : axes.resolve(x.rank(), "flip", where))
    result = result.move(movement::Flip{axis}, where);
  return result;
}

Tensor repeat(const Tensor& x, const std::vector<Expr>& times, Location where) {
  if (times.size() < x.rank())
    throw Error(cat("repeat: ", times.size(), " counts for a tensor of rank ", x.rank()), where);
  return repeated_all(x, times, "repeat", where);
}

Tensor tile(const Tensor& x, const std::vector<Expr>& times, Location where) {
  std::vector<Expr> all = times;
  while (all.size() < x.rank()) all.insert(all.begin(), Expr(1));
  return repeated_all(x, std::move(all), "tile", where);
}

// Two copies one after the other hold every rotation as a slice.
Tensor roll(const Tensor& x, const Expr& shift, int axis, Location where) {
  const std::size_t at = resolve_axis(axis, x.rank(), "roll", where);
  const Expr& length = x.shape()[at];
  if (is_value(length, 0)) return x;
  const Tensor twice = repeated(x, at, 2, where);
  // An axis that may be empty has nothing to move, and no remainder by its length.
  const Expr start = (-shift) % Expr::max(length, 1);
  return twice.move(movement::Slice{at, start, length, 1}, where);
}

Tensor pad(const Tensor& x, int axis, const Expr& before, const Expr& after, const Number& fill,
           Location where) {
  const std::size_t at = resolve_axis(axis, x.rank(), "pad", where);
  const Expr& length = x.shape()[at];
  const auto cut = [](const Expr& count) { return prove_lt(count, 0) ? -count : Expr(0); };
  if (prove_lt(length, cut(before) + cut(after)))
    throw Error(cat("pad: cuts ", cut(before) + cut(after), " elements off axis ", at, " of ", x.shape()),
                where);
  Tensor result = x;
  if (prove_lt(before, 0) || prove_lt(after, 0))
    result = result.move(movement::Slice{at, cut(before), length - cut(before) - cut(after), 1}, where);
  const auto grow = [](const Expr& count) { return prove_lt(count, 0) ? Expr(0) : count; };
  return result.move(movement::Pad{at, grow(before), grow(after), fill}, where);
}

Tensor pad(const Tensor& x, int axis, const Expr& before, const Expr& after, PadMode mode, Location where) {
  const std::size_t at = resolve_axis(axis, x.rank(), "pad", where);
  const Expr& length = x.shape()[at];
  for (const auto& count : {before, after}) {
    if (prove_lt(count, 0)) throw Error(cat("pad: a count is ", count, ", expected at least 0"), where);
    if (mode == PadMode::reflect && prove_le(length, count))
      throw Error(
          cat("pad: reflects ", count, " elements of axis ", at, " of ", x.shape(), ", which has ", length),
          where);
  }
  if (is_value(length, 0)) throw Error(cat("pad: axis ", at, " of ", x.shape(), " is empty"), where);
  const Expr size = before + length + after;
  const Expr place = Expr::coordinate(at, size) - before;
  const auto magnitude = [](const Expr& e) { return Expr::max(e, -e); };
  const Expr source = mode == PadMode::edge ? Expr::max(Expr::min(place, length - 1), 0)
                                            : length - 1 - magnitude(length - 1 - magnitude(place));
  const Shape shape(replaced_dims(x.shape(), at, 1, {size}));
  const Tensor index = iota_like(x, source, shape, DType::i64, where);
  return node(Op::gather, {x, index}, attribute::Axis{static_cast<std::uint32_t>(at)}, "pad", where);
}

namespace {

/// [first, last) of tensors of one dtype and rank. Halves are joined, so that many tensors are not chained.
Tensor joined(const std::vector<Tensor>& tensors, std::size_t first, std::size_t last, std::size_t axis,
              Location where) {
  if (last - first == 1) return tensors[first];
  const std::size_t middle = first + (last - first) / 2;
  const Tensor a = joined(tensors, first, middle, axis, where);
  const Tensor b = joined(tensors, middle, last, axis, where);
  const Expr size_a = a.shape()[axis];
  const Expr size_b = b.shape()[axis];
  const Tensor place = positions(a, a.rank(), axis, size_a + size_b, where);
  const Term in_a = Term(place, where) < Term(size_a);
  return select(in_a, Term(a.move(movement::Pad{axis, 0, size_b, 0}, where), where),
                Term(b.move(movement::Pad{axis, size_a, 0, 0}, where), where));
}

}  // namespace

Tensor concat(const std::vector<Tensor>& tensors, int axis, Location where) {
  if (tensors.empty()) throw Error("concat: takes at least one tensor", where);
  const Tensor& first = tensors[0];
  const std::size_t at = resolve_axis(axis, first.rank(), "concat", where);
  std::vector<Operand> operands;
  for (const auto& tensor : tensors) {
    operands.emplace_back(tensor, where);
    if (tensor.rank() != first.rank())
      throw Error(cat("concat: shapes ", first.shape(), " and ", tensor.shape(),
                      " have different ranks: ", first.rank(), " against ", tensor.rank()),
                  where);
    for (std::size_t i = 0; i < first.rank(); ++i) {
      const Expr& x = first.shape()[i];
      const Expr& y = tensor.shape()[i];
      if (i != at && (prove_lt(x, y) || prove_lt(y, x)))
        throw Error(cat("concat: shapes ", first.shape(), " and ", tensor.shape(), " differ at axis ", i,
                        ": ", x, " against ", y),
                    where);
    }
  }
  const DType dtype = result_type(operands, "concat");
  std::vector<Tensor> same;
  for (const auto& tensor : tensors) same.push_back(tensor.cast(dtype, where));
  return joined(same, 0, same.size(), at, where);
}

Tensor stack(const std::vector<Tensor>& tensors, int axis, Location where) {
  if (tensors.empty()) throw Error("stack: takes at least one tensor", where);
  const std::size_t at = resolve_axis(axis, tensors[0].rank() + 1, "stack", where);
  std::vector<Tensor> raised;
  for (const auto& tensor : tensors) {
    if (tensor.rank() != tensors[0].rank())
      throw Error(cat("stack: shapes ", tensors[0].shape(), " and ", tensor.shape(),
                      " have different ranks: ", tensors[0].rank(), " against ", tensor.rank()),
                  where);
    raised.push_back(tensor.unsqueeze(static_cast<int>(at), where));
  }
  return concat(raised, static_cast<int>(at), where);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<Expr>& sizes, int axis, Location where) {
  const std::size_t at = resolve_axis(axis, x.rank(), "split", where);
  Expr total = 0;
  for (const auto& size : sizes) total = total + size;
  const Expr& length = x.shape()[at];
  if (prove_lt(total, length) || prove_lt(length, total))
    throw Error(cat("split: sizes [", join(sizes), "] add up to ", total, ", axis ", at, " of ", x.shape(),
                    " has ", length),
                where);
  // Equal for some values of the dims: the reshape checks it.
  const Tensor whole =
      prove_eq(total, length)
          ? x
          : x.move(movement::Reshape{Shape(replaced_dims(x.shape(), at, 1, {total}))}, where);
  std::vector<Tensor> parts;
  Expr start = 0;
  for (const auto& size : sizes) {
    parts.push_back(whole.move(movement::Slice{at, start, size, 1}, where));
    start = start + size;
  }
  return parts;
}

std::vector<Tensor> split(const Tensor& x, std::int64_t size, int axis, Location where) {
  const std::size_t at = resolve_axis(axis, x.rank(), "split", where);
  const auto length = x.shape()[at].constant_value();
  if (!length)
    throw Error(cat("split: axis ", at, " of ", x.shape(), " has no known length; give the sizes"), where);
  if (size <= 0) throw Error(cat("split: the size is ", size, ", expected at least 1"), where);
  std::vector<Expr> sizes;
  for (std::int64_t start = 0; start < *length || sizes.empty(); start += size)
    sizes.emplace_back(std::min(size, *length - start));
  return split(x, sizes, axis, where);
}

std::vector<Tensor> chunk(const Tensor& x, int count, int axis, Location where) {
  const std::size_t at = resolve_axis(axis, x.rank(), "chunk", where);
  if (count <= 0) throw Error(cat("chunk: the number of parts is ", count, ", expected at least 1"), where);
  const Expr& length = x.shape()[at];
  const auto known = length.constant_value();
  if (known && *known > 0) return split(x, (*known + count - 1) / count, axis, where);
  return split(x, std::vector<Expr>(static_cast<std::size_t>(count), length / count), axis, where);
}

namespace {

/// Whether row + diagonal < column, at each place of the last two axes.
Term right_of(const Tensor& x, const Expr& diagonal, std::string_view operation, Location where) {
  if (x.rank() < 2)
    throw Error(cat(operation, ": takes tensors of rank 2 or more, got shape ", x.shape()), where);
  const Term row(positions(x, x.rank(), x.rank() - 2, x.shape()[x.rank() - 2], where), where);
  const Term column(positions(x, x.rank(), x.rank() - 1, x.shape()[x.rank() - 1], where), where);
  return row + Term(diagonal) < column;
}

}  // namespace

Tensor tril(const Tensor& x, const Expr& diagonal, Location where) {
  const Term zero(constant_like(x, 0, x.dtype(), where), where);
  return select(right_of(x, diagonal, "tril", where), zero, Term(x, where));
}

Tensor triu(const Tensor& x, const Expr& diagonal, Location where) {
  const Term zero(constant_like(x, 0, x.dtype(), where), where);
  return select(right_of(x, diagonal - 1, "triu", where), Term(x, where), zero);
}

// Both axes merged: the diagonal is a slice with a step of one row and one column.
Tensor diagonal(const Tensor& x, int offset, int first, int second, Location where) {
  if (x.rank() < 2)
    throw Error(cat("diagonal: takes tensors of rank 2 or more, got shape ", x.shape()), where);
  const std::size_t a = resolve_axis(first, x.rank(), "diagonal", where);
  const std::size_t b = resolve_axis(second, x.rank(), "diagonal", where);
  if (a == b) throw Error(cat("diagonal: axis ", a, " is given twice"), where);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (i != a && i != b) order.push_back(i);
  order.push_back(a);
  order.push_back(b);
  const Expr rows = x.shape()[a];
  const Expr columns = x.shape()[b];
  const Expr size =
      Expr::max(offset >= 0 ? Expr::min(rows, columns - offset) : Expr::min(rows + offset, columns), 0);
  const Tensor moved = x.move(movement::Permute{std::move(order)}, where);
  const std::size_t last = moved.rank() - 1;
  const Shape merged(replaced_dims(moved.shape(), last - 1, 2, {rows * columns}));
  if (is_value(size, 0)) return moved.reshape(merged, where).move(movement::Slice{last - 1, 0, 0, 1}, where);
  const Expr start = offset >= 0 ? Expr(offset) : -offset * columns;
  return moved.reshape(merged, where).move(movement::Slice{last - 1, start, size, columns + 1}, where);
}

}  // namespace luminal
