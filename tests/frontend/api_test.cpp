#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "luminal/luminal.h"

namespace luminal {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

template <typename T>
std::vector<T> run(Graph& g, const Tensor& x) {
  x.retrieve();
  g.execute();
  return x.data<T>();
}

TEST(Api, SymbolicExpressionsOnEitherSide) {
  Graph g;
  const Expr n("n");
  const Tensor x = g.tensor({n}).set({1, 2, 3});
  EXPECT_EQ(run<float>(g, maximum(x, n - 1)), (Floats{2, 2, 3}));
  EXPECT_EQ(run<float>(g, pow(n, x)), (Floats{3, 9, 27}));
  EXPECT_EQ(run<float>(g, x.pow(n - 1)), (Floats{1, 4, 9}));
  EXPECT_EQ(run<bool>(g, n > x), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(run<float>(g, where(x < n, n * 2, x)), (Floats{6, 6, 3}));
  EXPECT_EQ(run<float>(g, x.clip(n - 2, n - 1)), (Floats{1, 2, 2}));
  EXPECT_EQ(run<float>(g, remainder(x * -1, n)), (Floats{2, 1, 0}));
  EXPECT_EQ(run<float>(g, x.masked_fill(x.eq(2), n)), (Floats{1, 3, 3}));
  EXPECT_EQ(run<std::int64_t>(g, arange(g, n, n * 2, 1)), (Ints{3, 4, 5}));
}

TEST(Api, WholeNumbersMakeWholeRanges) {
  Graph g;
  EXPECT_EQ(arange(g, 0, 10, 2).dtype(), DType::i64);
  EXPECT_EQ(arange(g, 0, 1, 0.25).dtype(), DType::f32);
  EXPECT_EQ(run<float>(g, arange(g, 0, 1, 0.25)), (Floats{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(run<std::int64_t>(g, arange(g, 4)), (Ints{0, 1, 2, 3}));
}

TEST(Api, PartsOfAnAxis) {
  Graph g;
  const Tensor x = arange(g, 7);
  const auto sizes = [](const std::vector<Tensor>& parts) {
    std::string text;
    for (const auto& part : parts) text += part.shape().text();
    return text;
  };
  EXPECT_EQ(sizes(x.chunk(3)), "[3][3][1]");
  EXPECT_EQ(sizes(x.chunk(4)), "[2][2][2][1]");
  EXPECT_EQ(sizes(x.chunk(9)), "[1][1][1][1][1][1][1]");
  EXPECT_EQ(sizes(arange(g, 0).chunk(3)), "[0][0][0]");
  EXPECT_EQ(sizes(split(x, 3)), "[3][3][1]");
  EXPECT_EQ(sizes(g.tensor({"n"}).chunk(2)), "[n / 2][n / 2]");
}

TEST(Api, WhatDependsOnDimsIsCheckedWhenTheyHaveValues) {
  const auto refused = [](const std::function<Tensor(const Tensor&)>& build) {
    Graph g;
    const Tensor x = g.tensor({"n", "m"}).set({{1, 2, 3}});
    build(x).retrieve();
    EXPECT_THROW(g.execute(), Error);
  };
  refused([](const Tensor& x) { return x.chunk(2, 1)[0]; });
  refused([](const Tensor& x) { return x.split({1, 1}, 1)[0]; });
  refused([](const Tensor& x) { return x.split_dims(1, 2); });
  refused([](const Tensor& x) { return x.reshape({"n", 4}); });
  refused([](const Tensor& x) { return x.expand({1, 4}); });
  refused([](const Tensor& x) { return x.matmul(x); });
  refused([](const Tensor& x) { return einsum("ii", {x}); });
  refused([](const Tensor& x) { return x.topk(4, 1).values; });
  refused([](const Tensor& x) { return concat({x, x.transpose(0, 1)}, 0); });
  refused([](const Tensor& x) { return x + x.transpose(0, 1); });
  refused([](const Tensor& x) { return x.gather(1, x.transpose(0, 1).cast(DType::i64)); });
}

TEST(Api, ConvolvesAlongNamedDims) {
  Graph g;
  const Tensor x = g.tensor({"batch", 2, "height", "width"});
  const Tensor w = g.tensor({4, 2, 3, 3});
  EXPECT_EQ(conv2d(x, w, std::nullopt, {.padding = 1}).shape(), Shape({"batch", 4, "height", "width"}));
  EXPECT_EQ(max_pool(x, 2, 2).rank(), 4U);
  EXPECT_EQ(adaptive_avg_pool(x, {1, 1}).shape(), Shape({"batch", 2, 1, 1}));
}

// What PyTorch has no tensors of, by the same rules.
TEST(Api, UnsignedAndNarrowDtypes) {
  Graph g;
  const Tensor wide = g.tensor({3}, DType::u32).set({0U, 5U, 4000000000U});
  EXPECT_EQ(run<std::uint32_t>(g, minimum(wide, 7)), (std::vector<std::uint32_t>{0, 5, 7}));
  EXPECT_EQ(run<std::uint32_t>(g, wide.min()), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(run<std::int64_t>(g, wide.argmax()), (Ints{2}));
  EXPECT_EQ(run<std::uint32_t>(g, floor_divide(wide, 3)), (std::vector<std::uint32_t>{0, 1, 1333333333}));
  EXPECT_EQ(run<float>(g, wide.cast(DType::u16).sqrt()), (Floats{0, std::sqrt(5.0F), std::sqrt(10240.0F)}));
  const Tensor narrow = g.tensor({3}, DType::f8e5m2).set({-1.0F, 0.0F, 2.0F});
  EXPECT_EQ(narrow.relu().dtype(), DType::f8e5m2);
  EXPECT_EQ(run<float>(g, narrow.relu().cast(DType::f32)), (Floats{0, 0, 2}));
  EXPECT_EQ(run<float>(g, narrow.exp().cast(DType::f32)), (Floats{0.375, 1, 7}));
}

TEST(Api, IntegersDividedByZeroGiveZero) {
  Graph g;
  const Tensor x = g.tensor({3}, DType::i32).set({-7, 0, 7});
  const Tensor zero = g.tensor({}, DType::i32).set({0});
  for (const Tensor& y : {fmod(x, zero), remainder(x, zero), floor_divide(x, zero)})
    EXPECT_EQ(run<std::int32_t>(g, y), (std::vector<std::int32_t>{0, 0, 0}));
}

TEST(Api, SeedsAsStatesDrawAnew) {
  Graph g;
  const State seed = g.state("seed", {}, DType::u64);
  const Tensor x = rand(g, {4}, seed).retrieve();
  const Tensor fixed = rand(g, {4}, 3).retrieve();
  seed.assign(seed + 1);
  g.execute();
  const auto first = x.data<float>();
  const auto same = fixed.data<float>();
  g.execute();
  EXPECT_NE(x.data<float>(), first);
  EXPECT_EQ(fixed.data<float>(), same);
}

TEST(Api, NodesNameTheLineThatAskedForThem) {
  Graph g;
  const Tensor x = g.tensor({2, 3});
  const auto line = static_cast<std::uint32_t>(__LINE__ + 1);
  scaled_dot_product_attention(x, x, x, {.causal = true}).gelu().layer_norm(-1).argmax();
  for (const auto id : g.dag().nodes()) {
    const Node& node = g.dag().node(id);
    if (node.op == Op::input) continue;
    EXPECT_EQ(node.where.line, line) << print_node(g.dag(), id);
  }
}

}  // namespace
}  // namespace luminal
