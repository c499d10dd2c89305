#include "luminal/frontend/compare.h"

#include <cmath>
#include <limits>

#include "luminal/frontend/formula.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

Term truth(const Tensor& x, Location where) {
  return {x.cast(DType::boolean, where), where};
}

/// Both sides as bools of one shape.
std::array<Term, 2> truths(const Operand& a, const Operand& b, std::string_view operation) {
  const auto [x, y] = broadcast(a, b, operation, DType::boolean);
  return {Term(x, a.where), Term(y, a.where)};
}

Tensor bitwise(Op op, const Operand& a, const Operand& b, std::string_view operation) {
  const DType dtype = result_type({a, b}, operation);
  if (!accepts(op, dtype))
    throw Error(cat(operation, ": takes ", describe(row(op).domain), " elements, got ", dtype), a.where);
  return binary(op, a, b, operation);
}

}  // namespace

Tensor lt(const Operand& a, const Operand& b) {
  return binary(Op::less, a, b, "lt");
}
Tensor gt(const Operand& a, const Operand& b) {
  const auto [x, y] = broadcast(a, b, "gt");
  return Term(y, a.where) < Term(x, a.where);
}
Tensor le(const Operand& a, const Operand& b) {
  const auto [x, y] = broadcast(a, b, "le");
  const Term left(x, a.where);
  const Term right(y, a.where);
  if (!is_floating(x.dtype())) return !(right < left);
  return (left < right) | (left == right);
}
Tensor ge(const Operand& a, const Operand& b) {
  const auto [x, y] = broadcast(a, b, "ge");
  const Term left(x, a.where);
  const Term right(y, a.where);
  if (!is_floating(x.dtype())) return !(left < right);
  return (right < left) | (left == right);
}
Tensor eq(const Operand& a, const Operand& b) {
  return binary(Op::equal, a, b, "eq");
}
Tensor ne(const Operand& a, const Operand& b) {
  return !Term(binary(Op::equal, a, b, "ne"), a.where);
}

Tensor operator<(const Operand& a, const Operand& b) {
  return lt(a, b);
}
Tensor operator>(const Operand& a, const Operand& b) {
  return gt(a, b);
}
Tensor operator<=(const Operand& a, const Operand& b) {
  return le(a, b);
}
Tensor operator>=(const Operand& a, const Operand& b) {
  return ge(a, b);
}

Tensor logical_and(const Operand& a, const Operand& b) {
  const auto [x, y] = truths(a, b, "logical_and");
  return x & y;
}
Tensor logical_or(const Operand& a, const Operand& b) {
  const auto [x, y] = truths(a, b, "logical_or");
  return x | y;
}
Tensor logical_xor(const Operand& a, const Operand& b) {
  const auto [x, y] = truths(a, b, "logical_xor");
  return x ^ y;
}
Tensor logical_not(const Tensor& x, Location where) {
  return !truth(x, where);
}

Tensor bit_and(const Operand& a, const Operand& b) {
  return bitwise(Op::bit_and, a, b, "bit_and");
}
Tensor bit_or(const Operand& a, const Operand& b) {
  return bitwise(Op::bit_or, a, b, "bit_or");
}
Tensor bit_xor(const Operand& a, const Operand& b) {
  return bitwise(Op::bit_xor, a, b, "bit_xor");
}
Tensor shift_left(const Operand& a, const Operand& b) {
  return bitwise(Op::shift_left, a, b, "shift_left");
}
Tensor shift_right(const Operand& a, const Operand& b) {
  return bitwise(Op::shift_right, a, b, "shift_right");
}
Tensor bit_not(const Tensor& x, Location where) {
  if (is_boolean(x.dtype())) return !Term(x, where);
  return bit_xor(Operand(x, where), Operand(-1, where));
}
Tensor operator&(const Operand& a, const Operand& b) {
  return bit_and(a, b);
}
Tensor operator|(const Operand& a, const Operand& b) {
  return bit_or(a, b);
}
Tensor operator^(const Operand& a, const Operand& b) {
  return bit_xor(a, b);
}

