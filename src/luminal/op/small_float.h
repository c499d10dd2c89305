#pragma once
#include <cstdint>

namespace luminal {

/// A binary floating-point format narrower than f32: a sign, then the exponent, then the mantissa. Exponent 0
/// holds ±0 and the denormals.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  /// Whether the top exponent is kept for ±inf and NaN, as in IEEE 754. Otherwise it holds numbers too, and
  /// only the pattern of all ones is NaN.
  bool has_infinity;
};

inline constexpr SmallFloat f16_format{5, 10, true};
inline constexpr SmallFloat bf16_format{8, 7, true};
inline constexpr SmallFloat f8e4m3_format{4, 3, false};
inline constexpr SmallFloat f8e5m2_format{5, 2, true};

/// The bits of the nearest value, ties to even, rounded once from the exact value given. Beyond the largest
/// finite value (by the same rounding, as if the exponent had no bound) it is ±inf, or NaN if the format has
/// no infinity.
std::uint16_t encode(const SmallFloat& format, double value);
std::uint16_t encode(const SmallFloat& format, std::int64_t value);
std::uint16_t encode(const SmallFloat& format, std::uint64_t value);

/// Exact: every value of every such format is one of f32.
float decode(const SmallFloat& format, std::uint16_t bits);

/// The bits of a positive quiet NaN: the one that `encode` gives.
std::uint16_t nan_bits(const SmallFloat& format);

}  // namespace luminal
