#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::egraph {

/// A whole number of any size. Division truncates towards zero; bit operations see two's complement.
class BigInt {
 public:
  BigInt() = default;
  BigInt(std::int64_t value);
  /// Decimal digits with an optional sign; nothing else.
  static std::optional<BigInt> parse(std::string_view text);

  bool zero() const { return limbs_.empty(); }
  bool negative() const { return negative_; }
  std::optional<std::int64_t> small() const;
  double approximate() const;
  std::string text() const;
  std::size_t hash() const;

  BigInt operator-() const;
  friend BigInt operator+(const BigInt& a, const BigInt& b);
  friend BigInt operator-(const BigInt& a, const BigInt& b);
  friend BigInt operator*(const BigInt& a, const BigInt& b);
  /// The divisor must not be zero.
  friend BigInt operator/(const BigInt& a, const BigInt& b);
  friend BigInt operator%(const BigInt& a, const BigInt& b);
  friend BigInt operator&(const BigInt& a, const BigInt& b);
  friend BigInt operator|(const BigInt& a, const BigInt& b);
  friend BigInt operator^(const BigInt& a, const BigInt& b);
  BigInt shifted_left(std::uint32_t bits) const;
  /// Rounds towards minus infinity.
  BigInt shifted_right(std::uint32_t bits) const;
  std::size_t bit_length() const;

  friend bool operator==(const BigInt&, const BigInt&) = default;
  friend std::strong_ordering operator<=>(const BigInt& a, const BigInt& b);

 private:
  using Limbs = std::vector<std::uint32_t>;
  static BigInt make(Limbs limbs, bool negative);
  static int compare(const Limbs& a, const Limbs& b);
  static Limbs add(const Limbs& a, const Limbs& b);
  static Limbs subtract(const Limbs& a, const Limbs& b);
  static std::uint32_t divide_small(Limbs& limbs, std::uint32_t divisor);
  static void divide(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& remainder);
  Limbs twos_complement(std::size_t size) const;
  static BigInt from_twos_complement(Limbs limbs);

  Limbs limbs_;  // least significant first, no leading zeros
  bool negative_ = false;
};

/// A fraction in lowest terms with a positive denominator.
struct BigRat {
  BigInt numerator;
  BigInt denominator = 1;

  /// The denominator must not be zero.
  static BigRat make(BigInt numerator, BigInt denominator);
  double approximate() const;
  friend bool operator==(const BigRat&, const BigRat&) = default;
  friend std::strong_ordering operator<=>(const BigRat& a, const BigRat& b);
};

BigInt greatest_common_divisor(BigInt a, BigInt b);
BigInt power(const BigInt& base, std::uint64_t exponent);

}  // namespace luminal::egraph
