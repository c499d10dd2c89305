#include "luminal/frontend/index.h"

#include "luminal/frontend/compare.h"
#include "luminal/frontend/formula.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

void require_index(const Tensor& index, std::string_view operation, Location where) {
  if (!is_integer(index.dtype()))
    throw Error(cat(operation, ": the index is ", TensorType{index.shape(), index.dtype()},
                    ", expected integer elements"),
                where);
}

void require_rank(const Tensor& x, const Tensor& other, std::string_view what, std::string_view operation,
                  Location where) {
  if (x.rank() != other.rank())
    throw Error(cat(operation, ": ", what, " of shape ", other.shape(), " has rank ", other.rank(),
                    ", the tensor ", x.shape(), " has rank ", x.rank()),
                where);
}

/// The first elements of `x` along each axis but one, as many as `like` has.
Tensor cut_to(const Tensor& x, const Shape& like, std::optional<std::size_t> except, std::string_view what,
              std::string_view operation, Location where) {
  Tensor result = x;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (i == except || prove_eq(x.shape()[i], like[i])) continue;
    if (prove_lt(x.shape()[i], like[i]))
      throw Error(cat(operation, ": the index of shape ", like, " exceeds ", what, " of shape ", x.shape(),
                      " at axis ", i, ": ", like[i], " against ", x.shape()[i]),
                  where);
    result = result.move(movement::Slice{i, 0, like[i], 1}, where);
  }
  return result;
}

Attribute at_axis(std::size_t axis) {
  return attribute::Axis{static_cast<std::uint32_t>(axis)};
}

/// A scalar with one axis, so that an axis can be named; `after` takes it away again.
struct Raised {
  Raised(const Tensor& x, Location where) : tensor(x.rank() == 0 ? x.unsqueeze(0, where) : x) {}
  Tensor tensor;
};

}  // namespace

Tensor gather(const Tensor& x, int axis, const Tensor& index, Location where) {
  require_index(index, "gather", where);
  require_rank(x, index, "the index", "gather", where);
  const Tensor source = Raised(x, where).tensor;
  const Tensor place = Raised(index, where).tensor;
  const std::size_t at = resolve_axis(axis, source.rank(), "gather", where);
  const Tensor fitting = cut_to(source, place.shape(), at, "the tensor", "gather", where);
  return node(Op::gather, {fitting, place}, at_axis(at), "gather", where).reshape(index.shape(), where);
}

namespace {

Tensor scattered(Op op, const Tensor& x, int axis, const Tensor& index, const Tensor& source,
                 std::string_view operation, Location where) {
  require_index(index, operation, where);
  require_rank(x, index, "the index", operation, where);
  require_rank(x, source, "the source", operation, where);
  if (source.dtype() != x.dtype())
    throw Error(cat(operation, ": the tensor is ", x.dtype(), ", the source ", source.dtype()), where);
  const Tensor target = Raised(x, where).tensor;
  const Tensor place = Raised(index, where).tensor;
  const Tensor given = Raised(source, where).tensor;
  const std::size_t at = resolve_axis(axis, target.rank(), operation, where);
  for (std::size_t i = 0; i < target.rank(); ++i)
    if (i != at && prove_lt(target.shape()[i], place.shape()[i]))
      throw Error(cat(operation, ": the index of shape ", place.shape(), " exceeds the tensor of shape ",
                      target.shape(), " at axis ", i, ": ", place.shape()[i], " against ", target.shape()[i]),
                  where);
  const Tensor fitting = cut_to(given, place.shape(), std::nullopt, "the source", operation, where);
  return node(op, {target, place, fitting}, at_axis(at), operation, where).reshape(x.shape(), where);
}

/// Numbers and scalars as a tensor of this dtype and shape.
Tensor filled(const Operand& value, const Tensor& like, DType dtype, const Shape& shape,
              std::string_view operation, Location where) {
  if (const auto* tensor = std::get_if<Tensor>(&value.value)) {
    const Shape common = broadcast_shape(tensor->shape(), shape, operation, where);
    if (common.rank() != shape.rank())
      throw Error(cat(operation, ": values of shape ", tensor->shape(), " do not fit ", shape), where);
    return stretched(tensor->cast(dtype, where), shape, where);
  }
  if (const auto* number = std::get_if<Number>(&value.value))
    return stretched(constant_like(like, *number, dtype, where), shape, where);
  return stretched(iota_like(like, std::get<Expr>(value.value), {}, DType::i64, where).cast(dtype, where),
                   shape, where);
}

}  // namespace

Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Operand& source, Location where) {
  if (const auto* tensor = std::get_if<Tensor>(&source.value))
    return scattered(Op::scatter, x, axis, index, *tensor, "scatter", where);
  require_index(index, "scatter", where);
  return scattered(Op::scatter, x, axis, index, filled(source, x, x.dtype(), index.shape(), "scatter", where),
                   "scatter", where);
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& source, Location where) {
  return scattered(Op::scatter_add, x, axis, index, source, "scatter_add", where);
}

