// Long chains of reshapes and permutations whose index maps do not simplify must stay affordable. Work is
// counted in allocations, which every step of index arithmetic makes, and not in seconds.
#include <gtest/gtest.h>

#include "counting_new.h"
#include "luminal/shape/view.h"

namespace luminal {
namespace {

/// The work of applying permute and reshape, back to the shape it came from, `times` times.
std::uint64_t work_of(const Shape& shape, const std::vector<std::size_t>& axes, int times) {
  const std::uint64_t before = test::allocations();
  View view(shape);
  for (int k = 0; k < times; ++k) view = view.permute(axes).reshape(shape);
  EXPECT_EQ(view.movements().size(), 2 * static_cast<std::size_t>(times));
  return test::allocations() - before;
}

TEST(Growth, OfPermutedReshapes) {
  const struct {
    Shape shape;
    std::vector<std::size_t> axes;
  } cases[] = {{{"n", "m"}, {1, 0}}, {{4, "n", 6}, {2, 0, 1}}, {{"a", "b", "c"}, {2, 0, 1}}};
  for (const auto& [shape, axes] : cases) {
    SCOPED_TRACE(shape);
    const auto eight = work_of(shape, axes, 8);
    const auto sixteen = work_of(shape, axes, 16);
    EXPECT_LT(sixteen, 16 * eight) << "twice as long, at most 2^4 times the work";
    EXPECT_LT(sixteen, 25'000'000U);
  }
}

}  // namespace
}  // namespace luminal
