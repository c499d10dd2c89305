// What the roofline says of kernels must follow what generated code does: a wrong prior chose plans that were
// ten times as slow.
#include "luminal/search/cost.h"

#include <gtest/gtest.h>

#include "tests/codegen/build.h"

namespace luminal::search {
namespace {

using kernel::Monoid;
using kernel::ValueId;
using test::Build;

double operations(const Build& b) {
  const auto estimate = Roofline().estimate(b.kernel, {});
  return estimate ? estimate->operations : 0;
}

/// out[i, j, k] = x[i, j, k] * f(y[k]): no loop nest computes f once a k, for k is the innermost.
TEST(Cost, WhatLacksOuterLoopsIsComputedAtEachOfTheirPoints) {
  const auto with = [](bool function) {
    Build b;
    const auto i = b.loop(50), j = b.loop(20), k = b.loop(16);
    const ValueId y = b.read({16}, {b.at(k)});
    const ValueId x = b.read({50, 20, 16}, {b.at(i), b.at(j), b.at(k)});
    b.store({i, j, k}, b.mul(x, function ? b.map(Op::cos, {y}) : y));
    return operations(b);
  };
  EXPECT_GE(with(true) - with(false), 50 * 20 * 16 * operation_weight(Op::cos));
}

/// out[k, i] = x[k, i] * f(y[k]): the loop over k is around that over i.
TEST(Cost, WhatLacksInnerLoopsIsComputedBeforeThem) {
  Build b;
  const auto k = b.loop(16), i = b.loop(1000);
  const ValueId y = b.read({16}, {b.at(k)});
  const ValueId x = b.read({16, 1000}, {b.at(k), b.at(i)});
  b.store({k, i}, b.mul(x, b.map(Op::cos, {y})));
  EXPECT_LE(operations(b), 16000 + 16 * operation_weight(Op::cos));
}

/// Masks of coordinates are never worth memory.
TEST(Cost, ArithmeticOnCoordinatesIsFree) {
  const auto with = [](bool mask) {
    Build b;
    const auto i = b.loop(64), j = b.loop(64);
    const ValueId x = b.read({64, 64}, {b.at(i), b.at(j)});
    const ValueId visible = b.map(Op::less, {b.index(b.at(i)), b.index(b.at(j))});
    b.store({i, j}, mask ? b.map(Op::select, {visible, x, b.constant(0)}) : x);
    return operations(b);
  };
  EXPECT_LE(with(true) - with(false), 64 * 64);
}

/// Scores q·k of 4 batches, 32 rows and 32 columns, with a function of q on the way.
struct Scores {
  explicit Scores(Build& b) : i(b.loop(4)), m(b.loop(32)), n(b.loop(32)), e(b.loop(16)) {
    const ValueId q = b.map(Op::cos, {b.read({4, 32, 16}, {b.at(i), b.at(m), b.at(e)})});
    const ValueId k = b.read({4, 32, 16}, {b.at(i), b.at(n), b.at(e)});
    scores = b.sum({e}, b.mul(q, k));
  }
  kernel::LoopId i, m, n, e;
  ValueId scores;
};

/// No template takes a contraction inside of a maximum: what feeds it is computed again for each column.
TEST(Cost, ContractionsInsideOfReductionsHaveNoTemplate) {
  Build alone;
  const Scores a(alone);
  alone.store({a.i, a.m, a.n}, a.scores);
  Build inside;
  const Scores b(inside);
  inside.store({b.i, b.m}, inside.reduce(Monoid::max, {b.n}, {b.scores}));
  const double again = 4.0 * 32 * 16 * 31 * operation_weight(Op::cos);
  EXPECT_GE(operations(inside), operations(alone) + again / 2);
}

/// The outputs x · y and sqrt(x · y).
TEST(Cost, WhatOutputsShareCountsOnce) {
  const auto estimate = [](int outputs) {
    Build b;
    const auto i = b.loop(64), j = b.loop(48), e = b.loop(32);
    const ValueId x = b.read({64, 32}, {b.at(i), b.at(e)});
    const ValueId y = b.read({48, 32}, {b.at(j), b.at(e)});
    const ValueId product = b.sum({e}, b.mul(x, y));
    b.store({i, j}, product);
    if (outputs > 1) b.store({i, j}, b.map(Op::sqrt, {product}));
    if (outputs > 2) b.store({i, j}, b.read({48, 64}, {b.at(j), b.at(i)}));
    return Roofline().estimate(b.kernel, {}).value();
  };
  const Estimate one = estimate(1);
  const Estimate two = estimate(2);
  const Estimate three = estimate(3);
  constexpr double written = 64 * 48 * 4;
  EXPECT_EQ(one.operations, 2 * 64 * 48 * 32);
  EXPECT_EQ(one.bytes, (64 + 48) * 32 * 4 + written);
  EXPECT_EQ(two.operations, one.operations + 64 * 48 * operation_weight(Op::sqrt));
  EXPECT_EQ(two.bytes, one.bytes + written);
  EXPECT_LT(two.seconds, 1.5 * one.seconds);
  EXPECT_EQ(three.operations, two.operations);
  EXPECT_EQ(three.bytes, two.bytes + 2 * written) << "what is read for one output counts";
}

}  // namespace
}  // namespace luminal::search
