#include "luminal/shape/view.h"

#include <gtest/gtest.h>

#include "luminal/support/error.h"

namespace luminal {
namespace {

const Expr n("n"), m("m");
const auto c0 = [](const Expr& extent) { return Expr::coordinate(0, extent); };
const auto c1 = [](const Expr& extent) { return Expr::coordinate(1, extent); };

template <typename F>
std::string problem_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.problem();
  }
  return "nothing was refused";
}

TEST(View, IsTheIdentityAtFirst) {
  const View v(Shape{n, 1, 4});
  EXPECT_TRUE(v.is_identity());
  EXPECT_TRUE(v.is_contiguous());
  EXPECT_TRUE(v.is_total());
  EXPECT_EQ(v.text(), "");
  EXPECT_EQ(v.map().index, (std::vector<Expr>{c0(n), 0, Expr::coordinate(2, 4)}));
  EXPECT_EQ(v.offset(), c0(n) * 4 + Expr::coordinate(2, 4));
  EXPECT_TRUE(View(Shape{}).is_identity());
  EXPECT_EQ(View(Shape{}).offset(), Expr(0));
  EXPECT_THROW(View(Shape{2, -1}), Error);
}

TEST(View, KeepsMovementsButNoDetours) {
  const View v(Shape{n, m});
  EXPECT_EQ(v.permute({1, 0}).slice(0, 2, m - 3).text(), "permute(1, 0) slice(0, 2, m - 3, 1)");
  EXPECT_EQ(v.permute({0, 1}).text(), "");
  EXPECT_EQ(v.slice(0, 0, n).pad(1, 0, 0, 0).reshape({n, m}).text(), "");
  EXPECT_EQ(v.flip(0).flip(0).text(), "");
  EXPECT_EQ(v.flip(1).permute({1, 0}).permute({1, 0}).text(), "flip(1)");
  EXPECT_EQ(View(Shape{n, m, 4}).permute({1, 0, 2}).permute({0, 2, 1}).text(), "permute(1, 2, 0)");
  EXPECT_EQ(v.flip(0).reshape({n * m}).reshape({n, 1, m}).text(), "flip(0) reshape([n, 1, m])");
  EXPECT_EQ(v.pad(0, 1, 2, 0.5).expand(0, n + 3).text(), "pad(0, 1, 2, 0.5)");
  EXPECT_EQ(View(Shape{8}).unfold(0, 3, 2, 1).text(), "unfold(0, 3, 2, 1)");
  EXPECT_EQ(View::strided(Shape{8}, {3}, {2}, 1).text(), "strided([3], [2], 1)");
  EXPECT_EQ(View(Shape{9}).slice(0, 1, 4, 2).slice(0, 1, 3, 1).text(), "slice(0, 3, 3, 2)");
}

TEST(View, NestedPadsKeepTheirFills) {
  const auto v = View(Shape{n}).pad(0, 1, 1, 5).pad(0, 2, 2, 6);
  const auto i = c0(n + 6);
  ASSERT_EQ(v.map().guards.size(), 2U);
  EXPECT_EQ(v.map().guards[0].fill, Number(6));
  EXPECT_EQ(v.map().guards[0].valid, Expr::logical_and(Expr::less_equal(2, i), Expr::less_equal(i, n + 3)));
  EXPECT_EQ(v.map().guards[1].fill, Number(5));
  EXPECT_EQ(v.map().guards[1].valid, Expr::logical_and(Expr::less_equal(3, i), Expr::less_equal(i, n + 2)));
  EXPECT_EQ(View(Shape{n}).pad(0, 1, 1, 5).pad(0, 2, 2, 5).map().guards.size(), 1U);
  EXPECT_FALSE(v.is_total());
  EXPECT_FALSE(View(Shape{n}).pad(0, 1, 1, 0.0) == View(Shape{n}).pad(0, 1, 1, -0.0));
}

TEST(View, NothingIsReadBehindAGuardThatNeverHolds) {
  const auto v = View(Shape{4, n}).pad(0, 4, 0, 3).slice(0, 0, 2);
  ASSERT_EQ(v.map().guards.size(), 1U);
  EXPECT_EQ(v.map().guards[0].valid, Expr(0));
  EXPECT_EQ(v.map().index, (std::vector<Expr>{0, 0}));
  const auto of_nothing = View(Shape{0}).pad(0, 1, 1, 7);
  EXPECT_EQ(of_nothing.map().guards[0].valid, Expr(0));
}

TEST(View, EmptyResultsAreAllAlike) {
  const View v(Shape{0, n});
  EXPECT_TRUE(v.is_identity());
  EXPECT_TRUE(v.flip(1).is_identity());
  EXPECT_EQ(v.reshape({n, 0}).map().index, (std::vector<Expr>{0, 0}));
  EXPECT_TRUE(View(Shape{3, 4}).slice(0, 1, 0).is_contiguous());
  EXPECT_TRUE(View(Shape{0, INT64_MAX, INT64_MAX}).is_identity());
  EXPECT_TRUE(View(Shape{0, 3}).reshape({5, 0, 2}).is_contiguous());
  EXPECT_EQ(View(Shape{2, 3}).slice(1, 3, 0).reshape({0}), View(Shape{2, 3}).slice(0, 0, 0).reshape({0}));
}