Tensor maximum(const Operand& a, const Operand& b) {
  return binary(Op::max, a, b, "maximum");
}

// The largest of the opposites: of floats the negatives, of integers, unsigned ones too, the complements.
Tensor minimum(const Operand& a, const Operand& b) {
  const auto [x, y] = broadcast(a, b, "minimum");
  const Term left(x, a.where);
  const Term right(y, a.where);
  if (is_floating(x.dtype())) return -maximum(-left, -right);
  if (is_boolean(x.dtype())) return left & right;
  return maximum(left ^ -1, right ^ -1) ^ -1;
}

namespace {

/// `x` where it is on the right side of the bound, else the bound; a NaN on either side stays. The gradient
/// of an element on its bound goes to the element, as in PyTorch.
Term bounded(const Term& x, const Operand& bound, bool low) {
  const Term limit(bound);
  const auto* number = std::get_if<Number>(&bound.value);
  if (number != nullptr && number->is_real() && std::isnan(number->real())) return x * 0.0 + limit;
  const Term outside = low ? x < limit : limit < x;
  const bool may_be_nan = number == nullptr && std::holds_alternative<Tensor>(bound.value) &&
                          is_floating(std::get<Tensor>(bound.value).dtype());
  return select(may_be_nan ? outside | is_nan(limit) : outside, limit, x);
}

}  // namespace

Tensor clip(const Tensor& x, const Bound& low, const Bound& high, Location where) {
  require_numbers(x, "clip", where);
  if (!low.operand && !high.operand) throw Error("clip: needs at least one bound", where);
  std::vector<Operand> operands = {Operand(x, where)};
  if (low.operand) operands.push_back(*low.operand);
  if (high.operand) operands.push_back(*high.operand);
  Term result(x.cast(result_type(operands, "clip"), where), where);
  const auto at_line = [&](Operand bound) {
    bound.where = where;
    return bound;
  };
  if (low.operand) result = bounded(result, at_line(*low.operand), true);
  if (high.operand) result = bounded(result, at_line(*high.operand), false);
  return result;
}

Tensor where(const Tensor& condition, const Operand& yes, const Operand& no, Location line) {
  if (!is_boolean(condition.dtype()))
    throw Error(cat("where: the condition is ", TensorType{condition.shape(), condition.dtype()},
                    ", expected bool elements"),
                line);
  const DType dtype = result_type({yes, no}, "where");
  const auto as_tensor = [&](const Operand& side) -> Tensor {
    if (const auto* tensor = std::get_if<Tensor>(&side.value)) return tensor->cast(dtype, line);
    if (const auto* number = std::get_if<Number>(&side.value))
      return constant_like(condition, *number, dtype, line);
    return iota_like(condition, std::get<Expr>(side.value), {}, DType::i64, line).cast(dtype, line);
  };
  const Tensor a = as_tensor(yes);
  const Tensor b = as_tensor(no);
  const Shape shape =
      broadcast_shape(condition.shape(), broadcast_shape(a.shape(), b.shape(), "where", line), "where", line);
  return node(Op::select,
              {stretched(condition, shape, line), stretched(a, shape, line), stretched(b, shape, line)}, {},
              "where", line);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Operand& value) {
  const Location line = value.where;
  if (!is_boolean(mask.dtype()))
    throw Error(
        cat("masked_fill: the mask is ", TensorType{mask.shape(), mask.dtype()}, ", expected bool elements"),
        line);
  if (const auto* tensor = std::get_if<Tensor>(&value.value)) {
    if (tensor->rank() != 0)
      throw Error(cat("masked_fill: the value has shape ", tensor->shape(), ", expected a scalar"), line);
    return where(mask, Operand(tensor->cast(x.dtype(), line), line), Operand(x, line), line);
  }
  const auto [filled, like] = broadcast(value, Operand(x, line), "masked_fill", x.dtype());
  return where(mask, Operand(filled, line), Operand(like, line), line);
}

}  // namespace luminal
