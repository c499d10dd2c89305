#include "luminal/egraph/bigint.h"

#include <algorithm>
#include <cmath>

#include "luminal/support/hash.h"

namespace luminal::egraph {
namespace {
constexpr std::uint64_t base = std::uint64_t{1} << 32;

void trim(std::vector<std::uint32_t>& limbs) {
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
}
std::uint32_t low(std::uint64_t word) {
  return static_cast<std::uint32_t>(word & (base - 1));
}
}  // namespace

BigInt BigInt::make(Limbs limbs, bool negative) {
  BigInt result;
  trim(limbs);
  result.negative_ = negative && !limbs.empty();
  result.limbs_ = std::move(limbs);
  return result;
}

BigInt::BigInt(std::int64_t value) : negative_(value < 0) {
  std::uint64_t magnitude = static_cast<std::uint64_t>(value);
  if (negative_) magnitude = ~magnitude + 1;
  for (; magnitude != 0; magnitude >>= 32) limbs_.push_back(low(magnitude));
}

std::optional<BigInt> BigInt::parse(std::string_view text) {
  const bool minus = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  Limbs limbs;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    std::uint64_t carry = static_cast<std::uint64_t>(c - '0');
    for (std::uint32_t& limb : limbs) {
      carry += std::uint64_t{limb} * 10;
      limb = low(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs.push_back(low(carry));
  }
  return make(std::move(limbs), minus);
}

std::optional<std::int64_t> BigInt::small() const {
  if (limbs_.size() > 2) return std::nullopt;
  std::uint64_t magnitude = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) magnitude = magnitude << 32 | limbs_[i];
  constexpr std::uint64_t limit = std::uint64_t{1} << 63;
  if (magnitude > limit || (magnitude == limit && !negative_)) return std::nullopt;
  return static_cast<std::int64_t>(negative_ ? ~magnitude + 1 : magnitude);
}

double BigInt::approximate() const {
  double result = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) result = result * static_cast<double>(base) + limbs_[i];
  return negative_ ? -result : result;
}

std::uint32_t BigInt::divide_small(Limbs& limbs, std::uint32_t divisor) {
  std::uint64_t rest = 0;
  for (std::size_t i = limbs.size(); i-- > 0;) {
    rest = rest << 32 | limbs[i];
    limbs[i] = low(rest / divisor);
    rest %= divisor;
  }
  trim(limbs);
  return static_cast<std::uint32_t>(rest);
}

std::string BigInt::text() const {
  if (zero()) return "0";
  std::string digits;
  Limbs rest = limbs_;
  while (!rest.empty()) {
    std::uint32_t part = divide_small(rest, 1000000000);
    for (int i = 0; i < 9 && (part != 0 || !rest.empty()); ++i, part /= 10) {
      digits.push_back(static_cast<char>('0' + part % 10));
    }
  }
  if (negative_) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::size_t BigInt::hash() const {
  Hash hash(negative_ ? 1 : 0);
  for (const std::uint32_t limb : limbs_) hash.add(limb);
  return hash.value();
}

int BigInt::compare(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

BigInt::Limbs BigInt::add(const Limbs& a, const Limbs& b) {
  Limbs sum(std::max(a.size(), b.size()) + 1);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    carry += (i < a.size() ? std::uint64_t{a[i]} : 0) + (i < b.size() ? std::uint64_t{b[i]} : 0);
    sum[i] = low(carry);
    carry >>= 32;
  }
  return sum;
}

// The first operand must not be the smaller one.
BigInt::Limbs BigInt::subtract(const Limbs& a, const Limbs& b) {
  Limbs difference(a.size());
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t taken = (i < b.size() ? std::uint64_t{b[i]} : 0) + borrow;
    borrow = a[i] < taken ? 1 : 0;
    difference[i] = low(base + a[i] - taken);
  }
  return difference;
}

BigInt BigInt::operator-() const {
  return make(limbs_, !negative_);
}

