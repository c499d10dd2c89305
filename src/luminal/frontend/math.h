#pragma once
#include "luminal/frontend/tensor.h"

namespace luminal {

// Functions of each element, as the PyTorch functions of the same names. Those with fractional results take
// integers and bools too and give f32; narrow floats compute in f32 and round once. Composites keep their
// gradients finite wherever PyTorch's are.

/// |x|; the lowest integer stays itself.
Tensor abs(const Tensor& x, Location where = Location::current());
/// -1, 0 or 1, and 0 of NaN; of a bool, itself.
Tensor sign(const Tensor& x, Location where = Location::current());
/// -x; unsigned integers wrap.
Tensor neg(const Tensor& x, Location where = Location::current());
/// 1/x.
Tensor reciprocal(const Tensor& x, Location where = Location::current());
/// x².
Tensor square(const Tensor& x, Location where = Location::current());
Tensor sqrt(const Tensor& x, Location where = Location::current());
/// 1/√x.
Tensor rsqrt(const Tensor& x, Location where = Location::current());
/// e to the power x, as exp2(x · log2 e): the relative error grows to |x| · 1e-7 in f32.
Tensor exp(const Tensor& x, Location where = Location::current());
/// 2 to the power x.
Tensor exp2(const Tensor& x, Location where = Location::current());
/// The natural logarithm: -inf at 0, NaN below.
Tensor log(const Tensor& x, Location where = Location::current());
Tensor log2(const Tensor& x, Location where = Location::current());
Tensor log10(const Tensor& x, Location where = Location::current());
/// log(1 + x), accurate near 0.
Tensor log1p(const Tensor& x, Location where = Location::current());
/// exp(x) - 1, accurate near 0.
Tensor expm1(const Tensor& x, Location where = Location::current());
Tensor sin(const Tensor& x, Location where = Location::current());
Tensor cos(const Tensor& x, Location where = Location::current());
Tensor tan(const Tensor& x, Location where = Location::current());
/// NaN outside [-1, 1].
Tensor asin(const Tensor& x, Location where = Location::current());
/// NaN outside [-1, 1].
Tensor acos(const Tensor& x, Location where = Location::current());
Tensor atan(const Tensor& x, Location where = Location::current());
Tensor sinh(const Tensor& x, Location where = Location::current());
Tensor cosh(const Tensor& x, Location where = Location::current());
Tensor tanh(const Tensor& x, Location where = Location::current());
/// The error function.
Tensor erf(const Tensor& x, Location where = Location::current());
/// To whole numbers; integers stay as they are.
Tensor floor(const Tensor& x, Location where = Location::current());
Tensor ceil(const Tensor& x, Location where = Location::current());
/// To the nearest whole number, ties to even.
Tensor round(const Tensor& x, Location where = Location::current());
/// Towards zero.
Tensor trunc(const Tensor& x, Location where = Location::current());
/// Whether it is NaN; false for integers.
Tensor isnan(const Tensor& x, Location where = Location::current());
Tensor isinf(const Tensor& x, Location where = Location::current());
Tensor isfinite(const Tensor& x, Location where = Location::current());

/// The angle of the point (x, y) in [-π, π], signed zeros and infinities as in C.
Tensor atan2(const Operand& y, const Operand& x);
/// base to the power exponent. Integers give integers: they wrap, and 1/aⁿ is cut towards zero. `Error` for
/// an integer tensor to the power of a negative number, as in PyTorch.
Tensor pow(const Operand& base, const Operand& exponent);
/// The remainder with the sign of `a`; of integers by 0, 0.
Tensor fmod(const Operand& a, const Operand& b);
/// The remainder with the sign of `b`, as Python's %; of integers by 0, 0.
Tensor remainder(const Operand& a, const Operand& b);
/// ⌊a / b⌋ in the dtype of the operands; of integers by 0, 0.
Tensor floor_divide(const Operand& a, const Operand& b);

}  // namespace luminal
