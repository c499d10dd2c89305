// When two results are the same but for rounding.
#include "luminal/compile/agreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "luminal/compile/data_bank.h"
#include "luminal/op/scalar.h"

namespace luminal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::byte> elements(DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * byte_size(dtype));
  for (std::size_t k = 0; k < values.size(); ++k)
    store(make_scalar(dtype, Number(values[k])), bytes.data() + k * byte_size(dtype));
  return bytes;
}

bool differ(DType dtype, const std::vector<double>& got, const std::vector<double>& expected,
            double noise = 0) {
  return difference(dtype, elements(dtype, got), elements(dtype, expected), noise).has_value();
}

/// Wherever the element stands: floats are compared by many at a time.
TEST(Agreement, FloatsMayDifferByWhatRoundingExplains) {
  for (const std::size_t size : {1U, 15U, 16U, 17U, 33U, 100U})
    for (const std::size_t place : {std::size_t{0}, size / 2, size - 1}) {
      std::vector<double> expected(size, 1);
      expected[size / 3] = -50;  // how large elements are
      auto got = expected;
      got[place] += 0.09;
      EXPECT_FALSE(differ(DType::f32, got, expected)) << size << ", " << place;
      EXPECT_FALSE(differ(DType::f32, expected, got)) << size << ", " << place;
      got[place] += 0.03;
      EXPECT_TRUE(differ(DType::f32, got, expected)) << size << ", " << place;
      EXPECT_TRUE(differ(DType::f32, expected, got)) << size << ", " << place;
      EXPECT_FALSE(differ(DType::f32, got, expected, 0.2)) << "noise explains it";
    }
}

TEST(Agreement, WhatIsNoNumberHereIsNoneThere) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
    for (const std::size_t size : {1U, 17U, 40U})
      for (const double other : {nan, infinity, -infinity}) {
        std::vector<double> expected(size, 1);
        auto got = expected;
        got[size - 1] = other;
        EXPECT_TRUE(differ(dtype, got, expected)) << dtype << other;
        EXPECT_TRUE(differ(dtype, expected, got)) << dtype << other;
        EXPECT_TRUE(differ(dtype, got, expected, 100)) << dtype << other;
        EXPECT_FALSE(differ(dtype, got, got)) << dtype << other;
        // Sums that overflow in one order are infinities or their differences in another.
        expected[size - 1] = nan;
        EXPECT_FALSE(differ(dtype, got, expected)) << dtype << other;
        EXPECT_FALSE(differ(dtype, expected, got)) << dtype << other;
      }
}

TEST(Agreement, SmallAndEmptyResults) {
  EXPECT_FALSE(differ(DType::f32, {}, {}));
  EXPECT_FALSE(differ(DType::f32, {0, 0, 0}, {0, 0, 0}));
  EXPECT_FALSE(differ(DType::f32, {-0.0, 0}, {0, -0.0}));
  EXPECT_FALSE(differ(DType::f32, {1e-9, 0}, {0, 0})) << "far below what sums of numbers round";
  EXPECT_TRUE(differ(DType::f32, {1e-3, 0}, {0, 0}));
  EXPECT_TRUE(difference(DType::f32, elements(DType::f32, {1}), elements(DType::f32, {1, 1})).has_value());
}

TEST(Agreement, IntegersAreEqualOrNot) {
  EXPECT_FALSE(differ(DType::i32, {1, -7, 1e6}, {1, -7, 1e6}));
  EXPECT_TRUE(differ(DType::i32, {1, -7, 1e6 + 1}, {1, -7, 1e6}));
  EXPECT_FALSE(differ(DType::i32, {1, -7, 1e6 + 1}, {1, -7, 1e6}, 2)) << "places that noise decides";
}

TEST(DataBank, WhatIsNotWrittenIsFound) {
  for (const std::size_t size : {1U, 2U, 4U, 8U}) {
    std::vector<std::byte> bytes(10 * size, std::byte{1});
    EXPECT_FALSE(DataBank::first_unwritten(bytes, size)) << size;
    bytes[4 * size - 1] = DataBank::unwritten;  // a part of an element, where it has several bytes
    EXPECT_EQ(DataBank::first_unwritten(bytes, size),
              size == 1 ? std::optional<std::size_t>(3) : std::nullopt);
    bytes[4 * size - 1] = std::byte{1};
    for (std::size_t k = 0; k < size; ++k) bytes[7 * size + k] = DataBank::unwritten;
    EXPECT_EQ(DataBank::first_unwritten(bytes, size), 7U) << size;
    for (std::size_t k = 0; k < size; ++k) bytes[9 * size + k] = DataBank::unwritten;
    EXPECT_EQ(DataBank::first_unwritten(bytes, size), 7U) << size;
  }
  EXPECT_FALSE(DataBank::first_unwritten({}, 4));
}

}  // namespace
}  // namespace luminal
