#include "luminal/compile/gains.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace luminal {
namespace {

TEST(Gains, TheTimeGoesWhereSomethingIsFound) {
  Gains gains(100);
  EXPECT_DOUBLE_EQ(gains.tuning_share(), 0.5);
  gains.by_tuning(100, 90);
  EXPECT_DOUBLE_EQ(gains.tuning_share(), 0.8);  // mappings keep a fifth
  gains.by_mapping(90, 45);
  EXPECT_LT(gains.tuning_share(), 0.25);
  gains.by_mapping(45, 60);  // what promised too much is no loss
  EXPECT_LT(gains.tuning_share(), 0.25);
  // What was found long ago says nothing.
  for (int round = 0; round < 20; ++round) gains.end_round(45);
  EXPECT_NEAR(gains.tuning_share(), 0.5, 1e-3);
  gains.by_mapping(0, 0);
  EXPECT_NEAR(gains.tuning_share(), 0.5, 1e-3);
}

TEST(Gains, RoundsEndWhenSixGainedLessThanAPercent) {
  Gains gains(100);
  for (int round = 0; round < 5; ++round) {
    gains.end_round(100);
    EXPECT_TRUE(gains.are_worthwhile());
  }
  gains.end_round(98);
  EXPECT_TRUE(gains.are_worthwhile());
  for (int round = 0; round < 5; ++round) {
    gains.end_round(98.0 - 0.1 * round);
    EXPECT_TRUE(gains.are_worthwhile());
  }
  gains.end_round(97.5);  // the round that gained is the seventh before
  EXPECT_FALSE(gains.are_worthwhile());
}

TEST(Gains, ManySmallOnesAreWorthwhile) {
  Gains gains(100);
  double seconds = 100;
  for (int round = 0; round < 30; ++round) {
    gains.end_round(seconds *= 0.998);
    EXPECT_TRUE(gains.are_worthwhile());
    EXPECT_EQ(gains.stale(), static_cast<std::size_t>(std::min(round + 1, 5)));  // none of them alone
  }
  gains.end_round(0.9 * seconds);
  EXPECT_EQ(gains.stale(), 0U);
  gains.end_round(2 * seconds);  // times may turn out longer: the least counts
  EXPECT_EQ(gains.stale(), 1U);
}

}  // namespace
}  // namespace luminal
