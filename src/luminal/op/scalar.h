#pragma once
#include <cstdint>

#include "luminal/op/dtype.h"
#include "luminal/op/op.h"
#include "luminal/support/number.h"

namespace luminal {

/// One element of any dtype: the dtype and its bits, exactly as they lie in memory (little end first), zeros
/// above. A bool is 0 or 1. Two scalars are equal if their bits are.
struct Scalar {
  DType dtype = DType::f32;
  std::uint64_t bits = 0;
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

/// Reads and writes one element of an array in memory, which need not be aligned. Any bool byte but 0 reads
/// as true.
Scalar load(DType dtype, const void* address);
void store(const Scalar& value, void* address);

/// The nearest value of `dtype`, by the rules of `convert`.
Scalar make_scalar(DType dtype, const Number& value);
/// The value as a number of the matching kind (f16 and smaller as real). Exact.
Number to_number(const Scalar& value);
/// Exact for every dtype but large 64-bit integers.
double to_double(const Scalar& value);

/// Conversion between dtypes:
///  - to a float: nearest, ties to even, rounded once; beyond the range ±inf, but NaN for f8e4m3, which has
///    no infinity; from bool 0 or 1;
///  - float to integer: towards zero, saturated at the ends of the range; NaN gives 0;
///  - integer to integer: modulo 2^bits;
///  - to bool: whether it differs from 0 (NaN does).
Scalar convert(const Scalar& value, DType dtype);
/// The same bits under another dtype of the same size (as bool, any but 0 is true); `InternalError` if sizes
/// differ.
Scalar bitcast(const Scalar& value, DType dtype);

/// The meaning of the element-wise ops, on operands of one dtype. f16, bf16 and the 8-bit floats compute in
/// f32 and round once; integers wrap modulo 2^bits. A NaN result is the positive quiet NaN. `InternalError`
/// if the op is not of that arity or does not accept the dtype.
Scalar apply(Op op, const Scalar& a);
/// idiv and mod truncate towards zero, and give 0 for an integer divisor of 0; `div` is the floats' division.
/// max: NaN if either is; pow as C's pow for floats, by repeated multiplication for integers (a negative
/// exponent gives 0 unless the base is ±1); shifts by a negative amount, or by the width or more, give 0 (−1
/// for a negative value shifted right); less and equal give bool.
Scalar apply(Op op, const Scalar& a, const Scalar& b);

/// The neutral element of reduce_* and scan_* in `dtype`: 0, 1, or the lowest value (−inf for floats, but
/// −448 for f8e4m3, which has no infinity).
Scalar neutral(Op op, DType dtype);

}  // namespace luminal
