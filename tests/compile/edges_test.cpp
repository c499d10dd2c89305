// What compiling must not change: masks of the lowest number, empty axes, padding, constants that overflow or
// cancel. Nothing is read outside of arrays.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "luminal/luminal.h"
#include "tests/guarded.h"
#include "tests/random.h"

namespace luminal {
namespace {

constexpr float lowest = std::numeric_limits<float>::lowest();

void set_random(const Tensor& tensor, std::uint64_t seed, const std::vector<std::int64_t>& dims) {
  test::Random random(seed);
  Array array(tensor.dtype(), dims);
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.set(i, make_scalar(tensor.dtype(), Number(random.unit() * 2 - 1)));
  tensor.set(array);
}

/// Element by element: NaNs and infinities at the same places, and the rest close relative to itself.
void expect_agreement(Graph& graph, const Tensor& output, double tolerance = 1e-5,
                      const CompileOptions& options = {}) {
  Executable exe = compile(graph, test::guarded_cpu(), options);
  exe.run();
  graph.execute();
  const Array got = exe.array(output);
  const Array expected = output.array();
  ASSERT_EQ(got.dims(), expected.dims());
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double a = to_double(got.at(i));
    const double b = to_double(expected.at(i));
    if (std::isnan(a) && std::isnan(b)) continue;
    ASSERT_TRUE(a == b || std::abs(a - b) <= tolerance * std::max(std::abs(b), 1e-3))
        << "element " << i << " is " << a << ", expected " << b;
  }
}

TEST(Edges, RowsMaskedWithTheLowestNumber) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    Graph g;
    const Tensor q = g.tensor({2, 6, 8}, dtype);
    const Tensor k = g.tensor({2, 6, 8}, dtype);
    const Tensor v = g.tensor({2, 6, 8}, dtype);
    set_random(q, 1, {2, 6, 8});
    set_random(k, 2, {2, 6, 8});
    set_random(v, 3, {2, 6, 8});
    // Causal, and the first two keys are padding: the first two queries see nothing.
    const Tensor queries = g.iota({2, 6, 6}, 1);
    const Tensor keys = g.iota({2, 6, 6}, 2);
    const Tensor masked = queries.lt(keys).logical_or(keys.lt(2));
    const Tensor scores = where(masked, lowest, matmul(q, k.transpose(-1, -2)) / 3.0);
    const Tensor y = matmul(scores.softmax(-1), v).retrieve();
    expect_agreement(g, y, dtype == DType::bf16 ? 3e-2 : 1e-4);
  }
}

TEST(Edges, SoftmaxOfTheLowestAndTheLargest) {
  for (const float value : {lowest, -lowest}) {
    for (const int which : {0, 1, 2}) {
      Graph g;
      const Tensor x = g.tensor({4, 6});
      set_random(x, 4, {4, 6});
      const Tensor hidden = where(g.iota({4, 6}, 0).lt(2), value, x);
      const Tensor y = which == 0   ? hidden.softmax(-1)
                       : which == 1 ? hidden.log_softmax(-1)
                                    : logsumexp(hidden, -1);
      expect_agreement(g, y.retrieve());
    }
  }
}

TEST(Edges, PowersOfOtherBases) {
  for (const double factor : {0.3, 1.0, 1.4426950408889634, 5.0}) {
    Graph g;
    const Tensor x = g.tensor({3, 40});
    const Tensor w = g.tensor({40, 5});
    set_random(x, 5, {3, 40});
    set_random(w, 6, {40, 5});
    const Tensor powers = ((x * 8.0 - (x * 8.0).max(1, true)) * factor).exp2();
    expect_agreement(g, (matmul(powers, w) / powers.sum(1, true)).retrieve(), 1e-4);
  }
}

TEST(Edges, EmptyAxesOfNamedSize) {
  const auto attention = [](Graph& g) {
    const Tensor q = g.tensor({2, 3, 8});
    const Tensor k = g.tensor({2, "m", 8});
    const Tensor v = g.tensor({2, "m", 8});
    set_random(q, 1, {2, 3, 8});
    set_random(k, 2, {2, 0, 8});
    set_random(v, 3, {2, 0, 8});
    return scaled_dot_product_attention(q, k, v);
  };
  const auto of_rows = [](Tensor (*f)(const Tensor&)) {
    return [f](Graph& g) {
      const Tensor x = g.tensor({3, "m"});
      set_random(x, 1, {3, 0});
      return f(x);
    };
  };
  const std::vector<std::function<Tensor(Graph&)>> cases = {
      attention,
      of_rows([](const Tensor& x) { return x.softmax(1).sum(1); }),
      of_rows([](const Tensor& x) { return x.layer_norm(1).sum(1); }),
      of_rows([](const Tensor& x) { return (x.sigmoid() / x.sigmoid().sum(1, true) * x).sum(1); }),
  };
  for (const auto& make : cases) {
    Graph g;
    expect_agreement(g, make(g).retrieve());
  }
}

