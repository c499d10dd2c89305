#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "luminal/luminal.h"

namespace luminal {
namespace {

using Floats = std::vector<float>;

TEST(Values, EveryWayToSet) {
  Graph g;
  const Tensor x = g.tensor({2, 2});
  EXPECT_EQ(x.set({{1, 2}, {3, 4}}).data<float>(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(x.set(Floats{5, 6, 7, 8}).data<float>(), (Floats{5, 6, 7, 8}));
  EXPECT_EQ(x.set(std::array<float, 4>{1, 1, 1, 1}).data<float>(), (Floats(4, 1)));
  const std::array<double, 4> doubles{0.1, 0.2, 0.3, 0.4};
  EXPECT_EQ(x.set(Array(std::span<const double>(doubles))).data<float>(), (Floats{0.1f, 0.2f, 0.3f, 0.4f}));
  EXPECT_EQ(g.tensor({}).set(2.5).data<float>(), Floats{2.5});
  EXPECT_EQ(g.tensor({0, 3}).set(Array(DType::f32, {0, 3})).data<float>(), Floats{});
}

TEST(Values, BorrowedMemoryIsStridedAndReleased) {
  bool released = false;
  const Floats memory = {1, 2, 3, 4, 5, 6};
  {
    Graph g;
    const Tensor x = g.tensor({3, 2});
    x.set(Array::borrow(DType::f32, {3, 2}, {1, 3}, memory.data(), [&] { released = true; }));
    EXPECT_EQ(x.data<float>(), (Floats{1, 4, 2, 5, 3, 6}));
    const Tensor y = (x * 1).retrieve();
    g.execute();
    EXPECT_EQ(y.data<float>(), (Floats{1, 4, 2, 5, 3, 6}));
    EXPECT_FALSE(released);
  }
  EXPECT_TRUE(released);
}

TEST(Values, DeferredLoadersRunWhenNeeded) {
  Graph g;
  int calls = 0;
  const Tensor x = g.tensor({2}).set_deferred([&] { return Array(Floats{static_cast<float>(++calls), 0}); });
  const Tensor unused = g.tensor({2}).set_deferred([&]() -> Array { throw Error("never"); });
  const Tensor y = (x + 1).retrieve();
  EXPECT_EQ(calls, 0);
  g.execute();
  g.execute();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(y.data<float>(), (Floats{3, 1}));
}

TEST(Values, DropForgets) {
  Graph g;
  const Tensor x = g.tensor({2}).set({1, 2});
  const Tensor y = x.exp2().retrieve();
  g.execute();
  EXPECT_TRUE(y.has_data());
  y.drop();
  EXPECT_FALSE(y.has_data());
  g.execute();
  EXPECT_FALSE(y.has_data());
}

TEST(Values, TransferAndSwap) {
  Graph a;
  Graph b;
  const Tensor x = a.tensor({2}).set({1, 2});
  const Tensor y = (x * 10).retrieve();
  a.execute();
  const Tensor p = b.tensor({2});
  const Tensor q = b.tensor({2}).set({7, 8});
  transfer_data({y}, {p});
  EXPECT_EQ(p.data<float>(), (Floats{10, 20}));
  swap_data(p, q);
  EXPECT_EQ(p.data<float>(), (Floats{7, 8}));
  EXPECT_EQ(q.data<float>(), (Floats{10, 20}));
}

TEST(Values, StatesChangeAllAtOnce) {
  Graph g;
  const State a = g.state("a", {1}, DType::f32, Array{1});
  const State b = g.state("b", {1}, DType::f32, Array{2});
  a.assign(b);
  b.assign(a);
  g.execute();
  EXPECT_EQ(a.data<float>(), Floats{2});
  EXPECT_EQ(b.data<float>(), Floats{1});
}

TEST(Values, AFailedRunChangesNothing) {
  Graph g;
  const State count = g.state("count", {}, DType::i64);
  count.assign(count + 1);
  g.execute();
  const Tensor x = g.tensor({1}).retrieve();
  EXPECT_THROW(g.execute(), Error);
  EXPECT_EQ(count.data<std::int64_t>()[0], 1);
  x.set({1});
  g.execute();
  EXPECT_EQ(count.data<std::int64_t>()[0], 2);
}

TEST(Values, PrintingTruncates) {
  Graph g;
  std::ostringstream out;
  out << g.tensor({2, 2}).set({{1, 2.5}, {-3, 4}}) << ' '
      << g.tensor({200}, DType::i64).set(std::vector<std::int64_t>(200, 7)) << ' ' << g.tensor({"n"});
  EXPECT_EQ(out.str(), "[[1.0, 2.5], [-3.0, 4.0]] [7, 7, 7, ..., 7, 7, 7] tensor f32[n] (no value yet)");
}

TEST(Values, HandlesShareTheGraph) {
  Tensor x = Graph().tensor({2});
  EXPECT_THROW(x.exp2(), Error);
  Graph g;
  const Graph copy = g;
  const Tensor y = g.tensor({2});
  EXPECT_EQ(copy.dag().node_count(), 1u);
  EXPECT_TRUE(y.graph() == copy);
}

TEST(Values, HandlesSurviveMoves) {
  Graph g;
  Tensor x = g.tensor({2}).set({1, 2});
  const Graph h = std::move(g);
  const Tensor y = std::move(x);
  EXPECT_EQ((x + 1).shape(), y.shape());  // NOLINT(bugprone-use-after-move): this is what is tested
  EXPECT_EQ(g.dag().node_count(), h.dag().node_count());  // NOLINT(bugprone-use-after-move)
}

TEST(Values, EvaluatingChangesNoState) {
  Graph g;
  const Tensor x = g.tensor({1}).set({3});
  const State w = g.state("w", {1}, DType::f32, Array{2.0});
  const Tensor label = g.tensor({1});
  const Tensor prediction = w * x;
  w.assign(w - (prediction - label));
  g.evaluate({prediction});  // needs no label
  g.evaluate({prediction});
  EXPECT_EQ(prediction.data<float>(), Floats{6});
  EXPECT_EQ(w.data<float>(), Floats{2});
}

TEST(Values, ARefusedCallLeavesNothingBehind) {
  Graph g;
  const Tensor x = g.tensor({"n"}, DType::i64).set({1, 2});
  EXPECT_THROW(x.set({1.5, 2.5, 3.5}), Error);
  EXPECT_EQ(g.dims().at("n"), 2);
  EXPECT_THROW(g.state("s", {2}, DType::f32, Array{1.0, 2.0, 3.0}), Error);
  EXPECT_EQ(g.state("s", {2}, DType::f32, Array{1.0, 2.0}).data<float>(), (Floats{1, 2}));
}

TEST(Values, ArraysAreCopiedBeforeTheyAreWritten) {
  Graph g;
  Array a{1.0f, 2.0f};
  const Tensor x = g.tensor({2}).set(a);
  const State s = g.state("s", {2}, DType::f32, a);
  a.set(0, make_scalar(DType::f32, Number(9.0)));
  EXPECT_EQ(x.data<float>(), (Floats{1, 2}));
  EXPECT_EQ(s.data<float>(), (Floats{1, 2}));
}

TEST(Values, DimsOfKnownRank) {
  Graph g;
  const auto [n, c] = g.tensor({"n", 3}).dims2();
  EXPECT_EQ(n, Expr("n"));
  EXPECT_EQ(c, Expr(3));
}

TEST(Values, FindsByName) {
  Graph g;
  const Tensor x = g.named_tensor("x", {2});
  EXPECT_EQ(g.find("x").node(), x.node());
  EXPECT_THROW(g.find("y"), Error);
}

}  // namespace
}  // namespace luminal
