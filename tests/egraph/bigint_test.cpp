#include "luminal/egraph/bigint.h"

#include <gtest/gtest.h>

#include "tests/random.h"

namespace luminal::egraph {
namespace {

using test::Random;
__extension__ typedef __int128 Wide;

BigInt big(Wide value) {
  const bool minus = value < 0;
  if (minus) value = -value;
  BigInt result = 0;
  for (int shift = 120; shift >= 0; shift -= 8) {
    result = result.shifted_left(8) + BigInt(static_cast<std::int64_t>(value >> shift & 255));
  }
  return minus ? -result : result;
}

std::int64_t any_size(Random& random) {
  return static_cast<std::int64_t>(random.next()) >> random.between(0, 63);
}

TEST(BigInt, RandomArithmeticEqualsWideIntegers) {
  Random random(1);
  const int count = test::trials(20000, 200000);
  for (int trial = 0; trial < count; ++trial) {
    const std::int64_t a = any_size(random);
    const std::int64_t b = any_size(random);
    const BigInt x(a);
    const BigInt y(b);
    ASSERT_EQ(x + y, big(Wide{a} + b));
    ASSERT_EQ(x - y, big(Wide{a} - b));
    ASSERT_EQ(x * y, big(Wide{a} * b));
    if (b != 0) {
      ASSERT_EQ(x / y, big(Wide{a} / b));
      ASSERT_EQ(x % y, big(Wide{a} % b));
    }
    ASSERT_EQ(x & y, BigInt(a & b));
    ASSERT_EQ(x | y, BigInt(a | b));
    ASSERT_EQ(x ^ y, BigInt(a ^ b));
    ASSERT_EQ(x < y, a < b);
    ASSERT_EQ(x == y, a == b);
    const auto shift = static_cast<std::uint32_t>(random.between(0, 40));
    ASSERT_EQ(x.shifted_right(shift), BigInt(a >> shift));
    ASSERT_EQ(x.shifted_left(shift), big(Wide{a} * (Wide{1} << shift)));
    ASSERT_EQ(x.small(), a);
    ASSERT_EQ(x.text(), std::to_string(a));
  }
}

TEST(BigInt, RandomDivisionGivesBackWhatWasDivided) {
  Random random(2);
  for (int trial = 0; trial < test::trials(300, 5000); ++trial) {
    const BigInt a = BigInt(any_size(random)) * BigInt(any_size(random)) * BigInt(any_size(random));
    const BigInt b = BigInt(any_size(random)) * BigInt(any_size(random));
    if (b.zero()) continue;
    ASSERT_EQ(a / b * b + a % b, a);
    ASSERT_EQ(BigInt::parse(a.text()), a);
  }
}

TEST(BigInt, ReadsOnlyNumbers) {
  EXPECT_EQ(BigInt::parse("-00012")->text(), "-12");
  EXPECT_EQ(BigInt::parse("-0")->text(), "0");
  for (const char* text : {"", "-", "+", "1x", " 1", "0x10", "1.5"})
    EXPECT_FALSE(BigInt::parse(text)) << text;
}

TEST(BigRat, IsInLowestTerms) {
  EXPECT_EQ(BigRat::make(6, -4), (BigRat{-3, 2}));
  EXPECT_EQ(BigRat::make(0, -4), (BigRat{0, 1}));
  EXPECT_LT((BigRat{-3, 2}), (BigRat{-1, 1}));
  EXPECT_DOUBLE_EQ(BigRat::make(BigInt(1).shifted_left(3000), BigInt(3).shifted_left(3000)).approximate(),
                   1.0 / 3.0);
}

}  // namespace
}  // namespace luminal::egraph