TEST(Edges, EmptyAxesOfEmptyArrays) {
  Graph g;
  const Tensor x = g.tensor({0, "m"});
  set_random(x, 1, {0, 40});
  const Tensor most = x.max(1);
  const Tensor y = (most.sum() + (x.max(1, true) * x).sum() + x.softmax(0).sum()).retrieve();
  expect_agreement(g, y);
}

TEST(Edges, SumsOfPaddedSumsOfProductsReadNothingOutside) {
  // Both factors lie in memory where a page ends: what one reads outside of it, at either end, shows.
  const auto check = [](const std::function<Tensor(const Tensor&, const Tensor&)>& product) {
    Graph g;
    const Tensor a = g.tensor({64, 64});
    const Tensor b = g.tensor({64, 64});
    set_random(a, 1, {64, 64});
    set_random(b, 2, {64, 64});
    const Tensor padded = product(a, b).sum(-1).pad(0, 2, 2);
    const Tensor all = padded.sum().retrieve();
    const Tensor windows = padded.unfold(0, 5, 1).sum(-1).retrieve();
    expect_agreement(g, all, 1e-4);
    expect_agreement(g, windows, 1e-4);
  };
  check([](const Tensor& a, const Tensor& b) { return a * b; });
  check([](const Tensor& a, const Tensor&) { return a * a; });
  check([](const Tensor& a, const Tensor& b) { return a * b.permute({1, 0}) * b; });
  check([](const Tensor& a, const Tensor& b) { return a * b.slice(0, 0, 1); });
}

TEST(Edges, ExactSumsOfPaddedSumsKeepInfinities) {
  Graph g;
  const Tensor a = g.tensor({6, 3});
  const Tensor b = g.tensor({3});
  set_random(a, 1, {6, 3});
  b.set({1.0F, std::numeric_limits<float>::infinity(), 2.0F});
  const Tensor y = ((a * a + 1.0) * b).sum(-1).pad(0, 1, 1).sum().retrieve();
  expect_agreement(g, y, 1e-5, {.exact = true});
}

TEST(Edges, AttentionToPaddedScores) {
  Graph g;
  const Tensor q = g.tensor({2, 20, 16});
  const Tensor k = g.tensor({2, 48, 16});
  const Tensor v = g.tensor({2, 48, 16});
  set_random(q, 1, {2, 20, 16});
  set_random(k, 2, {2, 48, 16});
  set_random(v, 3, {2, 48, 16});
  const Tensor scores = matmul(q, k.transpose(-1, -2)).pad(-1, 0, 3, -1);
  expect_agreement(g, matmul(scores.softmax(-1), v.pad(1, 0, 3)).retrieve(), 1e-4);
}

TEST(Edges, ConstantsThatOverflowVanishOrCancel) {
  const auto check = [](Tensor (*f)(const Tensor&), std::vector<float> values) {
    Graph g;
    const Tensor x = g.tensor({static_cast<std::int64_t>(values.size())});
    x.set(values);
    expect_agreement(g, f(x).retrieve());
  };
  check([](const Tensor& x) { return (x * 1e25) * 1e25; }, {1e-30F, 1e-38F});
  check([](const Tensor& x) { return (x * 1e-25) * 1e-25; }, {1e30F, 1e38F});
  check([](const Tensor& x) { return (x + 12582912.0) - 12582912.0; }, {1.3F, -2.6F, 1000.5F});
}

TEST(Edges, AttentionOfNamedLengthTakesLinearMemory) {
  Graph g;
  const Shape shape = {8, "n", 64};
  scaled_dot_product_attention(g.tensor(shape), g.tensor(shape), g.tensor(shape), {.causal = true})
      .retrieve();
  for (const bool bounded : {false, true}) {
    CompileOptions options;
    if (bounded) options.memory_budget = 64 << 20;
    Executable exe = compile(g, test::guarded_cpu(), options);
    EXPECT_EQ(exe.kernel_count(), 1U);
    exe.set_dim("n", 8192);
    EXPECT_LT(exe.arena_bytes(), 64U << 20);
  }
}

}  // namespace
}  // namespace luminal
