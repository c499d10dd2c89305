// What schedules are chosen without measuring.
#include "luminal/codegen/schedule.h"

#include <gtest/gtest.h>

#include "luminal/luminal.h"

namespace luminal {
namespace {

codegen::NestSchedule only_nest(Graph& g, const codegen::Machine& machine) {
  CompileOptions options;
  options.cache = false;
  const auto exe = compile(g, device("cpu"), options);
  EXPECT_EQ(exe.plan().kernels.size(), 1U);
  const auto schedule = codegen::default_schedule(exe.plan().kernels.at(0).kernel, machine, {});
  EXPECT_EQ(schedule.nests.size(), 1U);
  return schedule.nests.at(0);
}

/// Vectors longer than the loops that they run along would leave all to scalars.
TEST(Schedule, LanesFitIntoShortRows) {
  for (const auto& [length, lanes] : {std::pair(64, 16), {16, 16}, {12, 8}, {8, 8}, {5, 4}}) {
    Graph g;
    g.named_tensor("x", {256, length}).softmax(-1).retrieve();
    EXPECT_EQ(only_nest(g, {.vector_bytes = 64, .workers = 2}).lanes, lanes) << length;
  }
}

/// The gradient of a weight: few results of many terms each. All workers have a part, and no part is so small
/// that it packs more than it computes.
TEST(Schedule, SmallProductsOfGreatDepthAreCutIntoFewBlocks) {
  Graph g;
  matmul(g.named_tensor("x", {2816, 64}).transpose(0, 1), g.named_tensor("y", {2816, 64})).retrieve();
  for (const int workers : {1, 2, 8}) {
    const auto nest = only_nest(g, {.vector_bytes = 64, .workers = workers});
    ASSERT_TRUE(nest.tiles);
    const auto blocks = [](std::int64_t all, std::int64_t each) { return (all + each - 1) / each; };
    const auto tasks = blocks(64, nest.tiles->block_rows) * blocks(64, nest.tiles->block_columns);
    EXPECT_GE(tasks, workers);
    EXPECT_LE(tasks, 4 * workers);
  }
}

}  // namespace
}  // namespace luminal