TEST(View, IsContiguousWhereNothingMoves) {
  const View v(Shape{n, m, 4});
  EXPECT_TRUE(v.reshape({n * m, 4}).is_contiguous());
  EXPECT_TRUE(v.reshape({n, m * 4}).is_contiguous());
  EXPECT_TRUE(v.slice(0, 0, n - 1).is_contiguous());
  EXPECT_FALSE(v.slice(0, 1, n - 1).is_contiguous());
  EXPECT_FALSE(v.slice(1, 0, m - 1).is_contiguous());
  EXPECT_FALSE(v.permute({1, 0, 2}).is_contiguous());
  EXPECT_FALSE(v.pad(0, 0, 1, 0).is_contiguous());
  EXPECT_FALSE(v.reshape({n * m, 4}).is_identity());
  EXPECT_TRUE(View(Shape{n, 1, m}).permute({1, 0, 2}).is_contiguous());
}

TEST(View, GivesStridesWhereThereAreSome) {
  const View v(Shape{n, m});
  const auto transposed = v.permute({1, 0}).affine();
  ASSERT_TRUE(transposed);
  EXPECT_EQ(transposed->strides, (std::vector<Expr>{1, m}));
  EXPECT_EQ(transposed->offset, Expr(0));
  const auto sliced = v.slice(0, 2, n - 2).flip(1).affine();
  ASSERT_TRUE(sliced);
  EXPECT_EQ(sliced->strides, (std::vector<Expr>{m, -1}));
  EXPECT_EQ(sliced->offset, m * 3 - 1);
  const auto merged = v.reshape({n * m}).affine();
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->strides, (std::vector<Expr>{1}));
  EXPECT_FALSE(v.permute({1, 0}).reshape({n * m}).affine());
  const auto windows = View(Shape{n}).unfold(0, 3, 2, 1).affine();
  ASSERT_TRUE(windows);
  EXPECT_EQ(windows->strides, (std::vector<Expr>{2, 1}));
  const auto expanded = View(Shape{1, m}).expand(0, n).affine();
  ASSERT_TRUE(expanded);
  EXPECT_EQ(expanded->strides, (std::vector<Expr>{0, 1}));
}

