#pragma once
#include "luminal/op/op.h"

namespace luminal {

/// The vocabulary, one row an op in the order of the enum. In a header so that other tables (the scalar
/// meaning) can check at compile time that they miss no op; everyone else asks `row`.
inline constexpr std::array<OpRow, op_count> op_table = {{
    // clang-format off: a table
    {Op::input, "input", OpKind::source, 0, Domain::any, false, false,
     "An array that the caller gives before each run."},
    {Op::state, "state", OpKind::source, 0, Domain::any, false, false,
     "An array that outlives a run: what it was assigned in one run it holds in the next."},
    {Op::constant, "constant", OpKind::source, 0, Domain::any, false, false,
     "One number, the same at every coordinate."},
    {Op::iota, "iota", OpKind::source, 0, Domain::any, false, false,
     "The value of an index expression at each coordinate, converted from i64."},
    {Op::random, "random", OpKind::source, 1, Domain::any, false, false,
     "Element i in row-major order is 32-bit word i of the Philox4x32-10 sequence of the input, a key, and a stream, as u32."},

    {Op::exp2, "exp2", OpKind::unary, 1, Domain::floating, false, false,
     "2 to the power x."},
    {Op::log2, "log2", OpKind::unary, 1, Domain::floating, false, false,
     "The logarithm to base 2: -inf at ±0, NaN below."},
    {Op::sin, "sin", OpKind::unary, 1, Domain::floating, false, false,
     "The sine of x radians: NaN at ±inf."},
    {Op::cos, "cos", OpKind::unary, 1, Domain::floating, false, false,
     "The cosine of x radians: NaN at ±inf."},
    {Op::atan, "atan", OpKind::unary, 1, Domain::floating, false, false,
     "The angle in [-π/2, π/2] whose tangent is x."},
    {Op::erf, "erf", OpKind::unary, 1, Domain::floating, false, false,
     "The error function 2/√π ∫₀ˣ exp(-t²) dt: ±1 at ±inf."},
    {Op::log1p, "log1p", OpKind::unary, 1, Domain::floating, false, false,
     "ln(1 + x), accurate near 0: -inf at -1, NaN below."},
    {Op::expm1, "expm1", OpKind::unary, 1, Domain::floating, false, false,
     "e to the power x, less 1, accurate near 0."},
    {Op::sqrt, "sqrt", OpKind::unary, 1, Domain::floating, false, false,
     "The square root, correctly rounded: -0 at -0, NaN below."},
    {Op::recip, "recip", OpKind::unary, 1, Domain::floating, false, false,
     "1/x, correctly rounded: ±inf at ±0."},
    {Op::floor, "floor", OpKind::unary, 1, Domain::floating, false, false,
     "The largest whole number not above x; integers are whole already and need no op."},
    {Op::round, "round", OpKind::unary, 1, Domain::floating, false, false,
     "The nearest whole number, ties to even; integers are whole already and need no op."},

    {Op::add, "add", OpKind::binary, 2, Domain::any, false, true,
     "a + b; on bool, or."},
    {Op::mul, "mul", OpKind::binary, 2, Domain::any, false, true,
     "a · b; on bool, and."},
    {Op::div, "div", OpKind::binary, 2, Domain::floating, false, false,
     "a / b, correctly rounded: ±inf by zero, NaN for 0/0; integers divide with idiv."},
    {Op::idiv, "idiv", OpKind::binary, 2, Domain::number, false, false,
     "The quotient a / b truncated towards zero; an integer divided by 0 gives 0."},
    {Op::mod, "mod", OpKind::binary, 2, Domain::number, false, false,
     "The remainder of the truncated division, with the sign of a: C's fmod and %; an integer mod 0 gives 0."},
    {Op::pow, "pow", OpKind::binary, 2, Domain::number, false, false,
     "a to the power b: C's pow on floats; integers multiply and wrap, and 1/aⁿ truncates towards zero."},
    {Op::max, "max", OpKind::binary, 2, Domain::any, false, true,
     "The larger; NaN if either is NaN; +0 of +0 and -0; on bool, or."},
    {Op::less, "less", OpKind::binary, 2, Domain::any, true, false,
     "Whether a < b: false if either is NaN; false < true."},
    {Op::equal, "equal", OpKind::binary, 2, Domain::any, true, true,
     "Whether a = b: NaN equals nothing, and -0 equals +0."},
    {Op::bit_and, "bit_and", OpKind::binary, 2, Domain::integer_or_bool, false, true,
     "The bits set in both."},
    {Op::bit_or, "bit_or", OpKind::binary, 2, Domain::integer_or_bool, false, true,
     "The bits set in either."},
    {Op::bit_xor, "bit_xor", OpKind::binary, 2, Domain::integer_or_bool, false, true,
     "The bits set in one but not the other."},
    {Op::shift_left, "shift_left", OpKind::binary, 2, Domain::integer, false, false,
     "a · 2ᵇ modulo 2^bits; 0 if b is negative or at least the width."},
    {Op::shift_right, "shift_right", OpKind::binary, 2, Domain::integer, false, false,
     "⌊a / 2ᵇ⌋; a negative b shifts like one of at least the width: 0, or -1 for a negative a."},

    {Op::select, "select", OpKind::select, 3, Domain::any, false, false,
     "Where the first input, a bool, is true, the second; elsewhere the third."},
    {Op::cast, "cast", OpKind::convert, 1, Domain::any, false, false,
     "The nearest value of another dtype, by the rules of `convert`."},
    {Op::bitcast, "bitcast", OpKind::convert, 1, Domain::any, false, false,
     "The same bits under another dtype of the same size."},

    {Op::reduce_sum, "reduce_sum", OpKind::reduce, 1, Domain::any, false, false,
     "The sum over the last axes by `add`; 0 where they are empty."},
    {Op::reduce_max, "reduce_max", OpKind::reduce, 1, Domain::any, false, false,
     "The maximum over the last axes by `max`; the dtype's lowest value where they are empty."},
    {Op::reduce_prod, "reduce_prod", OpKind::reduce, 1, Domain::any, false, false,
     "The product over the last axes by `mul`; 1 where they are empty."},

    {Op::gather, "gather", OpKind::gather, 2, Domain::any, false, false,
     "The elements of the first input at the positions that the second, of integers, names."},
    {Op::scatter, "scatter", OpKind::scatter, 3, Domain::any, false, false,
     "The first input with the elements at the positions in the second replaced by the third's."},
    {Op::scatter_add, "scatter_add", OpKind::scatter, 3, Domain::any, false, false,
     "The first input with the third's elements added at the positions in the second, repeated ones as often."},
    {Op::scan_sum, "scan_sum", OpKind::scan, 1, Domain::any, false, false,
     "Each element becomes the sum of those up to and including it along an axis."},
    {Op::scan_max, "scan_max", OpKind::scan, 1, Domain::any, false, false,
     "Each element becomes the maximum of those up to and including it along an axis."},
    {Op::scan_prod, "scan_prod", OpKind::scan, 1, Domain::any, false, false,
     "Each element becomes the product of those up to and including it along an axis."},
    {Op::sort, "sort", OpKind::sort, 1, Domain::any, false, false,
     "The elements along an axis in order, equal ones as they stood, NaN above all numbers."},

    {Op::contiguous, "contiguous", OpKind::structure, 1, Domain::any, false, false,
     "The same values, laid out in row-major order."},
    {Op::barrier, "barrier", OpKind::structure, 1, Domain::any, false, false,
     "The same values, across which nothing is fused or rewritten."},
    {Op::stop_gradient, "stop_gradient", OpKind::structure, 1, Domain::any, false, false,
     "The same values, through which no gradient flows back."},
    {Op::print, "print", OpKind::structure, 1, Domain::any, false, false,
     "Shows a sample of the values to the caller's sink when the graph runs; has no output."},
    {Op::diff, "diff", OpKind::structure, 1, Domain::any, false, false,
     "Compares the values with a file when the graph runs, and tells the caller's sink; has no output."},
    {Op::custom, "custom", OpKind::structure, -1, Domain::any, false, false,
     "What a function or kernel of the user computes from the inputs."},
    // clang-format on
}};

consteval bool row_k_describes_op_k() {
  for (std::size_t k = 0; k < op_count; ++k) {
    if (op_table[k].op != static_cast<Op>(k) || op_table[k].name.empty() || op_table[k].meaning.empty())
      return false;
  }
  return true;
}
static_assert(row_k_describes_op_k(), "the table holds one row an op, in the order of the enum");

/// Whether an op of this domain takes dtypes of this kind.
constexpr bool contains(Domain domain, DTypeKind kind) {
  const bool floating = kind == DTypeKind::floating;
  const bool boolean = kind == DTypeKind::boolean;
  switch (domain) {
    case Domain::any:
      return true;
    case Domain::floating:
      return floating;
    case Domain::number:
      return !boolean;
    case Domain::integer:
      return !floating && !boolean;
    case Domain::integer_or_bool:
      return !floating;
  }
  return false;
}

}  // namespace luminal
