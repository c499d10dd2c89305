#include "luminal/frontend/formula.h"

#include <algorithm>
#include <numbers>

#include "luminal/frontend/compare.h"
#include "luminal/frontend/graph.h"
#include "luminal/frontend/graph_data.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

Location line_of(const Term& a, const Term& b) {
  return a.where().known() ? a.where() : b.where();
}

Operand at(const Term& term, Location where) {
  Operand operand = term.operand();
  operand.where = where;
  return operand;
}

}  // namespace

const Tensor& Term::tensor() const {
  const auto* tensor = std::get_if<Tensor>(&operand_.value);
  if (tensor == nullptr) throw InternalError("a term of a formula is no tensor");
  return *tensor;
}

Term apply(Op op, const Term& a, const Term& b) {
  const Location where = line_of(a, b);
  return {binary(op, at(a, where), at(b, where), name(op)), where};
}
Term apply(Op op, const Term& a) {
  return {a.tensor().unary(op, a.where()), a.where()};
}

Term operator+(const Term& a, const Term& b) {
  return apply(Op::add, a, b);
}
Term operator*(const Term& a, const Term& b) {
  return apply(Op::mul, a, b);
}
Term operator-(const Term& a, const Term& b) {
  const Location where = line_of(a, b);
  return {at(a, where) - at(b, where), where};
}
Term operator/(const Term& a, const Term& b) {
  const Location where = line_of(a, b);
  return {at(a, where) / at(b, where), where};
}
Term operator-(const Term& a) {
  return {-a.operand(), a.where()};
}
Term operator<(const Term& a, const Term& b) {
  return apply(Op::less, a, b);
}
Term operator==(const Term& a, const Term& b) {
  return apply(Op::equal, a, b);
}
Term not_less(const Term& a, const Term& b) {
  const Location where = line_of(a, b);
  return {at(a, where) >= at(b, where), where};
}
Term operator&(const Term& a, const Term& b) {
  return apply(Op::bit_and, a, b);
}
Term operator|(const Term& a, const Term& b) {
  return apply(Op::bit_or, a, b);
}
Term operator^(const Term& a, const Term& b) {
  return apply(Op::bit_xor, a, b);
}
Term operator!(const Term& a) {
  return a ^ Term(true);
}
Term maximum(const Term& a, const Term& b) {
  return apply(Op::max, a, b);
}
Term minimum(const Term& a, const Term& b) {
  const Location where = line_of(a, b);
  return {minimum(at(a, where), at(b, where)), where};
}
Term select(const Term& condition, const Term& yes, const Term& no) {
  const Location where = condition.where();
  return {luminal::where(condition.tensor(), at(yes, where), at(no, where), where), where};
}

Term exp(const Term& x) {
  return apply(Op::exp2, x * std::numbers::log2e);
}
Term log(const Term& x) {
  return apply(Op::log2, x) * std::numbers::ln2;
}

// On both sides of 0 only what is small is exponentiated, chosen by select and not by |x|, whose gradient at
// 0 is 0.
Term sigmoid(const Term& x) {
  const Term negative = x < 0;
  const Term decay = exp(select(negative, x, -x));
  return select(negative, decay, 1.0) / (1.0 + decay);
}
Term tanh(const Term& x) {
  const Term negative = x < 0;
  const Term less_one = apply(Op::expm1, 2.0 * select(negative, x, -x));
  const Term below = less_one / (less_one + 2.0);
  return select(negative, below, -below);
}
Term sqrt_or_zero(const Term& x) {
  const Term zero = x == 0;
  return select(zero, 0.0, apply(Op::sqrt, select(zero, 1.0, x)));
}
Term abs(const Term& x) {
  return maximum(x, -x);
}
Term is_nan(const Term& x) {
  return !(x == x);
}

Term sign_bit(const Term& x) {
  const std::size_t bytes = byte_size(x.dtype());
  const DType bits = bytes == 8 ? DType::i64 : bytes == 4 ? DType::i32 : bytes == 2 ? DType::i16 : DType::i8;
  return Term(x.tensor().as_dtype(bits, x.where()), x.where()) < 0;
}

