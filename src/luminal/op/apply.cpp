// The meaning of the element-wise ops: one row an op in each table, checked at compile time against the op
// table.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "luminal/op/op_table.h"
#include "luminal/op/scalar.h"
#include "luminal/op/scalar_bits.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

template <typename T>
using Unary = T (*)(T);
template <typename T>
using Binary = T (*)(T, T);
template <typename T>
using Comparison = bool (*)(T, T);

template <typename Function>
struct Row {
  Op op;
  Function meaning;
};

// ------------------------------------------------------------------------------------------------- unary, on
// floats

// On f64. For f32 the exact operand goes through the same functions and the result is rounded to f32: that
// makes it the correctly rounded one but for about one operand in 2^28, and as portable as a C library's f64
// functions are.
constexpr Row<Unary<double>> unary_rows[] = {
    {Op::exp2, [](double x) { return std::exp2(x); }},
    {Op::log2, [](double x) { return std::log2(x); }},
    {Op::sin, [](double x) { return std::sin(x); }},
    {Op::cos, [](double x) { return std::cos(x); }},
    {Op::atan, [](double x) { return std::atan(x); }},
    {Op::erf, [](double x) { return std::erf(x); }},
    {Op::log1p, [](double x) { return std::log1p(x); }},
    {Op::expm1, [](double x) { return std::expm1(x); }},
    {Op::sqrt, [](double x) { return std::sqrt(x); }},
    {Op::recip, [](double x) { return 1 / x; }},
    {Op::floor, [](double x) { return std::floor(x); }},
    {Op::round, [](double x) { return std::nearbyint(x); }},
};

// ------------------------------------------------------------------------------------------------ binary, on
// floats

