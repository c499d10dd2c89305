#include "luminal/kernel/layout.h"

#include <gtest/gtest.h>

#include "luminal/kernel/interpret.h"
#include "tests/codegen/build.h"
#include "tests/codegen/run.h"

namespace luminal::kernel {
namespace {

using test::Build;

/// y[i, j] = Σ x[i, k]·w, and w's index is given by the loops j and k.
struct Product {
  template <typename F>
  Product(Shape weights, F&& index) {
    const auto i = b.loop(3), j = b.loop(5), k = b.loop(4);
    const auto x = b.read({3, 4}, {b.at(i), b.at(k)});
    const auto w = b.read(std::move(weights), index(b.at(j), b.at(k)));
    b.store({i, j}, b.sum({k}, b.mul(x, w)));
  }
  Build b;
};

TEST(Layout, DomainsComeLast) {
  const Product rows({5, 4}, [](const Expr& j, const Expr& k) { return std::vector{j, k}; });
  EXPECT_EQ(better_order(rows.b.kernel, 1), (AxisOrder{1, 0}));
  EXPECT_EQ(better_order(rows.b.kernel, 0), (AxisOrder{1, 0}));  // x too is read along the sum
  const Product columns({4, 5}, [](const Expr& j, const Expr& k) { return std::vector{k, j}; });
  EXPECT_EQ(better_order(columns.b.kernel, 1), std::nullopt);
  const Product three({2, 5, 4}, [](const Expr& j, const Expr& k) { return std::vector{Expr(1), j, k}; });
  EXPECT_EQ(better_order(three.b.kernel, 1), (AxisOrder{0, 2, 1}));
  const Product mixed({9, 4}, [](const Expr& j, const Expr& k) { return std::vector{j + k, k}; });
  EXPECT_EQ(better_order(mixed.b.kernel, 1), std::nullopt);
}

TEST(Layout, LoadsThatDisagreeKeepTheirs) {
  Build b;
  const auto i = b.loop(4), j = b.loop(4), k = b.loop(4);
  const auto w = b.input({4, 4, 4});
  const auto one = b.load(w, {b.at(i), b.at(j), b.at(k)});
  const auto other = b.load(w, {b.at(j), b.at(k), b.at(k)});
  b.store({i, j}, b.sum({k}, b.mul(one, other)));
  EXPECT_EQ(better_order(b.kernel, w), std::nullopt);
}

TEST(Layout, AReorderedKernelOfAReorderedArrayGivesTheSame) {
  const Product product({2, 5, 4}, [](const Expr& j, const Expr& k) { return std::vector{Expr(1), j, k}; });
  const Kernel& kernel = product.b.kernel;
  const auto inputs = test::random_inputs(kernel, {}, 7);
  const auto run = [](const Kernel& k, const std::vector<Bytes>& arrays) {
    const std::vector<std::span<const std::byte>> spans(arrays.begin(), arrays.end());
    return interpret(k, spans, {});
  };
  for (const AxisOrder& order : {AxisOrder{0, 2, 1}, AxisOrder{2, 0, 1}, AxisOrder{1, 2, 0}}) {
    const Kernel copy = reordering(kernel.inputs()[1], order);
    const Kernel other = reordered(kernel, 1, order);
    verify(copy);
    verify(other);
    EXPECT_NE(key(other), key(kernel));
    EXPECT_EQ(run(other, {inputs[0], run(copy, {inputs[1]})[0]}), run(kernel, inputs));
    test::expect_as_interpreted(copy);
    test::expect_as_interpreted(other);
  }
}

}  // namespace
}  // namespace luminal::kernel