Term reduce(Op op, const Term& x, const std::vector<std::size_t>& axes, bool keep_dims, bool first_tie) {
  const Shape& shape = x.shape();
  std::vector<std::size_t> order;
  std::vector<Expr> kept;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const bool goes = std::binary_search(axes.begin(), axes.end(), i);
    if (!goes) order.push_back(i);
    if (!goes || keep_dims) kept.push_back(goes ? Expr(1) : shape[i]);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  const Tensor moved = x.tensor().move(movement::Permute{std::move(order)}, x.where());
  const Tensor result =
      node(op, {moved}, attribute::Reduce{static_cast<std::uint32_t>(axes.size()), first_tie}, name(op),
           x.where());
  return {keep_dims ? result.reshape(Shape(std::move(kept)), x.where()) : result, x.where()};
}

Term sum(const Term& x, const std::vector<std::size_t>& axes, bool keep_dims) {
  return reduce(Op::reduce_sum, x, axes, keep_dims);
}

Expr count_of(const Shape& shape, const std::vector<std::size_t>& axes) {
  Expr count = 1;
  for (const auto axis : axes) count = count * shape[axis];
  return count;
}

Expr count_of(const Shape& shape, Location where) {
  try {
    return shape.element_count();
  } catch (const Error& error) {
    throw Error(error.problem(), where);
  }
}

namespace {

DType visible_dtype(DType dtype) {
  return is_floating(dtype) ? dtype : DType::f32;
}

}  // namespace

Wide::Wide(const Tensor& tensor, Location where)
    : x(tensor.cast(compute_dtype(visible_dtype(tensor.dtype())), where), where),
      dtype(visible_dtype(tensor.dtype())) {}

void require_floating(const Tensor& tensor, std::string_view operation, Location where) {
  if (!is_floating(tensor.dtype()))
    throw Error(cat(operation, ": takes floats, got ", tensor.dtype(), "; cast it first"), where);
}

void require_numbers(const Tensor& tensor, std::string_view operation, Location where) {
  if (is_boolean(tensor.dtype())) throw Error(cat(operation, ": takes numbers, got bool"), where);
}

Tensor node(Op op, const std::vector<Tensor>& inputs, Attribute attribute, std::string_view operation,
            Location where) {
  const auto data = GraphData::of(inputs.at(0), operation, where);
  NewNode added;
  added.op = op;
  added.attribute = std::move(attribute);
  added.where = where;
  for (const auto& input : inputs) added.inputs.push_back(data->live(input, operation, where));
  return data->add(std::move(added));
}

Tensor constant_like(const Tensor& like, const Number& value, DType dtype, Location where) {
  return like.graph(where).constant(value, dtype, where);
}

Tensor iota_like(const Tensor& like, const Expr& value, const Shape& shape, DType dtype, Location where) {
  return like.graph(where).iota(value, shape, dtype, where);
}

Tensor positions(const Tensor& like, std::size_t rank, std::size_t axis, const Expr& size, Location where) {
  std::vector<Expr> dims(rank, Expr(1));
  dims[axis] = size;
  return iota_like(like, Expr::coordinate(axis, size), Shape(std::move(dims)), DType::i64, where);
}

Tensor axis_last(const Tensor& x, std::size_t axis, Location where) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (i != axis) order.push_back(i);
  order.push_back(axis);
  return x.move(movement::Permute{std::move(order)}, where);
}

Tensor axis_back(const Tensor& x, std::size_t axis, Location where) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i + 1 < x.rank(); ++i) order.push_back(i);
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(axis), x.rank() - 1);
  return x.move(movement::Permute{std::move(order)}, where);
}

std::vector<Expr> replaced_dims(const Shape& shape, std::size_t first, std::size_t count,
                                const std::vector<Expr>& by) {
  std::vector<Expr> dims(shape.begin(), shape.end());
  const auto from = dims.begin() + static_cast<std::ptrdiff_t>(first);
  dims.erase(from, from + static_cast<std::ptrdiff_t>(count));
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(first), by.begin(), by.end());
  return dims;
}

}  // namespace luminal
