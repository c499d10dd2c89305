// What a search expects of kernels that it has not tuned, or never timed.
#include "luminal/compile/outlook.h"

#include <gtest/gtest.h>

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
  EXPECT_DOUBLE_EQ(outlook.seconds(kernels.at("e")), 3);  // nothing is known of its family: what all gained
}

TEST(Outlook, WhatWasNeverTimedIsScaledAndDoubted) {
  const std::map<std::string, TunedKernel> kernels = {{"a", timed(Family::contract, 2, {8, 4})}};
  const search::Estimate prior{.seconds = 1, .family = Family::contract};
  EXPECT_DOUBLE_EQ(Outlook(kernels).seconds(prior), 2);  // the usual schedule takes 4, a tuned one half of it
  EXPECT_DOUBLE_EQ(Outlook(kernels, 3).seconds(prior), 6);
  EXPECT_DOUBLE_EQ(Outlook(kernels, 3).seconds(kernels.at("a")), 4);
}

TEST(Outlook, WhatFailedIsAvoided) {
  TunedKernel failed = timed(Family::map, 1, {});
  failed.candidates.push_back({{}, {.outcome = Timing::Outcome::wrong, .problem = "wrong"}});
  const std::map<std::string, TunedKernel> kernels = {{"a", failed}};
  EXPECT_GT(Outlook(kernels).seconds(kernels.at("a")), 100);
}

}  // namespace
}  // namespace luminal
