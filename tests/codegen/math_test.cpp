// The error bounds that the functions state, over their whole range: against the oracle's f64 results.
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/codegen/build.h"
#include "tests/codegen/run.h"
#include "tests/random.h"

namespace luminal::test {
namespace {

struct Function {
  Op op;
  double units;  // in the last place of the f32 nearest to the exact value
};

class Math : public ::testing::TestWithParam<Function> {};

TEST_P(Math, StaysWithinItsErrorBoundRandom) {
  const auto [op, units] = GetParam();
  const int count = trials(100'000, 4'000'000);
  std::vector<float> x(static_cast<std::size_t>(count));
  Random random(7);
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (k % 2 == 0)
      x[k] = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    else
      x[k] = static_cast<float>((random.unit() - 0.5) * (k % 4 == 1 ? 8 : 300));
  }
  Build b;
  const auto i = b.loop(count);
  b.store({i}, b.map(op, {b.read({count}, {b.at(i)})}));
  for (const int vector_bytes : {64, 0}) {
    const Outcome run = run_compiled(b.kernel, {bytes_of(x)}, {}, {.vector_bytes = vector_bytes});
    ASSERT_EQ(run.outputs.size(), 1U);
    int failures = 0;
    for (std::size_t k = 0; k < x.size() && failures < 5; ++k) {
      const Scalar in = make_scalar(DType::f64, static_cast<double>(x[k]));
      const double exact = to_double(apply(op, in));
      float got = 0;
      std::memcpy(&got, run.outputs[0].data() + 4 * k, 4);
      const auto nearest = static_cast<float>(exact);
      if (std::isnan(exact) && std::isnan(got)) continue;
      if (got == nearest) continue;
      const double unit = std::max(std::ldexp(1.0, std::ilogb(nearest) - 23), 0x1p-149);
      if (std::isfinite(nearest) && std::abs(got - exact) <= units * unit) continue;
      ADD_FAILURE() << op << "(" << x[k] << ") with " << vector_bytes << " bytes: " << got << " instead of "
                    << exact;
      ++failures;
    }
  }
}

/// What a mask hides is exp2(-inf), and a product that underflows takes a hundred times as long as another.
TEST(MathOfMasks, NothingUnderflowsOnTheWayToZero) {
  constexpr int count = 37;
  const std::vector<float> x(count, -std::numeric_limits<float>::infinity());
  Build b;
  const auto i = b.loop(count);
  b.store({i}, b.map(Op::exp2, {b.read({count}, {b.at(i)})}));
  for (const int vector_bytes : {64, 0})
    for (int time = 0; time < 2; ++time) {  // the second time nothing is compiled
      std::feclearexcept(FE_ALL_EXCEPT);
      const Outcome run = run_compiled(b.kernel, {bytes_of(x)}, {}, {.vector_bytes = vector_bytes});
      EXPECT_EQ(run.outputs.at(0), Bytes(count * sizeof(float)));
      if (time == 1) {
        EXPECT_EQ(std::fetestexcept(FE_UNDERFLOW), 0) << vector_bytes;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Math,
                         ::testing::Values(Function{Op::exp2, 2}, Function{Op::log2, 2}, Function{Op::sin, 1},
                                           Function{Op::cos, 1}, Function{Op::atan, 1}, Function{Op::erf, 2},
                                           Function{Op::log1p, 1}, Function{Op::expm1, 1},
                                           Function{Op::sqrt, 0.5}, Function{Op::recip, 0.5}),
                         [](const auto& test) { return std::string(name(test.param.op)); });

}  // namespace
}  // namespace luminal::test