template <std::floating_point T>
T larger(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

template <std::floating_point T>
constexpr Row<Binary<T>> float_rows[] = {
    {Op::add, [](T a, T b) { return a + b; }},
    {Op::mul, [](T a, T b) { return a * b; }},
    {Op::div, [](T a, T b) { return a / b; }},
    {Op::idiv, [](T a, T b) { return std::trunc(a / b); }},
    {Op::mod, [](T a, T b) { return std::fmod(a, b); }},
    // As for the unary functions: in f64, then rounded.
    {Op::pow, [](T a, T b) { return static_cast<T>(std::pow(double{a}, double{b})); }},
    {Op::max, larger<T>},
};

// ---------------------------------------------------------------------------------------------- binary, on
// integers

// Arithmetic is unsigned and 64 bits wide, where wrapping is defined and no operand is promoted to int; its
// low bits are those of the result.
template <std::integral T>
constexpr std::uint64_t wide(T value) {
  return static_cast<std::uint64_t>(value);
}

template <std::integral T>
constexpr bool is_minus_one(T value) {
  return std::is_signed_v<T> && value == static_cast<T>(-1);
}

template <std::integral T>
T quotient(T a, T b) {
  if (b == 0) return 0;
  if (is_minus_one(b)) return static_cast<T>(0 - wide(a));  // the lowest value has no negative: it wraps
  return static_cast<T>(a / b);
}

template <std::integral T>
T remainder(T a, T b) {
  if (b == 0 || is_minus_one(b)) return 0;
  return static_cast<T>(a % b);
}

template <std::integral T>
T power(T base, T exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (is_minus_one(base)) return exponent % 2 == 0 ? T{1} : base;
    return 0;
  }
  std::uint64_t result = 1;
  std::uint64_t square = wide(base);
  for (std::uint64_t left = wide(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

/// Whether a shift by `amount` moves every bit out: so do negative amounts, which are huge as unsigned ones.
template <std::integral T>
bool moves_all_out(T amount) {
  return wide(amount) >= 8 * sizeof(T);
}

template <std::integral T>
T left_shifted(T value, T amount) {
  if (moves_all_out(amount)) return 0;
  return static_cast<T>(wide(value) << amount);
}

template <std::integral T>
T right_shifted(T value, T amount) {
  if (moves_all_out(amount)) return value < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(value >> amount);
}

template <std::integral T>
constexpr Row<Binary<T>> integer_rows[] = {
    {Op::add, [](T a, T b) { return static_cast<T>(wide(a) + wide(b)); }},
    {Op::mul, [](T a, T b) { return static_cast<T>(wide(a) * wide(b)); }},
    {Op::idiv, quotient<T>},
    {Op::mod, remainder<T>},
    {Op::pow, power<T>},
    {Op::max, [](T a, T b) { return std::max(a, b); }},
    {Op::bit_and, [](T a, T b) { return static_cast<T>(a & b); }},
    {Op::bit_or, [](T a, T b) { return static_cast<T>(a | b); }},
    {Op::bit_xor, [](T a, T b) { return static_cast<T>(a ^ b); }},
    {Op::shift_left, left_shifted<T>},
    {Op::shift_right, right_shifted<T>},
};

// -------------------------------------------------------------------------------------- binary, on bool;
// comparisons

constexpr Row<Binary<bool>> boolean_rows[] = {
    {Op::add, [](bool a, bool b) { return a || b; }},    {Op::mul, [](bool a, bool b) { return a && b; }},
    {Op::max, [](bool a, bool b) { return a || b; }},    {Op::bit_and, [](bool a, bool b) { return a && b; }},
    {Op::bit_or, [](bool a, bool b) { return a || b; }}, {Op::bit_xor, [](bool a, bool b) { return a != b; }},
};

template <typename T>
constexpr Row<Comparison<T>> comparison_rows[] = {
    {Op::less, [](T a, T b) { return a < b; }},
    {Op::equal, [](T a, T b) { return a == b; }},
};

// --------------------------------------------------------------------------------------------- lookup and
// dispatch

template <typename Function>
using ByOp = std::array<Function, op_count>;

/// The rows' functions, at the index of their op, and null where the op takes no such dtype. Does not compile
/// unless the rows are exactly the ops that the op table says.
template <typename Function, std::size_t count>
consteval ByOp<Function> by_op(const Row<Function> (&rows)[count], OpKind op_kind, DTypeKind operands,
                               bool boolean_result) {
  ByOp<Function> functions{};
  std::array<bool, op_count> given{};
  for (const auto& r : rows) {
    const auto index = static_cast<std::size_t>(r.op);
    if (given[index]) throw "two rows for one op";
    functions[index] = r.meaning;
    given[index] = true;
  }
  for (const OpRow& r : op_table) {
    const bool wanted =
        r.kind == op_kind && r.boolean_result == boolean_result && contains(r.domain, operands);
    if (wanted != given[static_cast<std::size_t>(r.op)]) throw "a row is missing, or one too many";
  }
  return functions;
}

template <typename T>
constexpr DTypeKind kind_of = std::is_same_v<T, bool>  ? DTypeKind::boolean
                              : std::floating_point<T> ? DTypeKind::floating
                              : std::is_signed_v<T>    ? DTypeKind::signed_integer
                                                       : DTypeKind::unsigned_integer;

template <typename T>
consteval ByOp<Binary<T>> binary_functions() {
  if constexpr (std::is_same_v<T, bool>) {
    return by_op(boolean_rows, OpKind::binary, kind_of<T>, false);
  } else if constexpr (std::floating_point<T>) {
    return by_op(float_rows<T>, OpKind::binary, kind_of<T>, false);
  } else {
    return by_op(integer_rows<T>, OpKind::binary, kind_of<T>, false);
  }
}

constexpr auto unary_of = by_op(unary_rows, OpKind::unary, DTypeKind::floating, false);
template <typename T>
constexpr auto binary_of = binary_functions<T>();
template <typename T>
constexpr auto comparison_of = by_op(comparison_rows<T>, OpKind::binary, kind_of<T>, true);

[[noreturn]] void refuse(Op op, DType dtype) {
  throw InternalError(cat("apply: ", op, " has no such element-wise meaning on ", dtype));
}

/// `T` is the type in which `dtype` computes, and `read` and `write` go between the two.
template <typename T, typename Read, typename Write>
Scalar binary(Op op, const Scalar& a, const Scalar& b, Read read, Write write) {
  const auto index = static_cast<std::size_t>(op);
  if (const auto compare = comparison_of<T>[index])
    return scalar_of(DType::boolean, compare(read(a), read(b)));
  const auto combine = binary_of<T>[index];
  if (combine == nullptr) refuse(op, a.dtype);
  return write(combine(read(a), read(b)));
}

template <typename T>
Scalar binary(Op op, const Scalar& a, const Scalar& b) {
  return binary<T>(op, a, b, value_of<T>, [&](T value) { return scalar_of(a.dtype, value); });
}

Scalar binary_in_f32(Op op, const Scalar& a, const Scalar& b) {
  const auto read = [](const Scalar& s) { return static_cast<float>(to_double(s)); };
  return binary<float>(op, a, b, read, [&](float value) { return make_scalar(a.dtype, value); });
}

}  // namespace

Scalar apply(Op op, const Scalar& a) {
  const auto function = unary_of[static_cast<std::size_t>(op)];
  if (function == nullptr || !is_floating(a.dtype)) refuse(op, a.dtype);
  const double value = function(to_double(a));
  if (a.dtype == DType::f64) return scalar_of(a.dtype, value);
  const Scalar in_f32 = scalar_of(DType::f32, static_cast<float>(value));
  return convert(in_f32, a.dtype);
}

Scalar apply(Op op, const Scalar& a, const Scalar& b) {
  if (a.dtype != b.dtype) throw InternalError(cat("apply: ", op, " on ", a.dtype, " and ", b.dtype));
  switch (a.dtype) {
    case DType::f64:
      return binary<double>(op, a, b);
    case DType::f32:
      return binary<float>(op, a, b);
    case DType::f16:
    case DType::bf16:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return binary_in_f32(op, a, b);
    case DType::i64:
      return binary<std::int64_t>(op, a, b);
    case DType::i32:
      return binary<std::int32_t>(op, a, b);
    case DType::i16:
      return binary<std::int16_t>(op, a, b);
    case DType::i8:
      return binary<std::int8_t>(op, a, b);
    case DType::u64:
      return binary<std::uint64_t>(op, a, b);
    case DType::u32:
      return binary<std::uint32_t>(op, a, b);
    case DType::u16:
      return binary<std::uint16_t>(op, a, b);
    case DType::u8:
      return binary<std::uint8_t>(op, a, b);
    case DType::boolean:
      return binary<bool>(op, a, b);
  }
  throw InternalError("apply: not a dtype");
}

}  // namespace luminal
