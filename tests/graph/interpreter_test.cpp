#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "luminal/graph/reader.h"
#include "luminal/luminal.h"
#include "random_graph.h"

namespace luminal {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(Interpreter, SumsAreTakenInOrder) {
  Graph g;
  const Tensor x = g.tensor({4}).set(Floats{1e8f, 1, -1e8f, 1});
  const Tensor sum = x.sum().retrieve();
  g.execute();
  EXPECT_EQ(sum.data<float>(), Floats{1});  // ((1e8 + 1) - 1e8) + 1 in f32
}

TEST(Interpreter, SmallFloatsAccumulateInF32) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    Graph g;
    const Tensor x = g.tensor({4096}, dtype).set(Floats(4096, 1));
    const Tensor sum = x.sum().retrieve();
    g.execute();
    EXPECT_EQ(sum.data<float>(), Floats{4096}) << dtype;
  }
}

TEST(Interpreter, EmptyReductionsGiveTheNeutralElement) {
  Graph g;
  const Tensor x = g.tensor({2, 0}).set(Array(DType::f32, {2, 0}));
  const Tensor sum = x.sum(1).retrieve();
  const Tensor product = x.prod(1).retrieve();
  g.execute();
  EXPECT_EQ(sum.data<float>(), (Floats{0, 0}));
  EXPECT_EQ(product.data<float>(), (Floats{1, 1}));
}

TEST(Interpreter, GatherAndScatterFollowTheAxis) {
  Graph g;
  const Tensor x = g.tensor({2, 3}).set({{1, 2, 3}, {4, 5, 6}});
  const Tensor index = g.tensor({2, 2}, DType::i64).set({{2, 0}, {1, 1}});
  const Tensor rows = g.add_op(Op::gather)
                          .attribute(attribute::Axis{1})
                          .input(x.slice(1, 0, 3))
                          .input(index)
                          .finish()
                          .retrieve();
  const Tensor values = g.tensor({2, 2}).set({{10, 20}, {30, 40}});
  const auto scatter = [&](Op op) {
    return g.add_op(op).attribute(attribute::Axis{1}).input(x).input(index).input(values).finish().retrieve();
  };
  const Tensor set = scatter(Op::scatter);
  const Tensor add = scatter(Op::scatter_add);
  g.execute();
  EXPECT_EQ(rows.data<float>(), (Floats{3, 1, 5, 5}));
  EXPECT_EQ(set.data<float>(), (Floats{20, 2, 10, 4, 40, 6}));
  EXPECT_EQ(add.data<float>(), (Floats{21, 2, 13, 4, 75, 6}));
}

TEST(Interpreter, SortIsStableAndPutsNanLast) {
  Graph g;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = g.tensor({6}).set(Floats{2, nan, 1, 2, -1, 1});
  const auto up = g.add_op(Op::sort).attribute(attribute::Sort{false}).input(x).finish_all();
  const auto down = g.add_op(Op::sort).attribute(attribute::Sort{true}).input(x).finish_all();
  retrieve(up);
  retrieve(down);
  g.execute();
  EXPECT_EQ(up[1].data<std::int64_t>(), (Ints{4, 2, 5, 0, 3, 1}));
  EXPECT_EQ(down[1].data<std::int64_t>(), (Ints{1, 0, 3, 2, 5, 4}));
}

TEST(Interpreter, ScansAlongTheLastAxis) {
  Graph g;
  const Tensor x = g.tensor({2, 3}).set({{1, 2, 3}, {4, 1, 6}});
  const Tensor sum = g.add_op(Op::scan_sum).input(x).finish().retrieve();
  const Tensor max = g.add_op(Op::scan_max).input(x.flip(1)).finish().retrieve();
  g.execute();
  EXPECT_EQ(sum.data<float>(), (Floats{1, 3, 6, 4, 5, 11}));
  EXPECT_EQ(max.data<float>(), (Floats{3, 3, 3, 6, 6, 6}));
}

TEST(Interpreter, TheSameSeedGivesTheSameNumbers) {
  Graph g;
  const auto bits = [&](int seed, std::uint64_t stream) {
    return g.add_op(Op::random)
        .attribute(attribute::Random{stream})
        .type({{8}, DType::u32})
        .input(g.constant(seed))
        .finish()
        .retrieve();
  };
  const Tensor a = bits(1, 0);
  const Tensor b = bits(1, 0);
  const Tensor c = bits(2, 0);
  const Tensor d = bits(1, 1);
  g.execute();
  EXPECT_EQ(a.node(), b.node()) << "pure nodes are shared";
  EXPECT_NE(a.data<std::uint32_t>(), c.data<std::uint32_t>());
  EXPECT_NE(a.data<std::uint32_t>(), d.data<std::uint32_t>());
}

