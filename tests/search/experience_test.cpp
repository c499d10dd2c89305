// What schedules teach about others.
#include "luminal/compile/experience.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "luminal/codegen/schedule_text.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

using codegen::parse_schedule;
using codegen::Schedule;

/// A product of 512 rows, 1024 columns and 256 terms.
TunedKernel product(const std::string& key) {
  TunedKernel kernel;
  kernel.key = key;
  kernel.prior.family = search::Family::contract;
  kernel.prior.seconds = 1e-3;
  codegen::NestShape shape;
  shape.points = 512 * 1024;
  shape.rows = 512;
  shape.columns = 1024;
  shape.depth = 256;
  kernel.nests = {shape};
  kernel.candidates.resize(1);
  return kernel;
}

Schedule tiles(const std::string& tile, const std::string& block) {
  return parse_schedule("lanes=16 chunk=1 grain=1 tile=" + tile + " block=" + block + " depth=256");
}

/// The place of the first that is picked.
std::size_t first(const Experience& experience, const TunedKernel& kernel,
                  const std::vector<Schedule>& schedules) {
  return experience.pick(kernel, schedules, 1).at(0);
}

TEST(Experience, WhatIsLikeWhatDidWellComesFirst) {
  const TunedKernel kernel = product("a");
  const std::vector<Schedule> next = {tiles("14x1", "112x256"), tiles("6x4", "96x256")};
  for (const bool swapped : {false, true}) {
    Experience experience;
    experience.add(kernel, tiles("6x4", "48x256"), swapped ? 2 : 0.7);
    experience.add(kernel, tiles("14x1", "56x256"), swapped ? 0.7 : 2);
    EXPECT_EQ(first(experience, kernel, next), swapped ? 0U : 1U);
  }
}

TEST(Experience, OthersTeachLessThanTheKernelItself) {
  const std::vector<Schedule> next = {tiles("14x1", "112x256"), tiles("6x4", "96x256")};
  Experience experience;
  experience.add(product("b"), tiles("6x4", "96x256"), 0.7);
  experience.add(product("b"), tiles("14x1", "112x256"), 2);
  EXPECT_EQ(first(experience, product("a"), next), 1U);
  experience.add(product("a"), tiles("6x4", "90x256"), 2);
  experience.add(product("a"), tiles("14x1", "98x256"), 0.7);
  EXPECT_EQ(first(experience, product("a"), next), 0U);
}

TEST(Experience, WhereNothingIsFoundOneLooksElsewhere) {
  TunedKernel kernel = product("a");
  Experience experience;
  for (const char* block : {"96x256", "48x256", "96x128", "192x256", "96x512"})
    experience.add(kernel, tiles("6x4", block), 0.6);
  const std::vector<Schedule> next = {tiles("6x4", "48x512"), tiles("1x8", "512x1024")};
  EXPECT_EQ(first(experience, kernel, next), 0U);
  kernel.hope = 0.01;
  EXPECT_EQ(first(experience, kernel, next), 1U);
  kernel.candidates.clear();  // it should not be judged by what nobody knows
  EXPECT_EQ(first(experience, kernel, next), 0U);
}

TEST(Experience, WhatIsPickedTogetherIsNotAllAlike) {
  const TunedKernel kernel = product("a");
  Experience experience;
  experience.add(kernel, tiles("6x4", "96x256"), 0.9);
  std::vector<Schedule> next;
  for (int k = 0; k < 10; ++k) next.push_back(tiles("6x4", cat(96 + 6 * (k + 1), "x256")));
  next.push_back(tiles("1x4", "256x1024"));
  const auto picked = experience.pick(kernel, next, 3);
  EXPECT_EQ(picked.size(), 3U);
  EXPECT_NE(std::find(picked.begin(), picked.end(), 10U), picked.end());
}

TEST(Experience, OneThatIsVerySlowTellsNoMoreThanSlowOnes) {
  const TunedKernel kernel = product("a");
  const std::vector<Schedule> next = {tiles("6x4", "96x256"), tiles("14x1", "112x256")};
  Experience experience;
  experience.add(kernel, tiles("6x4", "96x256"), 1e9);
  experience.add(kernel, tiles("6x4", "96x256"), 1e-9);  // together: as usual
  experience.add(kernel, tiles("14x1", "112x256"), 1.2);
  EXPECT_EQ(first(experience, kernel, next), 0U);
  EXPECT_TRUE(experience.pick(kernel, {}, 3).empty());
}

}  // namespace
}  // namespace luminal
