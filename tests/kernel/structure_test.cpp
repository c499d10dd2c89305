#include "luminal/kernel/structure.h"

#include <gtest/gtest.h>

#include "tests/codegen/build.h"

namespace luminal::kernel {
namespace {

using test::Build;

TEST(Structure, MapsHaveAGridAndNoSweeps) {
  Build b;
  const auto i = b.loop(4), j = b.loop(5);
  const auto x = b.read({4, 5}, {b.at(i), b.at(j)});
  const auto structure = analyse(b.kernel, std::vector{x}, std::vector{i, j});
  EXPECT_EQ(structure.grid, (std::vector{i, j}));
  EXPECT_TRUE(structure.covered.empty());
  EXPECT_TRUE(structure.sweeps.empty());
}

TEST(Structure, RowsCoverWhatTheirReductionsLack) {
  Build b;
  const auto i = b.loop(4), j = b.loop(5);
  const auto x = b.read({4, 5}, {b.at(i), b.at(j)});
  const auto top = b.reduce(Monoid::max, {j}, {x});
  const auto e = b.map(Op::exp2, {b.add(x, top)});
  const auto total = b.sum({j}, e);
  const auto y = b.mul(e, total);
  const auto structure = analyse(b.kernel, std::vector{y}, std::vector{i, j});
  EXPECT_EQ(structure.grid, std::vector{i});
  EXPECT_EQ(structure.covered, std::vector{j});
  EXPECT_EQ(structure.sweeps, (std::vector<Sweep>{{{j}, {top}}, {{j}, {total}}}));
  EXPECT_TRUE(structure.nested.empty());
}

TEST(Structure, SoftSumsOverOneLoopShareASweepAndTheirScoreIsNested) {
  Build b;
  const auto i = b.loop(4), j = b.loop(5), d = b.loop(6), e = b.loop(6);
  const auto q = b.read({4, 6}, {b.at(i), b.at(e)});
  const auto k = b.read({5, 6}, {b.at(j), b.at(e)});
  const auto v = b.read({5, 6}, {b.at(j), b.at(d)});
  const auto score = b.sum({e}, b.mul(q, k));
  const auto total = b.reduce(Monoid::soft_sum, {j}, {score, b.constant(1)});
  const auto mixed = b.reduce(Monoid::soft_sum, {j}, {score, v});
  const auto y = b.mul(mixed, total);
  const auto structure = analyse(b.kernel, std::vector{y}, std::vector{i, d});
  EXPECT_EQ(structure.grid, std::vector{i});
  EXPECT_EQ(structure.covered, std::vector{d});
  EXPECT_EQ(structure.sweeps, (std::vector<Sweep>{{{j}, {total, mixed}}}));
  EXPECT_EQ(structure.nested, std::vector{score});
  EXPECT_EQ(sweeps_of(b.kernel, std::vector{score, v}, set_of(std::vector{j})),
            (std::vector<Sweep>{{{e}, {score}}}));
}

TEST(Structure, WhatDoesNotVaryWithASweepIsOutsideOfIt) {
  // A sum over j of another sum over the same loop: the inner one has no j left, and comes first.
  Build b;
  const auto i = b.loop(4), j = b.loop(5);
  const auto x = b.read({4, 5}, {b.at(i), b.at(j)});
  const auto first = b.sum({j}, x);
  const auto second = b.sum({j}, b.mul(x, first));
  const auto structure = analyse(b.kernel, std::vector{second}, std::vector{i});
  EXPECT_EQ(structure.sweeps, (std::vector<Sweep>{{{j}, {first}}, {{j}, {second}}}));
  EXPECT_TRUE(structure.nested.empty());
  EXPECT_FALSE(inside(b.kernel, second)[first.index()]);
}

TEST(Structure, WhatGuardsKeepInsideOfArraysNeedsThem) {
  Build b;
  const auto i = b.loop(4), j = b.loop(5);
  const auto shifted = b.read({4, 5}, {b.at(i) + Expr(1), b.at(j)});
  const auto outside = b.sum({j}, shifted);
  const auto guarded = b.guard(Expr::less(b.at(i), Expr(3)), outside);
  const auto inside = b.sum({j}, b.guard(Expr::less(b.at(i), Expr(3)), shifted));
  const auto twice = b.guard(Expr::less(b.at(i), Expr(2)), inside);
  const auto plain = b.guard(Expr::less(b.at(i), Expr(2)), b.sum({j}, b.read({4, 5}, {b.at(i), b.at(j)})));
  EXPECT_TRUE(reads_outside(b.kernel, shifted));
  EXPECT_FALSE(reads_outside(b.kernel, outside));
  EXPECT_TRUE(needs_guards(b.kernel, std::vector{guarded}, outside));
  EXPECT_FALSE(needs_guards(b.kernel, std::vector{twice}, inside));
  const auto safe = b.kernel.value(plain).try_get<value::Guard>()->argument;
  EXPECT_FALSE(needs_guards(b.kernel, std::vector{plain}, safe));
  EXPECT_FALSE(needs_guards(b.kernel, std::vector{guarded, outside}, outside));
  EXPECT_TRUE(leaves_arrays(b.kernel, outside));
  EXPECT_FALSE(leaves_arrays(b.kernel, guarded));
}

}  // namespace
}  // namespace luminal::kernel
