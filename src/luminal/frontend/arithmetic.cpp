#include <algorithm>

#include "luminal/frontend/graph.h"
#include "luminal/frontend/graph_data.h"
#include "luminal/frontend/tensor.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

DType natural_dtype(const Number& number) {
  if (number.is_real()) return DType::f32;
  return number.kind() == Number::Kind::boolean ? DType::boolean : DType::i64;
}

using Maybe = std::optional<DType>;

DType joined(DType a, DType b, std::string_view operation, Location where) {
  const auto result = promote(a, b);
  if (!result)
    throw Error(cat(operation, ": ", a, " and ", b, " have no common dtype; cast one of them"), where);
  return *result;
}

/// PyTorch's order: a group of lower priority counts only if it is of a higher kind than the group above it.
Maybe combined(Maybe higher, Maybe lower, std::string_view operation, Location where) {
  if (!higher) return lower;
  if (!lower || is_floating(*higher)) return higher;
  if (is_boolean(*higher) || is_floating(*lower)) return joined(*higher, *lower, operation, where);
  return higher;
}

const Tensor* tensor_in(const Operand& operand) {
  return std::get_if<Tensor>(&operand.value);
}

/// The operand as a tensor of `dtype` in the graph of `data`, whatever it was.
Tensor as_tensor(const Operand& operand, GraphData& data, DType dtype, std::string_view operation,
                 Location where) {
  if (const auto* tensor = tensor_in(operand)) {
    data.require_mine(*tensor, operation, where);
    return tensor->dtype() == dtype ? *tensor : tensor->cast(dtype, where);
  }
  if (const auto* number = std::get_if<Number>(&operand.value))
    return data.add(
        {Op::constant, attribute::Constant{make_scalar(dtype, *number)}, {}, {{}, dtype}, {}, {}, where});
  const Expr& expression = std::get<Expr>(operand.value);
  if (const auto known = expression.constant_value())
    return as_tensor(Operand(*known, where), data, dtype, operation, where);
  const Tensor index = data.add({Op::iota, attribute::Iota{expression}, {}, {{}, DType::i64}, {}, {}, where});
  return index.cast(dtype, where);
}

}  // namespace

Shape broadcast_shape(const Shape& a, const Shape& b, std::string_view operation, Location where) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  std::vector<Expr> dims;
  for (std::size_t i = 0; i < rank; ++i) {
    const Expr x = i + a.rank() >= rank ? a[i + a.rank() - rank] : Expr(1);
    const Expr y = i + b.rank() >= rank ? b[i + b.rank() - rank] : Expr(1);
    const bool differ = !(x == Expr(1)) && !(y == Expr(1)) && (prove_lt(x, y) || prove_lt(y, x));
    if (differ)
      throw Error(cat(operation, ": shapes ", a, " and ", b, " do not broadcast at axis ", i, ": ", x,
                      " against ", y),
                  where);
    dims.push_back(x == Expr(1) ? y : x);
  }
  return Shape(std::move(dims));
}

Tensor stretched(const Tensor& tensor, const Shape& shape, Location where) {
  if (tensor.shape() == shape) return tensor;
  std::vector<Expr> dims(shape.begin(), shape.end());
  const std::size_t added = shape.rank() - tensor.rank();
  for (std::size_t i = 0; i < tensor.rank(); ++i)
    if (!(tensor.shape()[i] == Expr(1))) dims[i + added] = tensor.shape()[i];
  return tensor.expand(Shape(std::move(dims)), where);
}

DType result_type(const std::vector<Operand>& operands, std::string_view operation) {
  Maybe dimensioned;
  Maybe scalars;
  Maybe numbers;
  Location where;
  const auto add_to = [&](Maybe& group, DType dtype) {
    group = group ? joined(*group, dtype, operation, where) : dtype;
  };
  for (const auto& operand : operands) {
    where = operand.where;
    if (const auto* tensor = tensor_in(operand))
      add_to(tensor->rank() > 0 ? dimensioned : scalars, tensor->dtype());
    else if (const auto* number = std::get_if<Number>(&operand.value))
      add_to(numbers, natural_dtype(*number));
    else
      add_to(numbers, DType::i64);
  }
  const auto result = combined(dimensioned, combined(scalars, numbers, operation, where), operation, where);
  if (!result) throw Error(cat(operation, ": there is no operand"), where);
  return *result;
}