Tensor index_select(const Tensor& x, int axis, const Tensor& index, Location where) {
  require_index(index, "index_select", where);
  if (index.rank() > 1)
    throw Error(cat("index_select: takes a vector of positions, got shape ", index.shape()), where);
  const Tensor source = Raised(x, where).tensor;
  const Tensor places = Raised(index, where).tensor;
  const std::size_t at = resolve_axis(axis, source.rank(), "index_select", where);
  std::vector<Expr> line(source.rank(), Expr(1));
  line[at] = places.shape()[0];
  const Shape shape(replaced_dims(source.shape(), at, 1, {places.shape()[0]}));
  const Tensor everywhere = stretched(places.reshape(Shape(std::move(line)), where), shape, where);
  const Tensor result = node(Op::gather, {source, everywhere}, at_axis(at), "index_select", where);
  return x.rank() == 0 ? result.reshape({}, where) : result;
}

Tensor embedding(const Tensor& index, const Tensor& weight, Location where) {
  require_index(index, "embedding", where);
  if (weight.rank() != 2)
    throw Error(cat("embedding: takes a matrix of weights, got shape ", weight.shape()), where);
  const Expr count = count_of(index.shape(), where);
  const Tensor rows = index_select(weight, 0, index.reshape({count}, where), where);
  std::vector<Expr> dims(index.shape().begin(), index.shape().end());
  dims.push_back(weight.shape()[1]);
  return rows.reshape(Shape(std::move(dims)), where);
}

Tensor one_hot(const Tensor& index, const Expr& classes, Location where) {
  require_index(index, "one_hot", where);
  if (prove_lt(classes, 1))
    throw Error(cat("one_hot: the number of classes is ", classes, ", expected at least 1"), where);
  const std::size_t rank = index.rank() + 1;
  const Term place(positions(index, rank, rank - 1, classes, where), where);
  const Term wanted(index.cast(DType::i64, where).unsqueeze(-1, where), where);
  return (place == wanted).cast(DType::i64);
}

Tensor take_along_axis(const Tensor& x, const Tensor& index, int axis, Location where) {
  require_index(index, "take_along_axis", where);
  require_rank(x, index, "the index", "take_along_axis", where);
  const std::size_t at = resolve_axis(axis, x.rank(), "take_along_axis", where);
  // Along the axis the two are independent; along the others they broadcast.
  const Shape others_x(replaced_dims(x.shape(), at, 1, {1}));
  const Shape others_index(replaced_dims(index.shape(), at, 1, {1}));
  const Shape common = broadcast_shape(others_x, others_index, "take_along_axis", where);
  const Tensor source = stretched(x, Shape(replaced_dims(common, at, 1, {x.shape()[at]})), where);
  const Tensor place = stretched(index, Shape(replaced_dims(common, at, 1, {index.shape()[at]})), where);
  return node(Op::gather, {source, place}, at_axis(at), "take_along_axis", where);
}

namespace {

/// The flat position that indices into the first axes name; negative ones count from the end.
Term flat_position(const Tensor& x, const std::vector<Tensor>& indices, Location where) {
  std::optional<Term> flat;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    require_index(indices[i], "index_put", where);
    const Expr& length = x.shape()[i];
    const Term given(indices[i].cast(DType::i64, where), where);
    const Term counted = select(given < 0, given + Term(length), given);
    flat = flat ? *flat * Term(length) + counted : counted;
  }
  return *flat;
}

}  // namespace

Tensor index_put(const Tensor& x, const std::vector<Tensor>& indices, const Operand& values, bool accumulate,
                 Location where) {
  if (indices.empty() || indices.size() > x.rank())
    throw Error(cat("index_put: ", indices.size(), " indices for a tensor of rank ", x.rank()), where);
  const Term flat = flat_position(x, indices, where);
  Expr rows = 1;
  for (std::size_t i = 0; i < indices.size(); ++i) rows = rows * x.shape()[i];
  const auto inner_begin = x.shape().begin() + static_cast<std::ptrdiff_t>(indices.size());
  const std::vector<Expr> inner(inner_begin, x.shape().end());
  const Expr width = count_of(Shape(inner), where);
  std::vector<Expr> value_dims(flat.shape().begin(), flat.shape().end());
  value_dims.insert(value_dims.end(), inner.begin(), inner.end());
  const Tensor source = filled(values, x, x.dtype(), Shape(value_dims), "index_put", where);
  const Expr count = count_of(flat.shape(), where);
  const Tensor place = stretched(flat.reshape({count, 1}), Shape({count, width}), where);
  const Op op = accumulate ? Op::scatter_add : Op::scatter;
  const Tensor result =
      node(op, {x.reshape({rows, width}, where), place, source.reshape({count, width}, where)}, at_axis(0),
           "index_put", where);
  return result.reshape(x.shape(), where);
}

}  // namespace luminal
