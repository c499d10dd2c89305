#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>

#include "luminal/support/hash.h"

namespace luminal {

/// One scalar as the user wrote it, before it takes a dtype: a bool, a signed or unsigned integer, or a
/// double. Two numbers are equal if kind and bits are, so −0.0 differs from 0.0 and a NaN equals itself.
class Number {
 public:
  enum class Kind : std::uint8_t { boolean, integer, natural, real };

  constexpr Number() : Number(std::int64_t{0}) {}
  constexpr Number(bool value) : kind_(Kind::boolean), bits_(value ? 1 : 0) {}
  template <std::signed_integral T>
  constexpr Number(T value) : kind_(Kind::integer), bits_(static_cast<std::uint64_t>(std::int64_t{value})) {}
  template <std::unsigned_integral T>
  constexpr Number(T value) : kind_(Kind::natural), bits_(value) {}
  template <std::floating_point T>
  constexpr Number(T value)
      : kind_(Kind::real), bits_(std::bit_cast<std::uint64_t>(static_cast<double>(value))) {}

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_real() const { return kind_ == Kind::real; }
  constexpr bool boolean() const { return bits_ != 0; }
  constexpr std::int64_t integer() const { return static_cast<std::int64_t>(bits_); }
  constexpr std::uint64_t natural() const { return bits_; }
  constexpr double real() const { return std::bit_cast<double>(bits_); }

  /// The value as a double, rounded if it is a large integer.
  constexpr double as_double() const {
    switch (kind_) {
      case Kind::integer:
        return static_cast<double>(integer());
      case Kind::real:
        return real();
      default:
        return static_cast<double>(bits_);
    }
  }
  constexpr std::uint64_t hash() const { return Hash(static_cast<std::uint64_t>(kind_)).add(bits_).value(); }
  friend constexpr bool operator==(const Number&, const Number&) = default;

  /// "true", "-3", "7u", "0.5", "inf", "nan(0x7ff8000000000001)": text that `parse_number` reads back
  /// exactly.
  std::string text() const;
  friend std::ostream& operator<<(std::ostream& out, const Number& number) { return out << number.text(); }

 private:
  Kind kind_;
  std::uint64_t bits_;
};

/// Reads what `Number::text` wrote. Throws `Error` for anything else.
Number parse_number(const std::string& text);

}  // namespace luminal