std::array<Tensor, 2> broadcast(const Operand& a, const Operand& b, std::string_view operation,
                                std::optional<DType> dtype) {
  const Tensor* some = tensor_in(a) != nullptr ? tensor_in(a) : tensor_in(b);
  const Location where = a.where;
  if (some == nullptr) throw Error(cat(operation, ": neither operand is a tensor"), where);
  const auto data = GraphData::of(*some, operation, where);
  const DType chosen = dtype ? *dtype : result_type({a, b}, operation);
  const Tensor x = as_tensor(a, *data, chosen, operation, where);
  const Tensor y = as_tensor(b, *data, chosen, operation, where);
  const Shape shape = broadcast_shape(x.shape(), y.shape(), operation, where);
  return {stretched(x, shape, where), stretched(y, shape, where)};
}

Tensor binary(Op op, const Operand& a, const Operand& b, std::string_view operation) {
  const auto [x, y] = broadcast(a, b, operation);
  const auto data = GraphData::of(x, operation, a.where);
  return data->add(
      {op, {}, {data->live(x, operation, a.where), data->live(y, operation, a.where)}, {}, {}, {}, a.where});
}

Tensor operator+(const Operand& a, const Operand& b) {
  return binary(Op::add, a, b, "add");
}
Tensor operator*(const Operand& a, const Operand& b) {
  return binary(Op::mul, a, b, "mul");
}

Tensor operator-(const Operand& a) {
  const DType dtype = result_type({a}, "neg");
  if (is_boolean(dtype)) throw Error("neg: takes numbers, got bool", a.where);
  return binary(Op::mul, a, Operand(-1, a.where), "neg");
}

Tensor operator-(const Operand& a, const Operand& b) {
  if (is_boolean(result_type({a, b}, "sub"))) throw Error("sub: takes numbers, got bool", a.where);
  const auto [x, y] = broadcast(a, b, "sub");
  return binary(Op::add, Operand(x, a.where), Operand(-Operand(y, a.where), a.where), "sub");
}

Tensor operator/(const Operand& a, const Operand& b) {
  const DType dtype = result_type({a, b}, "div");
  const auto [x, y] = broadcast(a, b, "div", is_floating(dtype) ? dtype : DType::f32);
  return binary(Op::div, Operand(x, a.where), Operand(y, a.where), "div");
}

Tensor& operator+=(Tensor& a, const Operand& b) {
  return a = Operand(a, b.where) + b;
}
Tensor& operator-=(Tensor& a, const Operand& b) {
  return a = Operand(a, b.where) - b;
}
Tensor& operator*=(Tensor& a, const Operand& b) {
  return a = Operand(a, b.where) * b;
}
Tensor& operator/=(Tensor& a, const Operand& b) {
  return a = Operand(a, b.where) / b;
}

Tensor Tensor::unary(Op op, Location where) const {
  const auto data = GraphData::of(*this, luminal::name(op), where);
  return data->add({op, {}, {data->live(*this, luminal::name(op), where)}, {}, {}, {}, where});
}

Tensor Tensor::cast(DType dtype, Location where) const {
  if (dtype == dtype_) return *this;
  const auto data = GraphData::of(*this, "cast", where);
  return data->add({Op::cast, {}, {data->live(*this, "cast", where)}, {{}, dtype}, {}, {}, where});
}

Tensor Tensor::as_dtype(DType dtype, Location where) const {
  if (dtype == dtype_) return *this;
  const auto data = GraphData::of(*this, "as_dtype", where);
  return data->add({Op::bitcast, {}, {data->live(*this, "as_dtype", where)}, {{}, dtype}, {}, {}, where});
}

}  // namespace luminal