TEST(Interpreter, IntermediatesAreFreed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer keeps what was freed, so the peak says nothing";
#endif
  // The chain's 80 arrays of 1 MiB would need 80 MiB if they stayed.
  Graph g;
  Tensor x = g.tensor({1 << 18}).set(Floats(1 << 18, 1));
  for (int i = 0; i < 40; ++i) x = x * 1.5 + 0.25;
  x.slice(0, 0, 1).retrieve();
  long peak_before = 0;
  const auto peak = [] {
    std::ifstream status("/proc/self/status");
    std::string word;
    long kib = 0;
    while (status >> word)
      if (word == "VmHWM:") status >> kib;
    return kib;
  };
  peak_before = peak();
  g.execute();
  EXPECT_LT(peak() - peak_before, 40 * 1024) << "KiB";
}

TEST(Interpreter, PrintsAndComparesThroughTheSink) {
  const std::string path = testing::TempDir() + "luminal_diff.bin";
  const Floats file = {1, 2, 3.5f, 4};
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(file.data()), 16);
  Graph g;
  std::vector<std::string> lines;
  g.set_sink([&](std::string_view line) { lines.emplace_back(line); });
  const Tensor x = g.tensor({2, 2}).set({{1, 2}, {3, 4}});
  x.print("x is");
  x.diff(path, 1e-3, 1e-3);
  x.diff(path, 1, 0);
  g.execute();
  ASSERT_GE(lines.size(), 6u);
  EXPECT_EQ(lines[0], "x is");
  EXPECT_EQ(lines[1], "  4 elements of f32, shape [2, 2]");
  EXPECT_EQ(lines[2], "  [1.0, 2.0, 3.0, 4.0]");
  EXPECT_EQ(lines[3], "diff \"" + path + "\": FAILED");
  EXPECT_EQ(lines[4], "  1 of 4 elements differ beyond the tolerance");
  EXPECT_EQ(lines.back(), "diff \"" + path + "\": ok");
  std::remove(path.c_str());
}

TEST(Interpreter, TraceNamesEveryNode) {
  Graph g;
  const Tensor x = g.tensor({2}).set({1, 2});
  x.exp2().retrieve();
  std::vector<std::string> lines;
  g.execute_debug([&](std::string_view line) { lines.emplace_back(line); });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[1].find("exp2"), std::string::npos);
  EXPECT_NE(lines[1].find("f32[2]"), std::string::npos);
  EXPECT_TRUE(lines[1].ends_with(" us"));
}

TEST(Sampler, RandomGraphsAgreeElementByElement) {
  const int count = test::trials(300, 20000);
  int refused = 0;
  for (int seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    test::RandomGraph random(static_cast<std::uint64_t>(seed) + 1000);
    try {
      random.graph.execute();
    } catch (const Error&) {
      ++refused;  // two dims that could have been equal are not
      continue;
    }
    Sampler sampler = random.graph.sampler();
    for (const auto& value : random.graph.dag().outputs()) {
      const Tensor tensor = random.graph.at(value.node, value.output);
      const Array whole = materialise(tensor.array(), value.view, random.graph.dims());
      Odometer place(whole.dims());
      for (std::int64_t i = 0; i < whole.size(); ++i, place.step()) {
        const Scalar one = sampler.value_at(value, place.coordinates());
        ASSERT_TRUE(one == whole.at(i) || (std::isnan(to_double(one)) && std::isnan(to_double(whole.at(i)))))
            << random.graph.text() << to_number(one) << " against " << to_number(whole.at(i));
      }
    }
  }
  EXPECT_LT(refused, count / 5);
}

TEST(Sampler, NeedsNoMemoryForTheProduct) {
  // The broadcast product has 2^40 elements.
  Graph g;
  const std::int64_t n = 1 << 20;
  const Tensor a = g.iota({n, n, 4}, 0).cast(DType::f64);
  const Tensor b = g.iota({n, n, 4}, 2).cast(DType::f64);
  const Tensor product = (a * b).sum(2);
  EXPECT_EQ(to_double(g.value_at(product, {5, 7})), 5.0 * 6);
}

TEST(Sampler, SaysWhenTheGraphIsTooDeep) {
  Graph g;
  Tensor x = g.tensor({1}).set({1});
  for (int i = 0; i < 5000; ++i) x = x + 1;
  try {
    g.value_at(x, {0});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "value_at: the graph is deeper than 3000 nodes; use execute");
  }
  x.retrieve();
  g.execute();
  EXPECT_EQ(x.data<float>(), Floats{5001});
}

}  // namespace
}  // namespace luminal
