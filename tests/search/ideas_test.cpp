// What kernels try next.
#include "luminal/compile/ideas.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "luminal/codegen/schedule_text.h"
#include "luminal/codegen/variants.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

/// A matrix product of 64×96×160 with something behind it.
TunedKernel product(const std::function<Tensor(const Tensor&)>& behind) {
  Graph g;
  behind(matmul(g.named_tensor("a", {64, 96}), g.named_tensor("b", {96, 160}))).retrieve();
  const auto device = luminal::device("cpu");
  CompileOptions options;
  options.cache = false;
  TunedKernel result;
  result.kernel = compile(g, device, options).plan().kernels.at(0).kernel;
  result.key = kernel::key(result.kernel);
  result.usual = codegen::default_schedule(result.kernel, device->machine(), {});
  result.nests = codegen::nest_shapes(result.kernel, {});
  result.prior.family = search::Family::contract;
  result.candidates.push_back({result.usual, {.seconds = 1}});
  return result;
}

TEST(Ideas, WhatDidWellForANestOfTheSameShapeComesFirst) {
  const auto machine = luminal::device("cpu")->machine();
  TunedKernel known = product([](const Tensor& t) { return t.tanh(); });
  const TunedKernel other = product([](const Tensor& t) { return t.relu() + 1.0F; });
  ASSERT_NE(known.key, other.key);
  ASSERT_EQ(known.nests.size(), 1U);
  ASSERT_EQ(known.nests[0].text, other.nests[0].text);
  const auto variants = codegen::schedule_variants(known.kernel, machine, {});
  ASSERT_GT(variants.size(), 2U);
  Ideas ideas(machine, {});
  for (const auto& schedule : variants) {
    const auto before = ideas.next(other, 3);
    ASSERT_FALSE(before.empty());
    known.candidates.push_back(
        {schedule, {.seconds = 1.0 / (1 + static_cast<double>(known.candidates.size()))}});
    ideas.learn(known, known.candidates.size() - 1);
    EXPECT_EQ(codegen::text(ideas.next(other, 3).front()), codegen::text(schedule));
  }
}

TEST(Ideas, WhatWasNeverTimedFollowsLeads) {
  const auto machine = luminal::device("cpu")->machine();
  TunedKernel known = product([](const Tensor& t) { return t.tanh(); });
  TunedKernel other = product([](const Tensor& t) { return t.relu() + 1.0F; });
  other.candidates.clear();
  Ideas ideas(machine, {});
  EXPECT_FALSE(ideas.lead(other)) << "nobody knows anything";
  const auto schedule = codegen::schedule_variants(known.kernel, machine, {}).back();
  known.candidates.push_back({schedule, {.seconds = 0.5}});
  ideas.learn(known, 1);
  ASSERT_TRUE(ideas.lead(other));
  EXPECT_EQ(codegen::text(*ideas.lead(other)), codegen::text(schedule));
  EXPECT_FALSE(ideas.lead(known)) << "it is its own";
  other.candidates.push_back({other.usual, {.seconds = 3}});
  EXPECT_TRUE(ideas.lead(other));
  other.candidates.push_back({schedule, {.seconds = 4}});
  EXPECT_FALSE(ideas.lead(other)) << "it was tried";
}

TEST(Ideas, NothingIsTriedTwice) {
  const auto machine = luminal::device("cpu")->machine();
  TunedKernel kernel = product([](const Tensor& t) { return t.tanh(); });
  Ideas ideas(machine, {});
  for (int step = 0; step < 6; ++step)
    for (const auto& schedule : ideas.next(kernel, 3)) {
      EXPECT_FALSE(kernel.has(schedule)) << codegen::text(schedule);
      kernel.candidates.push_back({schedule, {.seconds = 2}});
    }
  EXPECT_GT(kernel.candidates.size(), 20U);
}

TEST(Ideas, LongKernelsKeepTheirTilesIfTheseAreRight) {
  using Outcome = Timing::Outcome;
  const auto machine = luminal::device("cpu")->machine();
  TunedKernel kernel = product([](const Tensor& t) { return t.tanh(); });
  ASSERT_TRUE(kernel.has_tiles());
  const Ideas ideas(machine, {});
  for (const auto& [seconds, outcome] :
       {std::pair(1e-5, Outcome::timed), {1e-2, Outcome::timed}, {1e-2, Outcome::wrong}}) {
    kernel.prior.seconds = seconds;
    kernel.candidates.resize(1);
    kernel.candidates[0].timing.outcome = outcome;
    std::size_t plain = 0;
    for (auto next = ideas.next(kernel, 3); !next.empty() && kernel.candidates.size() < 200;
         next = ideas.next(kernel, 3))
      for (const auto& schedule : next) {
        plain += schedule.nests[0].tiles ? 0 : 1;
        kernel.candidates.push_back({schedule, {.outcome = outcome, .seconds = 2}});
      }
    EXPECT_GT(kernel.candidates.size(), 10U);
    EXPECT_EQ(plain == 0, seconds > 1e-3 && outcome == Outcome::timed) << plain;
  }
  // Only a schedule without them is right: there is more to be had of its kind.
  auto others = codegen::schedule_variants(kernel.kernel, machine, {});
  std::erase_if(others, [](const auto& schedule) { return schedule.nests[0].tiles.has_value(); });
  ASSERT_FALSE(others.empty());
  kernel.candidates.resize(1);
  kernel.candidates.push_back({others[0], {.seconds = 2}});
  const auto next = ideas.next(kernel, 3);
  EXPECT_TRUE(std::any_of(next.begin(), next.end(),
                          [](const auto& schedule) { return !schedule.nests[0].tiles.has_value(); }));
}

TEST(Ideas, SchedulesMoveToOtherNamesOfLoops) {
  const codegen::NestShape from{"", {kernel::LoopId(0), kernel::LoopId(3)}, {"8", "16"}};
  const codegen::NestShape to{"", {kernel::LoopId(5), kernel::LoopId(2)}, {"8", "16"}};
  const codegen::NestShape longer{"", {kernel::LoopId(5)}, {"128"}};
  const auto one = codegen::parse_schedule("lanes=16 chunk=1 grain=1 cover=0 vector=3").nests[0];
  const auto moved = codegen::moved(one, from, to);
  ASSERT_TRUE(moved);
  EXPECT_EQ(codegen::text({.nests = {*moved}}), "lanes=16 chunk=1 grain=1 cover=5 vector=2");
  EXPECT_FALSE(codegen::moved(one, from, longer));
  const auto tiled =
      codegen::parse_schedule("lanes=16 chunk=1 grain=1 tile=6x4 block=96x64 depth=64").nests[0];
  EXPECT_TRUE(codegen::moved(tiled, from, longer));  // names none
}

}  // namespace
}  // namespace luminal
