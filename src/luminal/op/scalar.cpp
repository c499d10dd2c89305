#include "luminal/op/scalar.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "luminal/op/scalar_bits.h"
#include "luminal/op/small_float.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

static_assert(std::endian::native == std::endian::little,
              "load and store copy the low bytes of Scalar::bits");
static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<float>::is_iec559);

/// The bounds are compared as doubles, which hold both exactly: 2^63 − 1 would not be.
template <std::integral T>
T saturated(double value) {
  using Limits = std::numeric_limits<T>;
  const double low = static_cast<double>(Limits::min());
  const double beyond = std::ldexp(1.0, Limits::digits);
  if (std::isnan(value)) return 0;
  if (value < low) return Limits::min();
  if (value >= beyond) return Limits::max();
  return static_cast<T>(value);
}

template <std::integral T, typename Source>
T to_integer(Source value) {
  if constexpr (std::is_same_v<Source, double>) {
    return saturated<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

/// The nearest scalar to a double, an i64 or a u64: what every value of every dtype is exactly.
template <typename Source>
Scalar nearest(Source value, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return scalar_of(dtype, static_cast<double>(value));
    case DType::f32:
      return scalar_of(dtype, static_cast<float>(value));
    case DType::f16:
      return {dtype, encode(f16_format, value)};
    case DType::bf16:
      return {dtype, encode(bf16_format, value)};
    case DType::f8e4m3:
      return {dtype, encode(f8e4m3_format, value)};
    case DType::f8e5m2:
      return {dtype, encode(f8e5m2_format, value)};
    case DType::i64:
      return scalar_of(dtype, to_integer<std::int64_t>(value));
    case DType::i32:
      return scalar_of(dtype, to_integer<std::int32_t>(value));
    case DType::i16:
      return scalar_of(dtype, to_integer<std::int16_t>(value));
    case DType::i8:
      return scalar_of(dtype, to_integer<std::int8_t>(value));
    case DType::u64:
      return scalar_of(dtype, to_integer<std::uint64_t>(value));
    case DType::u32:
      return scalar_of(dtype, to_integer<std::uint32_t>(value));
    case DType::u16:
      return scalar_of(dtype, to_integer<std::uint16_t>(value));
    case DType::u8:
      return scalar_of(dtype, to_integer<std::uint8_t>(value));
    case DType::boolean:
      return scalar_of(dtype, value != 0);
  }
  throw InternalError("nearest: not a dtype");
}

Scalar lowest(DType dtype) {
  switch (dtype) {
    case DType::f8e4m3:
      return make_scalar(dtype, -448.0);
    case DType::i64:
      return scalar_of(dtype, std::numeric_limits<std::int64_t>::min());
    case DType::i32:
      return scalar_of(dtype, std::numeric_limits<std::int32_t>::min());
    case DType::i16:
      return scalar_of(dtype, std::numeric_limits<std::int16_t>::min());
    case DType::i8:
      return scalar_of(dtype, std::numeric_limits<std::int8_t>::min());
    case DType::u64:
    case DType::u32:
    case DType::u16:
    case DType::u8:
    case DType::boolean:
      return {dtype, 0};
    case DType::f64:
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::f8e5m2:
      return make_scalar(dtype, -std::numeric_limits<double>::infinity());
  }
  throw InternalError("lowest: not a dtype");
}

}  // namespace

Scalar load(DType dtype, const void* address) {
  Scalar value{dtype, 0};
  std::memcpy(&value.bits, address, byte_size(dtype));
  if (is_boolean(dtype)) value.bits = value.bits != 0 ? 1 : 0;
  return value;
}

void store(const Scalar& value, void* address) {
  std::memcpy(address, &value.bits, byte_size(value.dtype));
}

Scalar make_scalar(DType dtype, const Number& value) {
  switch (value.kind()) {
    case Number::Kind::boolean:
      return convert({DType::boolean, value.natural()}, dtype);
    case Number::Kind::integer:
      return convert({DType::i64, value.natural()}, dtype);
    case Number::Kind::natural:
      return convert({DType::u64, value.natural()}, dtype);
    case Number::Kind::real:
      return convert({DType::f64, std::bit_cast<std::uint64_t>(value.real())}, dtype);
  }
  throw InternalError("make_scalar: not a kind of number");
}

Number to_number(const Scalar& value) {
  switch (row(value.dtype).kind) {
    case DTypeKind::boolean:
      return value.bits != 0;
    case DTypeKind::unsigned_integer:
      return value.bits;
    case DTypeKind::signed_integer:
      return value_of<std::int64_t>(convert(value, DType::i64));
    case DTypeKind::floating:
      return to_double(value);
  }
  throw InternalError("to_number: not a kind of dtype");
}

double to_double(const Scalar& value) {
  const auto small = static_cast<std::uint16_t>(value.bits);
  switch (value.dtype) {
    case DType::f64:
      return value_of<double>(value);
    case DType::f32:
      return value_of<float>(value);
    case DType::f16:
      return decode(f16_format, small);
    case DType::bf16:
      return decode(bf16_format, small);
    case DType::f8e4m3:
      return decode(f8e4m3_format, small);
    case DType::f8e5m2:
      return decode(f8e5m2_format, small);
    case DType::i64:
      return static_cast<double>(value_of<std::int64_t>(value));
    case DType::i32:
      return value_of<std::int32_t>(value);
    case DType::i16:
      return value_of<std::int16_t>(value);
    case DType::i8:
      return value_of<std::int8_t>(value);
    case DType::u64:
    case DType::u32:
    case DType::u16:
    case DType::u8:
    case DType::boolean:
      return static_cast<double>(value.bits);
  }
  throw InternalError("to_double: not a dtype");
}

Scalar convert(const Scalar& value, DType dtype) {
  if (value.dtype == dtype) return value;
  switch (value.dtype) {
    case DType::f64:
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return nearest(to_double(value), dtype);
    case DType::i64:
      return nearest(value_of<std::int64_t>(value), dtype);
    case DType::i32:
      return nearest(std::int64_t{value_of<std::int32_t>(value)}, dtype);
    case DType::i16:
      return nearest(std::int64_t{value_of<std::int16_t>(value)}, dtype);
    case DType::i8:
      return nearest(std::int64_t{value_of<std::int8_t>(value)}, dtype);
    case DType::u64:
    case DType::u32:
    case DType::u16:
    case DType::u8:
    case DType::boolean:
      return nearest(value.bits, dtype);
  }
  throw InternalError("convert: not a dtype");
}

Scalar bitcast(const Scalar& value, DType dtype) {
  if (byte_size(value.dtype) != byte_size(dtype)) {
    throw InternalError(cat("bitcast: ", value.dtype, " and ", dtype, " differ in size"));
  }
  return load(dtype, &value.bits);
}

Scalar neutral(Op op, DType dtype) {
  if (op == Op::reduce_sum || op == Op::scan_sum) return {dtype, 0};
  if (op == Op::reduce_prod || op == Op::scan_prod) return make_scalar(dtype, true);
  if (op == Op::reduce_max || op == Op::scan_max) return lowest(dtype);
  throw InternalError(cat("neutral: ", op, " is neither a reduction nor a scan"));
}

}  // namespace luminal
