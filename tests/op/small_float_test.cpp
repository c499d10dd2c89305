#include "luminal/op/small_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "luminal/op/dtype.h"

namespace luminal {
namespace {

struct Case {
  DType dtype;
  SmallFloat format;
  double denormal;  // the smallest
  double normal;    // the smallest
  double largest;
};

constexpr Case cases[] = {
    {DType::f16, f16_format, 0x1p-24, 0x1p-14, 65504},
    {DType::bf16, bf16_format, 0x1p-133, 0x1p-126, 0x1.FEp127},
    {DType::f8e4m3, f8e4m3_format, 0x1p-9, 0x1p-6, 448},
    {DType::f8e5m2, f8e5m2_format, 0x1p-16, 0x1p-14, 57344},
};

constexpr double infinity = std::numeric_limits<double>::infinity();

int pattern_count(const Case& c) {
  return 1 << (8 * byte_size(c.dtype));
}
std::uint16_t sign_bit(const Case& c) {
  return static_cast<std::uint16_t>(pattern_count(c) / 2);
}
double decoded(const Case& c, int bits) {
  return decode(c.format, static_cast<std::uint16_t>(bits));
}
double round_trip(const Case& c, double value) {
  return decode(c.format, encode(c.format, value));
}

TEST(SmallFloat, EveryPatternReadsBack) {
  for (const Case& c : cases) {
    int numbers = 0;
    for (int bits = 0; bits < pattern_count(c); ++bits) {
      const double value = decoded(c, bits);
      if (std::isnan(value)) {
        EXPECT_EQ(encode(c.format, value), nan_bits(c.format)) << c.dtype << " " << bits;
        continue;
      }
      ++numbers;
      // Without an infinity, what overflows is NaN, so no pattern decodes to one.
      EXPECT_TRUE(c.format.has_infinity || std::isfinite(value)) << c.dtype << " " << bits;
      EXPECT_EQ(encode(c.format, value), bits) << c.dtype << " " << value;
    }
    const int nans = c.format.has_infinity ? 2 * ((1 << c.format.mantissa_bits) - 1) : 2;
    EXPECT_EQ(numbers, pattern_count(c) - nans) << c.dtype;
  }
}

TEST(SmallFloat, PatternsAreInOrderAndNegationIsTheSignBit) {
  for (const Case& c : cases) {
    for (int bits = 0; bits + 1 < sign_bit(c) && !std::isnan(decoded(c, bits + 1)); ++bits) {
      EXPECT_LT(decoded(c, bits), decoded(c, bits + 1)) << c.dtype << " " << bits;
      EXPECT_EQ(decoded(c, bits | sign_bit(c)), -decoded(c, bits)) << c.dtype << " " << bits;
    }
  }
}

TEST(SmallFloat, HasTheKnownLimits) {
  for (const Case& c : cases) {
    EXPECT_EQ(decoded(c, 1), c.denormal) << c.dtype;
    EXPECT_EQ(decoded(c, 1 << c.format.mantissa_bits), c.normal) << c.dtype;
    EXPECT_EQ(round_trip(c, c.largest), c.largest) << c.dtype;
    const int above = encode(c.format, c.largest) + 1;
    EXPECT_EQ(std::isinf(decoded(c, above)), c.format.has_infinity) << c.dtype;
    EXPECT_EQ(encode(c.format, 0.0), 0) << c.dtype;
    EXPECT_EQ(encode(c.format, -0.0), sign_bit(c)) << c.dtype;
  }
}

/// Between each value and the next: the midpoint goes to the even one, anything off it to the nearer one.
TEST(SmallFloat, RoundsToNearestAtEveryBoundary) {
  for (const Case& c : cases) {
    for (int bits = 0; decoded(c, bits) < c.largest; ++bits) {
      const double below = decoded(c, bits);
      const double middle = (below + decoded(c, bits + 1)) / 2;
      ASSERT_EQ(encode(c.format, middle), bits % 2 == 0 ? bits : bits + 1) << c.dtype << " " << bits;
      ASSERT_EQ(encode(c.format, std::nextafter(middle, 0.0)), bits) << c.dtype << " " << bits;
      ASSERT_EQ(encode(c.format, std::nextafter(middle, infinity)), bits + 1) << c.dtype << " " << bits;
      ASSERT_EQ(encode(c.format, -std::nextafter(middle, infinity)), (bits + 1) | sign_bit(c))
          << c.dtype << " " << bits;
    }
  }
}

TEST(SmallFloat, OverflowsAtHalfAStepBeyondTheLargest) {
  for (const Case& c : cases) {
    const double step = c.largest - decoded(c, encode(c.format, c.largest) - 1);
    const double tie = c.largest + step / 2;
    // The largest value of f8e4m3 is even, so the tie goes to it; the others' is odd, and theirs goes to
    // infinity.
    const bool tie_overflows = c.dtype != DType::f8e4m3;
    EXPECT_EQ(encode(c.format, std::nextafter(tie, 0.0)), encode(c.format, c.largest)) << c.dtype;
    EXPECT_EQ(encode(c.format, tie) > encode(c.format, c.largest), tie_overflows) << c.dtype;
    for (const double beyond : {std::nextafter(tie, infinity), c.largest * 2, 1e300, infinity}) {
      for (const double value : {beyond, -beyond}) {
        const double got = round_trip(c, value);
        EXPECT_TRUE(c.format.has_infinity ? got == std::copysign(infinity, value) : std::isnan(got))
            << c.dtype << " " << value;
      }
    }
  }
}

TEST(SmallFloat, TinyDoublesRoundToZeroOrTheSmallest) {
  for (const Case& c : cases) {
    EXPECT_EQ(round_trip(c, std::numeric_limits<double>::denorm_min()), 0.0) << c.dtype;
    EXPECT_EQ(encode(c.format, -std::numeric_limits<double>::denorm_min()), sign_bit(c)) << c.dtype;
    EXPECT_EQ(round_trip(c, c.denormal / 2), 0.0) << c.dtype;
    EXPECT_EQ(round_trip(c, std::nextafter(c.denormal / 2, 1.0)), c.denormal) << c.dtype;
  }
}

/// Every whole number up to 2^17, and each tie of large ones with its neighbours, where a double would have
/// lost the last digit.
TEST(SmallFloat, IntegersRoundOnce) {
  for (const Case& c : cases) {
    for (std::int64_t k = -(1 << 17); k <= 1 << 17; ++k) {
      ASSERT_EQ(encode(c.format, k), encode(c.format, static_cast<double>(k))) << c.dtype << " " << k;
    }
  }
  for (int exponent = 10; exponent < 64; ++exponent) {
    for (std::uint64_t mantissa = 128; mantissa < 256; ++mantissa) {
      const std::uint64_t tie = (2 * mantissa + 1) << (exponent - 8);
      const double below = std::ldexp(static_cast<double>(mantissa), exponent - 7);
      const double above = std::ldexp(static_cast<double>(mantissa + 1), exponent - 7);
      const double even = mantissa % 2 == 0 ? below : above;
      ASSERT_EQ(decode(bf16_format, encode(bf16_format, tie)), even) << tie;
      ASSERT_EQ(decode(bf16_format, encode(bf16_format, tie - 1)), below) << tie;
      ASSERT_EQ(decode(bf16_format, encode(bf16_format, tie + 1)), above) << tie;
    }
  }
}

}  // namespace
}  // namespace luminal
