#pragma once
#include "luminal/frontend/tensor.h"

namespace luminal {

// Comparison, logic and choice, as the PyTorch functions of the same names. Both sides broadcast and are
// brought to one dtype; numbers and symbolic expressions may stand on one of them.

/// Comparisons give bool, and all but `ne` are false for NaN.
Tensor lt(const Operand& a, const Operand& b);
Tensor gt(const Operand& a, const Operand& b);
Tensor le(const Operand& a, const Operand& b);
Tensor ge(const Operand& a, const Operand& b);
Tensor eq(const Operand& a, const Operand& b);
Tensor ne(const Operand& a, const Operand& b);
/// Of any dtypes: what differs from 0 is true.
Tensor logical_and(const Operand& a, const Operand& b);
Tensor logical_or(const Operand& a, const Operand& b);
Tensor logical_xor(const Operand& a, const Operand& b);
Tensor logical_not(const Tensor& x, Location where = Location::current());
/// Of integers and bools. PyTorch: bitwise_and, bitwise_left_shift …; shifts as docs/dtypes.md defines them.
Tensor bit_and(const Operand& a, const Operand& b);
Tensor bit_or(const Operand& a, const Operand& b);
Tensor bit_xor(const Operand& a, const Operand& b);
Tensor shift_left(const Operand& a, const Operand& b);
Tensor shift_right(const Operand& a, const Operand& b);
Tensor bit_not(const Tensor& x, Location where = Location::current());
/// NaN if either side is.
Tensor maximum(const Operand& a, const Operand& b);
Tensor minimum(const Operand& a, const Operand& b);
/// Between two bounds, numbers or tensors; either may be absent (std::nullopt). Where the bounds cross,
/// `high`. PyTorch: clamp.
Tensor clip(const Tensor& x, const Bound& low, const Bound& high, Location where = Location::current());
/// `yes` where the condition, a bool, is true, `no` elsewhere.
Tensor where(const Tensor& condition, const Operand& yes, const Operand& no,
             Location line = Location::current());
/// `x` with `value` where the mask is true, in the dtype of `x`.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Operand& value);

}  // namespace luminal