BigInt operator+(const BigInt& a, const BigInt& b) {
  if (a.negative_ == b.negative_) return BigInt::make(BigInt::add(a.limbs_, b.limbs_), a.negative_);
  if (BigInt::compare(a.limbs_, b.limbs_) >= 0) {
    return BigInt::make(BigInt::subtract(a.limbs_, b.limbs_), a.negative_);
  }
  return BigInt::make(BigInt::subtract(b.limbs_, a.limbs_), b.negative_);
}

BigInt operator-(const BigInt& a, const BigInt& b) {
  return a + -b;
}

BigInt operator*(const BigInt& a, const BigInt& b) {
  BigInt::Limbs product(a.limbs_.size() + b.limbs_.size());
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size(); ++j) {
      carry += std::uint64_t{a.limbs_[i]} * b.limbs_[j] + product[i + j];
      product[i + j] = low(carry);
      carry >>= 32;
    }
    product[i + b.limbs_.size()] = low(carry);
  }
  return BigInt::make(std::move(product), a.negative_ != b.negative_);
}

// Bit by bit: slow for large numbers, and obviously right.
void BigInt::divide(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& remainder) {
  quotient = a;
  if (b.size() == 1) {
    const std::uint32_t rest = divide_small(quotient, b[0]);
    remainder.assign(rest == 0 ? 0 : 1, rest);
    return;
  }
  std::fill(quotient.begin(), quotient.end(), 0);
  remainder.clear();
  for (std::size_t bit = a.size() * 32; bit-- > 0;) {
    std::uint32_t carry = a[bit / 32] >> (bit % 32) & 1;
    for (std::uint32_t& limb : remainder) {
      const std::uint32_t top = limb >> 31;
      limb = limb << 1 | carry;
      carry = top;
    }
    if (carry != 0) remainder.push_back(carry);
    if (compare(remainder, b) >= 0) {
      remainder = subtract(remainder, b);
      trim(remainder);
      quotient[bit / 32] |= std::uint32_t{1} << (bit % 32);
    }
  }
}

BigInt operator/(const BigInt& a, const BigInt& b) {
  BigInt::Limbs quotient;
  BigInt::Limbs remainder;
  BigInt::divide(a.limbs_, b.limbs_, quotient, remainder);
  return BigInt::make(std::move(quotient), a.negative_ != b.negative_);
}

BigInt operator%(const BigInt& a, const BigInt& b) {
  BigInt::Limbs quotient;
  BigInt::Limbs remainder;
  BigInt::divide(a.limbs_, b.limbs_, quotient, remainder);
  return BigInt::make(std::move(remainder), a.negative_);
}

BigInt::Limbs BigInt::twos_complement(std::size_t size) const {
  Limbs limbs = limbs_;
  limbs.resize(size);
  if (!negative_) return limbs;
  std::uint64_t carry = 1;
  for (std::uint32_t& limb : limbs) {
    carry += static_cast<std::uint32_t>(~limb);
    limb = low(carry);
    carry >>= 32;
  }
  return limbs;
}

BigInt BigInt::from_twos_complement(Limbs limbs) {
  const bool minus = !limbs.empty() && limbs.back() >> 31 != 0;
  if (minus) {
    std::uint64_t carry = 1;
    for (std::uint32_t& limb : limbs) {
      carry += static_cast<std::uint32_t>(~limb);
      limb = low(carry);
      carry >>= 32;
    }
  }
  return make(std::move(limbs), minus);
}

BigInt operator&(const BigInt& a, const BigInt& b) {
  const std::size_t size = std::max(a.limbs_.size(), b.limbs_.size()) + 1;
  BigInt::Limbs left = a.twos_complement(size);
  const BigInt::Limbs right = b.twos_complement(size);
  for (std::size_t i = 0; i < size; ++i) left[i] &= right[i];
  return BigInt::from_twos_complement(std::move(left));
}

