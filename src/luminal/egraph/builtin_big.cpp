#include <limits>

#include "luminal/egraph/builtin.h"
#include "luminal/egraph/builtin_helpers.h"

namespace luminal::egraph {
namespace {
using builtin::add;
using Int = std::int64_t;

/// Shifts and powers beyond this would only exhaust the memory.
constexpr Int most_bits = 1 << 20;

// The whole k-th root, if there is one.
std::optional<BigInt> exact_root(const BigInt& value, std::uint64_t k) {
  if (value.negative()) return std::nullopt;
  BigInt low = 0;
  BigInt high = BigInt(1).shifted_left(static_cast<std::uint32_t>(value.bit_length() / k + 1));
  while (low < high) {
    const BigInt middle = (low + high).shifted_right(1);
    if (power(middle, k) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (power(low, k) != value) return std::nullopt;
  return low;
}

std::optional<BigRat> rational_root(const BigRat& value, std::uint64_t k) {
  const auto top = exact_root(value.numerator, k);
  const auto bottom = exact_root(value.denominator, k);
  if (!top || !bottom) return std::nullopt;
  return BigRat{*top, *bottom};
}

std::optional<BigRat> rational_power(const BigRat& base, const BigRat& exponent) {
  const auto whole = exponent.numerator.small();
  if (exponent.denominator != BigInt(1) || !whole || *whole == std::numeric_limits<Int>::min()) {
    return std::nullopt;
  }
  auto times = static_cast<std::uint64_t>(*whole < 0 ? -*whole : *whole);
  const bool stays_small = base.denominator == BigInt(1) && base.numerator.bit_length() <= 1;
  if (stays_small && times > 2) times = 2 - times % 2;  // -1, 0 or 1, to any power
  if (times > most_bits) return std::nullopt;
  if (*whole >= 0) return BigRat{power(base.numerator, times), power(base.denominator, times)};
  if (base.numerator.zero()) return std::nullopt;
  return BigRat::make(power(base.denominator, times), power(base.numerator, times));
}

BigInt floor_of(const BigRat& value) {
  const BigInt quotient = value.numerator / value.denominator;
  const bool exact = quotient * value.denominator == value.numerator;
  return value.numerator.negative() && !exact ? quotient - 1 : quotient;
}

// To the nearest whole number, halves away from zero.
BigInt rounded(const BigRat& value) {
  const BigRat half = BigRat::make(value.numerator * 2 + value.denominator, value.denominator * 2);
  if (!value.numerator.negative()) return floor_of(half);
  return -rounded({-value.numerator, value.denominator});
}
}  // namespace

void add_big_primitives(Database& database) {
  add<Int>(database, "bigint", [](Int a) { return BigInt(a); });
  add<BigInt, BigInt>(database, "+", [](const BigInt& a, const BigInt& b) { return a + b; });
  add<BigInt, BigInt>(database, "-", [](const BigInt& a, const BigInt& b) { return a - b; });
  add<BigInt, BigInt>(database, "*", [](const BigInt& a, const BigInt& b) { return a * b; });
  add<BigInt, BigInt>(database, "/", [](const BigInt& a, const BigInt& b) -> std::optional<BigInt> {
    if (b.zero()) return std::nullopt;
    return a / b;
  });
  add<BigInt, BigInt>(database, "%", [](const BigInt& a, const BigInt& b) -> std::optional<BigInt> {
    if (b.zero()) return std::nullopt;
    return a % b;
  });
  add<BigInt, BigInt>(database, "&", [](const BigInt& a, const BigInt& b) { return a & b; });
  add<BigInt, BigInt>(database, "|", [](const BigInt& a, const BigInt& b) { return a | b; });
  add<BigInt, BigInt>(database, "^", [](const BigInt& a, const BigInt& b) { return a ^ b; });
  add<BigInt, Int>(database, "<<", [](const BigInt& a, Int b) -> std::optional<BigInt> {
    if (b < 0 || b > most_bits) return std::nullopt;
    return a.shifted_left(static_cast<std::uint32_t>(b));
  });
  add<BigInt, Int>(database, ">>", [](const BigInt& a, Int b) -> std::optional<BigInt> {
    if (b < 0 || b > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return a.shifted_right(static_cast<std::uint32_t>(b));
  });
  add<BigInt>(database, "not-Z", [](const BigInt& a) { return -a - 1; });
  add<BigInt>(database, "bits", [](const BigInt& a) { return BigInt(static_cast<Int>(a.bit_length())); });
  builtin::add_comparisons<BigInt>(database);
  builtin::add_boolean_comparisons<BigInt>(database);
  builtin::add_extremes<BigInt>(database);
  add<BigInt>(database, "to-string", [](const BigInt& a) { return a.text(); });
  add<std::string>(database, "from-string", [](const std::string& a) { return BigInt::parse(a); });
}

void add_rational_primitives(Database& database) {
  add<BigInt, BigInt>(database, "bigrat", [](const BigInt& a, const BigInt& b) -> std::optional<BigRat> {
    if (b.zero()) return std::nullopt;
    return BigRat::make(a, b);
  });
  add<BigRat, BigRat>(database, "+", [](const BigRat& a, const BigRat& b) {
    return BigRat::make(a.numerator * b.denominator + b.numerator * a.denominator,
                        a.denominator * b.denominator);
  });
  add<BigRat, BigRat>(database, "-", [](const BigRat& a, const BigRat& b) {
    return BigRat::make(a.numerator * b.denominator - b.numerator * a.denominator,
                        a.denominator * b.denominator);
  });
  add<BigRat, BigRat>(database, "*", [](const BigRat& a, const BigRat& b) {
    return BigRat::make(a.numerator * b.numerator, a.denominator * b.denominator);
  });
  add<BigRat, BigRat>(database, "/", [](const BigRat& a, const BigRat& b) -> std::optional<BigRat> {
    if (b.numerator.zero()) return std::nullopt;
    return BigRat::make(a.numerator * b.denominator, a.denominator * b.numerator);
  });
  builtin::add_extremes<BigRat>(database);
  builtin::add_comparisons<BigRat>(database);
  add<BigRat>(database, "neg", [](const BigRat& a) { return BigRat{-a.numerator, a.denominator}; });
  add<BigRat>(database, "abs", [](const BigRat& a) {
    return BigRat{a.numerator.negative() ? -a.numerator : a.numerator, a.denominator};
  });
  add<BigRat>(database, "floor", [](const BigRat& a) { return BigRat{floor_of(a), 1}; });
  add<BigRat>(database, "ceil",
              [](const BigRat& a) { return BigRat{-floor_of({-a.numerator, a.denominator}), 1}; });
  add<BigRat>(database, "round", [](const BigRat& a) { return BigRat{rounded(a), 1}; });
  add<BigRat>(database, "sqrt", [](const BigRat& a) { return rational_root(a, 2); });
  add<BigRat>(database, "cbrt", [](const BigRat& a) { return rational_root(a, 3); });
  add<BigRat, BigRat>(database, "pow", rational_power);
  add<BigRat>(database, "log", [](const BigRat& a) -> std::optional<BigRat> {
    if (a != BigRat{1, 1}) return std::nullopt;
    return BigRat{0, 1};
  });
  add<BigRat>(database, "numer", [](const BigRat& a) { return a.numerator; });
  add<BigRat>(database, "denom", [](const BigRat& a) { return a.denominator; });
  add<BigRat>(database, "to-f64", [](const BigRat& a) { return a.approximate(); });
  add<BigRat>(database, "to-i64", [](const BigRat& a) -> std::optional<Int> {
    if (a.denominator != BigInt(1)) return std::nullopt;
    return a.numerator.small();
  });
}

}  // namespace luminal::egraph
