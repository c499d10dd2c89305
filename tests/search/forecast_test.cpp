// What is forecast of kernels that were never timed.
#include "luminal/compile/forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "luminal/luminal.h"

namespace luminal {
namespace {

/// Traits of which two differ.
Traits traits(double first, double second = 0) {
  return {first, second, 0, 1};
}

TEST(Forecast, NothingIsKnownAtFirst) {
  const Forecast forecast;
  EXPECT_DOUBLE_EQ(forecast.ratio(traits(3)).mean, 1);
  EXPECT_GE(forecast.ratio(traits(3)).spread, 1);
}

TEST(Forecast, WhatIsLikeAKernelTakesWhatItDid) {
  Forecast forecast;
  const std::map<std::string, double> took = {{"a", 1}, {"b", 20}, {"c", 3}};
  forecast.add("a", traits(0));
  forecast.add("b", traits(5, 1));
  forecast.add("c", traits(0, 9));
  forecast.fit([&](const std::string& key) { return took.at(key); });
  EXPECT_NEAR(forecast.ratio(traits(0)).mean, 1, 0.1);
  EXPECT_NEAR(forecast.ratio(traits(5, 1)).mean, 20, 2);
  EXPECT_NEAR(forecast.ratio(traits(0, 9)).mean, 3, 0.3);
  EXPECT_GT(forecast.ratio(traits(4.5, 1)).mean, 10);
  // What is far from all is less certain.
  EXPECT_LT(forecast.ratio(traits(5, 1)).spread, 0.5);
  EXPECT_GT(forecast.ratio(traits(20, -20)).spread, 1);
}

TEST(Forecast, ATrendGoesOn) {
  Forecast forecast;
  for (int k = 0; k < 12; ++k) forecast.add(std::to_string(k), traits(0.3 * k, k % 3));
  forecast.fit([&](const std::string& key) { return std::exp(0.3 * std::stoi(key)); });
  EXPECT_GT(forecast.ratio(traits(6, 1)).mean, std::exp(4.5));
  EXPECT_LT(forecast.ratio(traits(6, 1)).mean, std::exp(7.5));
}

TEST(Forecast, WhatWasTimedAgainChangesIt) {
  Forecast forecast;
  double took = 4;
  for (int round = 0; round < 2; ++round) {
    forecast.add("a", traits(1));  // the second time it is known
    forecast.fit([&](const std::string&) { return took; });
    EXPECT_NEAR(forecast.ratio(traits(1)).mean, took, 0.1 * took);
    took = 2;
  }
}

TEST(Forecast, WhatTakesNoTimeIsNoTrouble) {
  Forecast forecast;
  forecast.add("a", traits(1));
  forecast.fit([](const std::string&) { return 0; });
  EXPECT_GT(forecast.ratio(traits(1)).mean, 0);
  EXPECT_LT(forecast.ratio(traits(1)).mean, 0.1);
}

TEST(Forecast, ManyAreNoneTooMany) {
  Forecast forecast;
  for (int k = 0; k < 1200; ++k) forecast.add(std::to_string(k), traits(k % 7, k % 11));
  forecast.fit([](const std::string& key) { return 1 + std::stoi(key) % 7; });
  EXPECT_NEAR(forecast.ratio(traits(6, 5)).mean, 7, 0.5);
  EXPECT_NEAR(forecast.ratio(traits(0, 5)).mean, 1, 0.1);
}

/// The traits of the one kernel that computes what `build` returns.
template <typename F>
Traits traits_of_kernel(F&& build) {
  Graph g;
  build(g).retrieve();
  CompileOptions options;
  options.cache = false;
  const auto executable = compile(g, luminal::device("cpu"), options);
  const auto& kernels = executable.plan().kernels;
  EXPECT_EQ(kernels.size(), 1U);
  search::Roofline roofline;
  return traits_of(kernels.at(0).kernel, roofline.estimate(kernels.at(0).kernel, {}).value(), {}, {});
}

TEST(Traits, TellKernelsApartThatTheRooflineDoesNot) {
  const auto straight = traits_of_kernel([](Graph& g) { return g.named_tensor("a", {96, 64}) + 1.0F; });
  const auto same = traits_of_kernel([](Graph& g) { return g.named_tensor("a", {96, 64}) * 2.0F; });
  const auto across =
      traits_of_kernel([](Graph& g) { return g.named_tensor("a", {64, 96}).permute({1, 0}) + 1.0F; });
  const auto narrow = traits_of_kernel([](Graph& g) { return g.named_tensor("a", {3072, 2}).sum(0) + 1.0F; });
  EXPECT_EQ(straight, same);
  EXPECT_NE(straight, across);
  EXPECT_NE(straight, narrow);
}

}  // namespace
}  // namespace luminal
