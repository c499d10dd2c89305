// What a search expects of kernels that it has not tuned, or never timed.
#include "luminal/compile/outlook.h"

#include <gtest/gtest.h>

#include "luminal/luminal.h"

namespace luminal {
namespace {

using search::Family;

/// A kernel of which these times are known, the usual schedule's first.
TunedKernel timed(Family family, double prior, const std::vector<double>& seconds) {
  TunedKernel kernel;
  kernel.prior.family = family;
  kernel.prior.seconds = prior;
  for (const double each : seconds)
    kernel.candidates.push_back({{}, {.outcome = Timing::Outcome::timed, .seconds = each, .median = each}});
  return kernel;
}

TEST(Outlook, WhatWasTunedTakesWhatItTook) {
  const std::map<std::string, TunedKernel> kernels = {{"a", timed(Family::contract, 1, {4, 2, 3})}};
  EXPECT_DOUBLE_EQ(Outlook(kernels).seconds(kernels.at("a")), 2);
}

TEST(Outlook, WhatWasNotTunedGainsWhatOthersOfItsFamilyDid) {
  const std::map<std::string, TunedKernel> kernels = {{"a", timed(Family::contract, 1, {4, 2})},
                                                      {"b", timed(Family::contract, 1, {6})},
                                                      {"c", timed(Family::map, 1, {8, 6})},
                                                      {"d", timed(Family::map, 1, {4})},
                                                      {"e", timed(Family::row, 1, {4})}};
  const Outlook outlook(kernels);
  EXPECT_DOUBLE_EQ(outlook.seconds(kernels.at("b")), 3);
  EXPECT_DOUBLE_EQ(outlook.seconds(kernels.at("d")), 3);
  EXPECT_DOUBLE_EQ(outlook.seconds(kernels.at("e")), 4 * 8.0 / 12);  // of its family nothing is known: of all
}

TEST(Outlook, HopeIsForWhatNobodyTuned) {
  const std::map<std::string, TunedKernel> kernels = {{"a", timed(Family::contract, 1, {4, 2})},
                                                      {"b", timed(Family::contract, 1, {6})},
                                                      {"c", timed(Family::contract, 2, {})}};
  const Outlook usual(kernels);
  const Outlook hopeful(kernels, nullptr, {.left = 0.5});
  EXPECT_DOUBLE_EQ(hopeful.seconds(kernels.at("a")), usual.seconds(kernels.at("a")));
  EXPECT_DOUBLE_EQ(hopeful.seconds(kernels.at("b")), 0.5 * usual.seconds(kernels.at("b")));
  EXPECT_DOUBLE_EQ(hopeful.seconds(kernels.at("c")), 0.5 * usual.seconds(kernels.at("c")));
}

TEST(Outlook, LongKernelsSayMoreThanShortOnes) {
  const std::map<std::string, TunedKernel> kernels = {{"a", timed(Family::reduce, 1, {10, 1})},
                                                      {"b", timed(Family::reduce, 1, {10, 1})},
                                                      {"c", timed(Family::reduce, 1, {80, 68})},
                                                      {"d", timed(Family::reduce, 1, {50})}};
  EXPECT_DOUBLE_EQ(Outlook(kernels).seconds(kernels.at("d")), 35);  // 70 of 100 are left
}

TEST(Outlook, KernelsWithTilesAreNotLikeThoseWithout) {
  codegen::NestSchedule tiled;
  tiled.tiles.emplace();
  std::map<std::string, TunedKernel> kernels = {{"a", timed(Family::contract, 1, {10, 9})},
                                                {"b", timed(Family::contract, 1, {10})},
                                                {"c", timed(Family::contract, 1, {10, 2})},
                                                {"d", timed(Family::contract, 1, {10})}};
  for (const char* key : {"a", "b"}) kernels.at(key).usual.nests = {tiled};
  for (const char* key : {"c", "d"}) kernels.at(key).usual.nests = {tiled, {}};
  const Outlook outlook(kernels);
  EXPECT_DOUBLE_EQ(outlook.seconds(kernels.at("b")), 9);
  EXPECT_DOUBLE_EQ(outlook.seconds(kernels.at("d")), 2);
}

TEST(Outlook, WhatBeganWithSeveralSchedulesGainsLess) {
  std::map<std::string, TunedKernel> kernels = {{"a", timed(Family::map, 1, {10, 9, 8, 4, 2})},
                                                {"b", timed(Family::map, 1, {30, 20})},
                                                {"c", timed(Family::map, 1, {30})}};
  kernels.at("b").tried_first = 2;
  EXPECT_FALSE(kernels.at("b").is_tuned());
  const Outlook outlook(kernels);
  EXPECT_DOUBLE_EQ(outlook.seconds(kernels.at("b")), 10);  // from the best of four to the best of all
  EXPECT_DOUBLE_EQ(outlook.seconds(kernels.at("c")), 6);   // from the first
}

/// A kernel of which nothing is known.
kernel::Kernel some_kernel(float number) {
  Graph g;
  (g.named_tensor("a", {64, 64}) + number).retrieve();
  CompileOptions options;
  options.cache = false;
  return compile(g, luminal::device("cpu"), options).plan().kernels.at(0).kernel;
}

TEST(Oracle, DiceAreThrownOnceForEachKernelThatWasNeverTimed) {
  std::map<std::string, TunedKernel> kernels = {{"a", timed(Family::map, 1e-6, {2e-6, 1e-6})}};
  kernels.at("a").kernel = some_kernel(1);
  const Outlook outlook(kernels);
  const search::MachineModel machine;
  Priors priors;
  const auto seconds = [&](float number, std::optional<std::uint64_t> dice) {
    MeasuredOracle oracle(machine, kernels, {}, outlook, priors, {.dice = dice, .avoided = {}});
    return oracle.estimate(some_kernel(number), {}).value().seconds;
  };
  const double promised = seconds(2, std::nullopt);
  EXPECT_EQ(seconds(2, 7), seconds(2, 7));
  EXPECT_NE(seconds(2, 7), seconds(2, 8));
  EXPECT_NE(seconds(2, 7) / promised, seconds(3, 7) / seconds(3, std::nullopt));
  EXPECT_DOUBLE_EQ(seconds(1, 7), 1e-6);  // it was timed
  double least = 10;
  double most = 0;
  for (std::uint64_t dice = 0; dice < 200; ++dice) {
    least = std::min(least, seconds(2, dice) / promised);
    most = std::max(most, seconds(2, dice) / promised);
  }
  EXPECT_LT(least, 0.8);
  EXPECT_GT(least, 0.02);
  EXPECT_GT(most, 2);
  EXPECT_LT(most, 60);
}

TEST(Oracle, KernelsCostNoMoreThanWhatCouldStandInTheirPlace) {
  std::map<std::string, TunedKernel> kernels = {{"a", timed(Family::map, 1e-6, {8e-6, 6e-6})},
                                                {"b", timed(Family::map, 1e-6, {3e-6, 2e-6})},
                                                {"c", timed(Family::map, 1e-6, {9e-6, 7e-6})},
                                                {"d", timed(Family::map, 1e-9, {})}};
  float number = 0;
  for (auto& [key, kernel] : kernels) kernel.kernel = some_kernel(++number);
  const Outlook outlook(kernels);
  Priors priors;
  // `b` in place of `a` or with others; `c` is slower than `a`, `d` was never timed.
  const Others others = {{"b", {"a", ""}}, {"c", {"a", "b"}}, {"d", {"b"}}};
  MeasuredOracle oracle(search::MachineModel(), kernels, others, outlook, priors, {});
  const auto seconds = [&](const char* key) {
    return oracle.estimate(kernels.at(key).kernel, {}).value().seconds;
  };
  EXPECT_NEAR(seconds("a"), 2e-6, 0.1e-6);
  EXPECT_GT(seconds("a"), 2e-6);  // weights in another order take memory
  EXPECT_DOUBLE_EQ(seconds("b"), 2e-6);
  EXPECT_DOUBLE_EQ(seconds("c"), 7e-6);
  MeasuredOracle avoiding(search::MachineModel(), kernels, others, outlook, priors,
                          {.dice = std::nullopt, .avoided = "c"});
  EXPECT_DOUBLE_EQ(avoiding.estimate(kernels.at("c").kernel, {}).value().seconds, 14e-6);
  EXPECT_DOUBLE_EQ(avoiding.estimate(kernels.at("b").kernel, {}).value().seconds, 2e-6);
}

TEST(Outlook, WhatWasNeverTimedIsForecastAndDoubted) {
  const std::map<std::string, TunedKernel> kernels = {{"a", timed(Family::contract, 2, {8, 4})}};
  const search::Estimate prior{.seconds = 1, .family = Family::contract};
  EXPECT_DOUBLE_EQ(Outlook(kernels).seconds(prior, {}), 1);  // what the roofline says
  Forecast forecast;
  learn(forecast, kernels);
  const auto seconds = [&](double doubt, double luck) {
    return Outlook(kernels, &forecast, {.doubt = doubt, .luck = luck}).seconds(prior, {});
  };
  EXPECT_NEAR(seconds(1, 0), 2, 0.2);  // the one that is known takes twice what the roofline says
  EXPECT_DOUBLE_EQ(seconds(3, 0), 3 * seconds(1, 0));
  EXPECT_LT(seconds(1, -1), seconds(1, 0));
  EXPECT_LT(seconds(1, 0), seconds(1, 1));
  EXPECT_DOUBLE_EQ(Outlook(kernels, &forecast, {.doubt = 3}).seconds(kernels.at("a")), 4);
}

TEST(Outlook, WhatFailedIsAvoided) {
  TunedKernel failed = timed(Family::map, 1, {});
  failed.candidates.push_back({{}, {.outcome = Timing::Outcome::wrong, .problem = "wrong"}});
  const std::map<std::string, TunedKernel> kernels = {{"a", failed}};
  EXPECT_GT(Outlook(kernels).seconds(kernels.at("a")), 100);
}

TEST(Outlook, WhereOneHangsOthersLikeItPromiseLittle) {
  std::map<std::string, TunedKernel> kernels = {{"a", timed(Family::attend, 2, {})},
                                                {"b", timed(Family::map, 1, {1})}};
  kernels.at("a").traits = {0, 0, 0};
  kernels.at("b").traits = {9, 9, 9};
  const auto seconds = [&] {
    Forecast forecast;
    learn(forecast, kernels);
    return Outlook(kernels, &forecast, {}).seconds({.seconds = 3, .family = Family::attend}, {0, 0, 0});
  };
  EXPECT_LT(seconds(), 10);
  kernels.at("a").candidates.push_back({{}, {.outcome = Timing::Outcome::hung, .problem = "hung"}});
  EXPECT_GT(seconds(), 100);
}

}  // namespace
}  // namespace luminal
