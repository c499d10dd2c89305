#include "luminal/compile/gains.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace luminal {
namespace {

TEST(Gains, TheTimeGoesWhereSomethingIsFound) {
  Gains gains(100);
  gains.by_tuning(200, 100);
  EXPECT_DOUBLE_EQ(gains.tuning_share(true), 0.4);  // there are no good mappings yet
  for (int round = 0; round < 20; ++round) gains.end_round(100, 0, 0);
  EXPECT_NEAR(gains.tuning_share(true), 0.5, 1e-3);
  gains.by_tuning(100, 90);
  EXPECT_DOUBLE_EQ(gains.tuning_share(true), 0.7);  // mappings keep the rest
  EXPECT_DOUBLE_EQ(gains.tuning_share(false), 0.8);
  gains.by_mapping(90, 45);
  EXPECT_LT(gains.tuning_share(true), 0.25);
  gains.by_mapping(45, 60);  // what promised too much is no loss
  EXPECT_LT(gains.tuning_share(true), 0.25);
  // What was found long ago says nothing.
  for (int round = 0; round < 20; ++round) gains.end_round(45, 0, 0);
  EXPECT_NEAR(gains.tuning_share(true), 0.5, 1e-3);
  gains.by_mapping(0, 0);
  EXPECT_NEAR(gains.tuning_share(true), 0.5, 1e-3);
}

TEST(Gains, SlowMappingsHaveTheFirstTwoRounds) {
  Gains gains(100);
  gains.by_tuning(200, 100);
  EXPECT_DOUBLE_EQ(gains.tuning_share(false), 0.2);
  gains.end_round(90, 0, 0);
  EXPECT_DOUBLE_EQ(gains.tuning_share(false), 0.2);
  gains.end_round(80, 0, 0);
  EXPECT_GT(gains.tuning_share(false), 0.7);
}

TEST(Gains, RoundsEndWhenSixGainedLessThanAPercent) {
  Gains gains(100);
  std::size_t tried = 0;
  double passed = 0;
  const auto is_worthwhile_after = [&](double seconds) {
    gains.end_round(seconds, ++tried, ++passed);
    return gains.are_worthwhile(5);
  };
  for (int round = 0; round < 5; ++round) EXPECT_TRUE(is_worthwhile_after(100));
  EXPECT_TRUE(is_worthwhile_after(98));
  for (int round = 0; round < 5; ++round) EXPECT_TRUE(is_worthwhile_after(98.0 - 0.1 * round));
  EXPECT_FALSE(is_worthwhile_after(97.5));  // the round that gained is the seventh before
}

TEST(Gains, ShortRoundsNeedPatience) {
  Gains gains(100);
  for (std::size_t round = 1; round <= 12; ++round) {
    gains.end_round(100, round, static_cast<double>(round));
    EXPECT_EQ(gains.are_worthwhile(10), round < 10) << round;
  }
}

TEST(Gains, NobodyWaitsWhereNothingIsLeftToTry) {
  Gains gains(100);
  for (std::size_t round = 1; round <= 7; ++round) {
    gains.end_round(100, 3, 0);
    EXPECT_EQ(gains.are_worthwhile(10), round < 7) << round;
  }
}

TEST(Gains, ManySmallOnesAreWorthwhile) {
  Gains gains(100);
  double seconds = 100;
  for (std::size_t round = 0; round < 30; ++round) {
    gains.end_round(seconds *= 0.998, round, static_cast<double>(round));
    EXPECT_TRUE(gains.are_worthwhile(1));
    EXPECT_EQ(gains.stale(), std::min<std::size_t>(round + 1, 5));  // none of them alone
  }
  gains.end_round(0.9 * seconds, 30, 30);
  EXPECT_EQ(gains.stale(), 0U);
  gains.end_round(2 * seconds, 31, 31);  // times may turn out longer: the least counts
  EXPECT_EQ(gains.stale(), 1U);
}

}  // namespace
}  // namespace luminal
