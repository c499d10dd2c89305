// What kernels of a family teach each other.
#include "luminal/compile/experience.h"

#include <gtest/gtest.h>

#include "luminal/codegen/schedule_text.h"

namespace luminal {
namespace {

using codegen::parse_schedule;
using search::Family;

TEST(Experience, WordsThatDidWellPromiseMore) {
  Experience experience;
  const auto good = parse_schedule("lanes=16 chunk=1 grain=1 tile=6x4 block=96x256 depth=512");
  const auto bad = parse_schedule("lanes=16 chunk=1 grain=1 tile=14x1 block=96x256 depth=512");
  const auto other = parse_schedule("lanes=16 chunk=1 grain=1 tile=6x4 block=48x64 depth=128");
  EXPECT_EQ(experience.promise(Family::contract, good), 0);
  experience.add(Family::contract, good, 0.8);
  experience.add(Family::contract, bad, 1.5);
  EXPECT_LT(experience.promise(Family::contract, good), experience.promise(Family::contract, bad));
  // Its tile did well, its blocks are new.
  EXPECT_LT(experience.promise(Family::contract, other), experience.promise(Family::contract, bad));
  EXPECT_EQ(experience.promise(Family::map, good), 0);
}

TEST(Experience, WhatIsNewIsWorthATry) {
  Experience experience;
  const auto known = parse_schedule("lanes=16 chunk=1 grain=1 tile=6x4 block=96x256 depth=512");
  const auto fresh = parse_schedule("lanes=16 chunk=1 grain=1 tile=6x4 block=192x256 depth=512");
  for (int k = 0; k < 10; ++k) experience.add(Family::contract, known, 0.5);
  EXPECT_LT(experience.promise(Family::contract, fresh), experience.promise(Family::contract, known));
  experience.add(Family::contract, fresh, 2);
  EXPECT_GT(experience.promise(Family::contract, fresh), experience.promise(Family::contract, known));
}

TEST(Experience, OneThatIsVerySlowTellsNoMoreThanSlowOnes) {
  Experience experience;
  const auto schedule = parse_schedule("lanes=4 chunk=1 grain=1");
  experience.add(Family::map, schedule, 1e9);
  EXPECT_LE(experience.promise(Family::map, schedule), 1);
}

}  // namespace
}  // namespace luminal
