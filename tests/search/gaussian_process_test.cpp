// Numbers of which some are known.
#include "luminal/compile/gaussian_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "luminal/support/error.h"

namespace luminal {
namespace {

TEST(GaussianProcess, GoesThroughWhatIsKnown) {
  GaussianProcess process({.near = 1, .reach = 1, .noise = 1e-6});
  std::vector<double> numbers;
  for (int k = 0; k < 8; ++k) {
    process.add({0.8 * k});
    numbers.push_back(std::sin(0.8 * k));
  }
  process.fit(numbers);
  for (int k = 0; k < 14; ++k) EXPECT_NEAR(process.guess({0.4 * k}).mean, std::sin(0.4 * k), 0.1) << k;
  EXPECT_NEAR(process.guess({100}).mean, 0, 1e-6);  // nothing is known there
  EXPECT_LT(process.guess({0.8}).spread, 0.01);
  EXPECT_NEAR(process.guess({100}).spread, 1, 1e-3);
}

/// The same numbers as from the definition: two points, so the inverse is known.
TEST(GaussianProcess, GuessesAreTheConditionalMeans) {
  const double noise = 0.2;
  const double reach = 1.5;
  GaussianProcess process({.common = 0.5, .trend = 0.1, .near = 2, .reach = reach, .noise = noise});
  const auto related = [&](double a, double b) {
    return 0.5 + 0.1 * a * b + 2 * std::exp(-(a - b) * (a - b) / (2 * reach * reach));
  };
  process.add({1});
  process.add({3});
  process.fit({4, -2});
  const double a = related(1, 1) + noise;
  const double b = related(1, 3);
  const double d = related(3, 3) + noise;
  const double determinant = a * d - b * b;
  const double first = (d * 4 - b * -2) / determinant;
  const double second = (a * -2 - b * 4) / determinant;
  for (const double x : {0.0, 1.0, 2.5})
    EXPECT_NEAR(process.guess({x}).mean, first * related(x, 1) + second * related(x, 3), 1e-12);
}

TEST(GaussianProcess, PicksTheLeastFirst) {
  GaussianProcess process({.near = 1, .reach = 0.3, .noise = 0.01});
  std::vector<GaussianProcess::Point> points;
  for (int k = 0; k < 5; ++k) {
    points.push_back({1.0 * k});
    process.add(points.back());
  }
  process.fit({3, 1, 2, -1, 5});
  EXPECT_EQ(process.pick(points, 3, 0), (std::vector<std::size_t>{3, 1, 2}));
  EXPECT_EQ(process.pick(points, 9, 0).size(), 5U);
  EXPECT_TRUE(process.pick({}, 3, 0).empty());
}

TEST(GaussianProcess, CuriosityPicksWhatIsFarFromAllAndFromEachOther) {
  GaussianProcess process({.near = 1, .reach = 1, .noise = 0.01});
  process.add({0});
  process.fit({0});
  const std::vector<GaussianProcess::Point> points = {{0.1}, {0.2}, {10}, {10.1}, {20}};
  const auto picked = process.pick(points, 2, 1);
  const std::set<std::size_t> both(picked.begin(), picked.end());
  EXPECT_EQ(both.size(), 2U);
  EXPECT_TRUE(both.contains(4));
  EXPECT_TRUE(both.contains(2) || both.contains(3));
}

TEST(GaussianProcess, WhatIsKnownTwiceIsNoTrouble) {
  GaussianProcess process({.near = 1, .reach = 1, .noise = 1e-9});
  for (int k = 0; k < 5; ++k) process.add({1, 2});
  process.fit({1, 1, 1, 1, 1});
  EXPECT_NEAR(process.guess({1, 2}).mean, 1, 1e-3);
  EXPECT_THROW(process.add({1}), InternalError);
  EXPECT_THROW(process.fit({1}), InternalError);
}

}  // namespace
}  // namespace luminal