BigInt operator|(const BigInt& a, const BigInt& b) {
  const std::size_t size = std::max(a.limbs_.size(), b.limbs_.size()) + 1;
  BigInt::Limbs left = a.twos_complement(size);
  const BigInt::Limbs right = b.twos_complement(size);
  for (std::size_t i = 0; i < size; ++i) left[i] |= right[i];
  return BigInt::from_twos_complement(std::move(left));
}

BigInt operator^(const BigInt& a, const BigInt& b) {
  return (a | b) - (a & b);
}

BigInt BigInt::shifted_left(std::uint32_t bits) const {
  Limbs limbs(bits / 32);
  std::uint64_t carry = 0;
  for (const std::uint32_t limb : limbs_) {
    carry |= std::uint64_t{limb} << (bits % 32);
    limbs.push_back(low(carry));
    carry >>= 32;
  }
  limbs.push_back(low(carry));
  return make(std::move(limbs), negative_);
}

BigInt BigInt::shifted_right(std::uint32_t bits) const {
  if (negative_) {  // floor(-m / 2^s) = -(floor((m - 1) / 2^s) + 1)
    const BigInt below = make(subtract(limbs_, {1}), false);
    return -(below.shifted_right(bits) + 1);
  }
  if (bits / 32 >= limbs_.size()) return {};
  Limbs limbs(limbs_.begin() + static_cast<std::ptrdiff_t>(bits / 32), limbs_.end());
  for (std::size_t i = 0; i < limbs.size(); ++i) {
    const std::uint64_t above = i + 1 < limbs.size() ? limbs[i + 1] : 0;
    limbs[i] = low((above << 32 | limbs[i]) >> (bits % 32));
  }
  return make(std::move(limbs), false);
}

std::size_t BigInt::bit_length() const {
  if (zero()) return 0;
  std::size_t bits = limbs_.size() * 32;
  for (std::uint32_t top = limbs_.back(); top >> 31 == 0; top <<= 1) --bits;
  return bits;
}

std::strong_ordering operator<=>(const BigInt& a, const BigInt& b) {
  if (a.negative_ != b.negative_)
    return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  const int order = BigInt::compare(a.limbs_, b.limbs_) * (a.negative_ ? -1 : 1);
  return order <=> 0;
}

BigInt greatest_common_divisor(BigInt a, BigInt b) {
  if (a.negative()) a = -a;
  if (b.negative()) b = -b;
  while (!b.zero()) {
    BigInt rest = a % b;
    a = std::move(b);
    b = std::move(rest);
  }
  return a;
}

BigInt power(const BigInt& base_number, std::uint64_t exponent) {
  BigInt result = 1;
  BigInt square = base_number;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = result * square;
    if (exponent > 1) square = square * square;
  }
  return result;
}

BigRat BigRat::make(BigInt numerator, BigInt denominator) {
  if (denominator.negative()) {
    numerator = -numerator;
    denominator = -denominator;
  }
  const BigInt common = greatest_common_divisor(numerator, denominator);
  return {numerator / common, denominator / common};
}

double BigRat::approximate() const {
  // Both parts are cut to what a double can hold, with a few bits to spare, so huge parts do not become
  // infinities.
  const std::size_t n = numerator.bit_length();
  const std::size_t d = denominator.bit_length();
  const std::size_t drop_n = n > 128 ? n - 128 : 0;
  const std::size_t drop_d = d > 128 ? d - 128 : 0;
  const double top = numerator.shifted_right(static_cast<std::uint32_t>(drop_n)).approximate();
  const double bottom = denominator.shifted_right(static_cast<std::uint32_t>(drop_d)).approximate();
  return std::ldexp(top / bottom, static_cast<int>(drop_n) - static_cast<int>(drop_d));
}

std::strong_ordering operator<=>(const BigRat& a, const BigRat& b) {
  return a.numerator * b.denominator <=> b.numerator * a.denominator;
}

}  // namespace luminal::egraph