TEST(View, UnfoldCountsWindows) {
  EXPECT_EQ(View(Shape{10}).unfold(0, 3, 2, 1).shape(), (Shape{4, 3}));
  EXPECT_EQ(View(Shape{10, 2}).unfold(0, 3, 1, 4).shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(View(Shape{n}).unfold(0, 3, 1, 1).shape(), (Shape{n - 2, 3}));
  const auto v = View(Shape{n}).unfold(0, 3, 2, 1);
  EXPECT_EQ(v.shape()[0], (n - 3) / 2 + 1);
  EXPECT_EQ(v.checks().size(), 1U);
  EXPECT_EQ(v.substitute({{"n", 3}}).shape(), (Shape{1, 3}));
  EXPECT_THROW(v.substitute({{"n", 2}}), Error);
}

TEST(View, DecidesLaterWhatIsOpenNow) {
  const auto reshaped = View(Shape{n, 4}).reshape({m, 8});
  ASSERT_EQ(reshaped.checks().size(), 1U);
  EXPECT_EQ(reshaped.checks()[0].problem, "reshape: [n, 4] has not as many elements as [m, 8]");
  EXPECT_EQ(reshaped.substitute({{"n", 4}, {"m", 2}}), View(Shape{4, 4}).reshape({2, 8}));
  EXPECT_EQ(problem_of([&] { reshaped.substitute({{"n", 3}, {"m", 2}}); }),
            "reshape: [3, 4] has 12 elements, [2, 8] has 16");
  const auto half = reshaped.substitute({{"m", 2}});
  EXPECT_EQ(half.checks().size(), 1U);
  EXPECT_THROW(half.substitute({{"n", 3}}), Error);
  // A detour that asks something of the dims stays.
  const auto detour = View(Shape{n, 4}).reshape({m, 8}).reshape({n, 4});
  EXPECT_TRUE(detour.is_identity());
  EXPECT_EQ(problem_of([&] { detour.substitute({{"n", 3}, {"m", 2}}); }),
            "reshape: [3, 4] has 12 elements, [2, 8] has 16");
  const auto expanded = View(Shape{n, 4}).expand(0, 7);
  EXPECT_EQ(expanded.substitute({{"n", 1}}).shape(), (Shape{7, 4}));
  EXPECT_THROW(expanded.substitute({{"n", 2}}), Error);
  const auto sliced = View(Shape{n}).slice(0, 2, n - 5);
  EXPECT_THROW(sliced.substitute({{"n", 4}}), Error);
  EXPECT_EQ(sliced.substitute({{"n", 5}}).shape(), (Shape{0}));
  EXPECT_THROW(View(Shape{n - 3}).substitute({{"n", 2}}), Error);
  EXPECT_THROW(View(Shape{n}).pad(0, m - 1, 0, 0).substitute({{"n", 2}, {"m", 0}}), Error);
}

TEST(View, ChecksTravelWithComposition) {
  const auto first = View(Shape{n, 4}).reshape({m, 8});
  const auto second = View(Shape{m, 8}).slice(0, 1, 2);
  EXPECT_EQ(first.then(second).checks().size(), 2U);
  EXPECT_EQ(View(Shape{n, 4}).then(first), first);
  EXPECT_EQ(first.then(View(Shape{m, 8})), first);
  EXPECT_EQ(problem_of([&] { second.then(first); }),
            "view: a view of [n, 4] cannot follow one that gives [2, 8]");
}

TEST(View, RefusalsNameTheMovementAndTheShape) {
  const View v(Shape{2, 3});
  EXPECT_EQ(problem_of([&] { v.reshape({4}); }), "reshape: [2, 3] has 6 elements, [4] has 4");
  EXPECT_EQ(problem_of([&] { v.reshape({-2, -3}); }), "reshape: axis 0 of [-2, -3] is negative");
  EXPECT_EQ(problem_of([&] { v.permute({0, 0}); }),
            "permute: axes (0, 0) are no permutation of the 2 axes of [2, 3]");
  EXPECT_EQ(problem_of([&] { v.permute({0}); }),
            "permute: axes (0) are no permutation of the 2 axes of [2, 3]");
  EXPECT_EQ(problem_of([&] { v.flip(2); }), "flip: [2, 3] has no axis 2; it has 2 axes");
  EXPECT_EQ(problem_of([&] { v.expand(0, 4); }),
            "expand of axis 0 of [2, 3] to 4: the axis has size 2, expected 1");
  EXPECT_EQ(problem_of([&] { v.slice(1, 1, 3); }),
            "slice of axis 1 of [2, 3]: 3 elements from 1 with step 1 end at 3, but the axis has size 3");
  EXPECT_EQ(problem_of([&] { v.slice(1, -1, 2); }), "slice of axis 1 of [2, 3]: start -1 is negative");
  EXPECT_EQ(problem_of([&] { v.slice(1, 0, 2, 0); }), "slice of axis 1 of [2, 3]: step 0 is less than 1");
  EXPECT_EQ(problem_of([&] { v.slice(1, 0, -2); }), "slice of axis 1 of [2, 3]: size -2 is negative");
  EXPECT_EQ(problem_of([&] { v.pad(0, -1, 0, 0); }),
            "pad of axis 0 of [2, 3]: -1 elements before are less than 0");
  EXPECT_EQ(
      problem_of([&] { v.unfold(1, 2, 1, 3); }),
      "unfold of axis 1 of [2, 3]: a window of 2 elements with dilation 3 spans 4, but the axis has size 3");
  EXPECT_EQ(problem_of([&] { v.unfold(1, 2, 0, 1); }), "unfold of axis 1 of [2, 3]: stride 0 is less than 1");
  EXPECT_EQ(problem_of([&] { View::strided(Shape{2, 3}, {4}, {2}, 0); }),
            "strided: [4] with strides (2) and offset 0 reads elements 0 to 6 of [2, 3], which has 6");
  EXPECT_EQ(problem_of([&] { View::strided(Shape{2, 3}, {4}, {}, 0); }),
            "strided: 0 strides for [4], expected one an axis");
  EXPECT_EQ(problem_of([&] { View::strided(Shape{2, 3}, {3}, {-1}, 1); }),
            "strided: [3] with strides (-1) and offset 1 reads elements -1 to 1 of [2, 3], which has 6");
  EXPECT_EQ(problem_of([&] { View(Shape{n}).reshape({n + 1}); }),
            "reshape: [n] has n elements, [n + 1] has n + 1");
}

TEST(View, StridedReadsWithinItsSource) {
  EXPECT_NO_THROW(View::strided(Shape{6}, {0, 9}, {100, 1}, 50));
  EXPECT_NO_THROW(View::strided(Shape{n, m}, {m, n}, {1, m}, 0));
  EXPECT_TRUE(View::strided(Shape{n, m}, {m, n}, {1, m}, 0).checks().empty());
  const auto open = View::strided(Shape{n}, {4}, {2}, 0);
  EXPECT_EQ(open.checks().size(), 1U);
  EXPECT_THROW(open.substitute({{"n", 6}}), Error);
  EXPECT_NO_THROW(open.substitute({{"n", 7}}));
}

TEST(View, TextOfTheMapIsReadable) {
  EXPECT_EQ(View(Shape{n, m}).pad(0, 1, 2, 0.0).map().text(),
            "[n + 3, m] -> [n, m] at [i0 - 1, i1] where 1 <= i0 && i0 <= n else 0.0");
}

}  // namespace
}  // namespace luminal
