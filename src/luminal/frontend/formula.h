#pragma once
#include "luminal/frontend/tensor.h"

namespace luminal {

/// A side of a formula inside the library: a tensor and the user's line, or a number that takes its line from
/// the other side. Operators carry the line on, so every node of a composite names the call that asked for
/// it. Internal to the library: whatever it builds for a user (layers, losses, updates) is written in terms.
class Term {
 public:
  Term(const Tensor& tensor, Location where) : operand_(tensor, where) {}
  Term(const Operand& operand) : operand_(operand) {}
  template <Element T>
  Term(T number) : operand_(number, Location()) {}
  Term(const Expr& expression) : operand_(expression, Location()) {}

  const Operand& operand() const { return operand_; }
  Location where() const { return operand_.where; }
  /// `InternalError` if this is a number.
  const Tensor& tensor() const;
  operator Tensor() const { return tensor(); }
  const Shape& shape() const { return tensor().shape(); }
  std::size_t rank() const { return tensor().rank(); }
  DType dtype() const { return tensor().dtype(); }

  Term cast(DType dtype) const { return {tensor().cast(dtype, where()), where()}; }
  Term reshape(const Shape& shape) const { return {tensor().reshape(shape, where()), where()}; }
  Term unsqueeze(int axis) const { return {tensor().unsqueeze(axis, where()), where()}; }
  Term sum(const Axes& axes = Axes::all(), bool keep_dims = false) const {
    return {tensor().sum(axes, keep_dims, where()), where()};
  }
  Term stop_gradient() const { return {tensor().stop_gradient(where()), where()}; }

 private:
  Operand operand_;
};

/// Terms at one line of the user's: `at(x) * at(y) + 1.0`.
struct Line {
  Location where;
  Term operator()(const Tensor& tensor) const { return {tensor, where}; }
};

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator*(const Term& a, const Term& b);
Term operator/(const Term& a, const Term& b);
Term operator-(const Term& a);
Term operator<(const Term& a, const Term& b);
Term operator==(const Term& a, const Term& b);
/// a ≥ b.
Term not_less(const Term& a, const Term& b);
/// On bools and integers.
Term operator&(const Term& a, const Term& b);
Term operator|(const Term& a, const Term& b);
Term operator^(const Term& a, const Term& b);
/// Of a bool.
Term operator!(const Term& a);
Term maximum(const Term& a, const Term& b);
Term minimum(const Term& a, const Term& b);
Term select(const Term& condition, const Term& yes, const Term& no);
/// An element-wise op of the table.
Term apply(Op op, const Term& a);
Term apply(Op op, const Term& a, const Term& b);
/// e to the power x as exp2(x · log2 e): the form whose algebra the compiler knows.
Term exp(const Term& x);
Term log(const Term& x);
Term tanh(const Term& x);
Term sigmoid(const Term& x);
/// The square root, with a gradient of 0 at 0, as PyTorch's norms have.
Term sqrt_or_zero(const Term& x);
/// max(x, −x).
Term abs(const Term& x);
Term is_nan(const Term& x);
/// Whether the sign bit is set: also of −0 and of a negative NaN.
Term sign_bit(const Term& x);
/// A reduction in the dtype of its input. The axes count from 0 and ascend.
/// `first_tie`: see attribute::Reduce.
Term reduce(Op op, const Term& x, const std::vector<std::size_t>& axes, bool keep_dims,
            bool first_tie = false);
Term sum(const Term& x, const std::vector<std::size_t>& axes, bool keep_dims);
/// The product of the sizes of these axes.
Expr count_of(const Shape& shape, const std::vector<std::size_t>& axes);
/// The number of elements; `Error` at this line if it leaves 63 bits.
Expr count_of(const Shape& shape, Location where);

/// The operand of a floating-point function as the function computes it: integers and bools as f32, narrow
/// floats widened to f32. `finish` rounds to the dtype that the caller sees.
struct Wide {
  Wide(const Tensor& tensor, Location where);
  Tensor finish(const Term& result) const { return result.cast(dtype); }
  Term x;
  DType dtype;
};

/// `Error` unless the tensor holds floats.
void require_floating(const Tensor& tensor, std::string_view operation, Location where);
/// `Error` if the tensor holds bools.
void require_numbers(const Tensor& tensor, std::string_view operation, Location where);

/// The node of this op on these tensors.
Tensor node(Op op, const std::vector<Tensor>& inputs, Attribute attribute, std::string_view operation,
            Location where);
/// A constant of the graph of `like`.
Tensor constant_like(const Tensor& like, const Number& value, DType dtype, Location where);
/// An iota of the graph of `like`.
Tensor iota_like(const Tensor& like, const Expr& value, const Shape& shape, DType dtype, Location where);
/// The coordinate along `axis` as an i64 tensor of shape [1 …, size, … 1], of this rank.
Tensor positions(const Tensor& like, std::size_t rank, std::size_t axis, const Expr& size, Location where);

/// `axis` moved to the end, and back.
Tensor axis_last(const Tensor& x, std::size_t axis, Location where);
Tensor axis_back(const Tensor& x, std::size_t axis, Location where);

inline bool is_value(const Expr& e, std::int64_t value) {
  return e.constant_value() == value;
}
/// The shape with `count` dims from `first` on replaced.
std::vector<Expr> replaced_dims(const Shape& shape, std::size_t first, std::size_t count,
                                const std::vector<Expr>& by);

}  // namespace luminal
