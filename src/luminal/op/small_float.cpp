#include "luminal/op/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace luminal {
namespace {

constexpr int bias(const SmallFloat& format) {
  return (1 << (format.exponent_bits - 1)) - 1;
}
/// The exponent of the smallest normal value, and the one in which denormals count.
constexpr int lowest_exponent(const SmallFloat& format) {
  return 1 - bias(format);
}
constexpr std::uint64_t sign_bit(const SmallFloat& format) {
  return std::uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
}
constexpr std::uint64_t infinity_bits(const SmallFloat& format) {
  return ((std::uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
}
/// The lowest pattern above the finite values.
constexpr std::uint64_t overflow_bits(const SmallFloat& format) {
  return format.has_infinity ? infinity_bits(format) : sign_bit(format) - 1;
}

/// `value` / 2^shift to the nearest whole number, ties to even.
std::uint64_t shifted_right(std::uint64_t value, int shift) {
  if (shift <= 0) return value << -shift;
  if (shift > 64) return 0;
  const std::uint64_t twice = value >> (shift - 1);
  const bool exact = twice << (shift - 1) == value;
  const std::uint64_t half = twice & 1;
  const std::uint64_t whole = twice >> 1;
  const bool up = half != 0 && (!exact || (whole & 1) != 0);
  return whole + (up ? 1 : 0);
}

/// Encodes ± significand · 2^exponent.
std::uint16_t encode_exact(const SmallFloat& format, bool negative, std::uint64_t significand, int exponent) {
  std::uint64_t bits = 0;
  if (significand != 0) {
    const int leading = static_cast<int>(std::bit_width(significand)) - 1 + exponent;
    const int scale = std::max(leading, lowest_exponent(format));
    // The leading bit of a normal value adds 1 to the exponent field, and so does a mantissa that rounds up
    // to the next power of two: adding the two fields makes both right.
    const std::uint64_t mantissa = shifted_right(significand, scale - format.mantissa_bits - exponent);
    bits = (static_cast<std::uint64_t>(scale - lowest_exponent(format)) << format.mantissa_bits) + mantissa;
    bits = std::min(bits, overflow_bits(format));
  }
  return static_cast<std::uint16_t>(bits | (negative ? sign_bit(format) : 0));
}

}  // namespace

std::uint16_t nan_bits(const SmallFloat& format) {
  if (!format.has_infinity) return static_cast<std::uint16_t>(sign_bit(format) - 1);
  return static_cast<std::uint16_t>(infinity_bits(format) | std::uint64_t{1} << (format.mantissa_bits - 1));
}

std::uint16_t encode(const SmallFloat& format, double value) {
  if (std::isnan(value)) return nan_bits(format);
  const bool negative = std::signbit(value);
  if (std::isinf(value)) {
    return static_cast<std::uint16_t>(overflow_bits(format) | (negative ? sign_bit(format) : 0));
  }
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  const int field = static_cast<int>(bits >> 52 & 0x7FF);
  if (field == 0) return encode_exact(format, negative, mantissa, -1074);
  return encode_exact(format, negative, mantissa | std::uint64_t{1} << 52, field - 1075);
}

std::uint16_t encode(const SmallFloat& format, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return encode_exact(format, value < 0, value < 0 ? 0 - bits : bits, 0);
}

std::uint16_t encode(const SmallFloat& format, std::uint64_t value) {
  return encode_exact(format, false, value, 0);
}

float decode(const SmallFloat& format, std::uint16_t bits) {
  const bool negative = (bits & sign_bit(format)) != 0;
  const std::uint64_t magnitude = bits & (sign_bit(format) - 1);
  float value = 0;
  if (format.has_infinity && magnitude == infinity_bits(format)) {
    value = std::numeric_limits<float>::infinity();
  } else if (magnitude >= overflow_bits(format)) {
    return std::numeric_limits<float>::quiet_NaN();
  } else {
    const std::uint64_t leading = std::uint64_t{1} << format.mantissa_bits;
    const std::uint64_t mantissa = magnitude & (leading - 1);
    const int field = static_cast<int>(magnitude >> format.mantissa_bits);
    const int scale = std::max(field - 1, 0) + lowest_exponent(format) - format.mantissa_bits;
    value = std::ldexp(static_cast<float>(field == 0 ? mantissa : mantissa | leading), scale);
  }
  return negative ? -value : value;
}

}  // namespace luminal
