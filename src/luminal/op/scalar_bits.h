#pragma once
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "luminal/op/scalar.h"

namespace luminal {

/// A scalar of a dtype whose C++ type is T, from the value and back. A NaN becomes the positive quiet one, so
/// that results have the same bits on every machine.
template <typename T>
Scalar scalar_of(DType dtype, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return {dtype, value ? std::uint64_t{1} : 0};
  } else if constexpr (std::integral<T>) {
    return {dtype, static_cast<std::make_unsigned_t<T>>(value)};
  } else {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return {dtype, std::bit_cast<Bits>(std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value)};
  }
}

template <typename T>
T value_of(const Scalar& scalar) {
  if constexpr (std::is_same_v<T, bool>) {
    return scalar.bits != 0;
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(scalar.bits);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return std::bit_cast<T>(static_cast<Bits>(scalar.bits));
  }
}

}  // namespace luminal
