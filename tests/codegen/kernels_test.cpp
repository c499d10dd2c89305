// Kernels of every structure, compiled, against the kernel interpreter.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>

#include "luminal/codegen/dialect.h"
#include "luminal/codegen/footprint.h"
#include "luminal/codegen/schedule.h"
#include "luminal/codegen/source.h"
#include "luminal/support/text.h"
#include "tests/codegen/build.h"
#include "tests/codegen/run.h"

namespace luminal::test {
namespace {

TEST(Kernels, MapsBroadcastPermuteAndStride) {
  Build b;
  const auto i = b.loop(37), j = b.loop(50);
  const auto x = b.read({37, 50}, {b.at(i), b.at(j)});
  const auto bias = b.read({50}, {b.at(j)});
  const auto column = b.read({37, 1}, {b.at(i), Expr(0)});
  const auto turned = b.read({50, 37}, {b.at(j), b.at(i)});
  const auto strided = b.read({37, 200}, {b.at(i), b.at(j) * Expr(4) + Expr(1)});
  b.store({i, j}, b.add(b.mul(x, bias), b.add(b.add(column, turned), strided)));
  expect_as_interpreted(b.kernel);
}

TEST(Kernels, ProductsUnderGuardsReadNothingOutside) {
  // y's rows 8 further on, or 8 back, which eight columns lack: no tile may read them there.
  for (const std::int64_t shift : {8, -8}) {
    for (const bool rotated : {false, true}) {
      Build b;
      const auto i = b.loop(32), j = b.loop(32), k = b.loop(64);
      const auto x = b.read({32, 64}, {b.at(i), b.at(k)});
      const Expr row = b.at(j) + Expr(shift);
      const auto y = b.read({32, 64}, {row, b.at(k)});
      const auto product = b.sum({k}, b.mul(x, y));
      const auto kept =
          b.guard(Expr::logical_and(Expr::less(row, Expr(32)), Expr::less(Expr(-1), row)), product, 3);
      const auto other = b.read({32, 64}, {b.at(j), b.at(k)});
      b.store({i, j}, rotated ? b.add(kept, b.sum({k}, b.mul(x, other))) : kept);
      expect_as_interpreted(b.kernel);
    }
  }
}

TEST(Kernels, MapOfNoLoops) {
  Build b;
  b.store({}, b.add(b.read({}, {}), b.constant(1.5)));
  expect_as_interpreted(b.kernel);
}

TEST(Kernels, MapsOfPermutedOutputs) {
  Build b;
  const auto i = b.loop(20), j = b.loop(40);
  const auto x = b.read({20, 40}, {b.at(i), b.at(j)});
  const auto output = b.kernel.add_output({{40, 20}, DType::f32});
  b.kernel.add_store({output, {i, j}, {b.at(j), b.at(i)}, x});
  expect_as_interpreted(b.kernel);
}

TEST(Kernels, SplitAxes) {
  Build b;
  const auto i = b.loop(5), j = b.loop(128);
  const auto x = b.read({5, 2, 64}, {b.at(i), b.at(j) / Expr(64), b.at(j) % Expr(64)});
  const auto y = b.read({2, 5, 64}, {b.at(j) / Expr(64), b.at(i), b.at(j) % Expr(64)});
  b.store({i, j}, b.add(x, y));
  expect_as_interpreted(b.kernel);
}

TEST(Kernels, Guards) {
  for (const int n : {4, 16, 50}) {
    Build b;
    const auto i = b.loop(6), j = b.loop(n + 4);
    const Expr at = b.at(j) - Expr(2);
    const auto x = b.read({6, n}, {b.at(i), at});
    const Expr valid = Expr::logical_and(Expr::less_equal(Expr(0), at), Expr::less(at, Expr(n)));
    const auto padded = b.guard(valid, b.map(Op::exp2, {x}), 7);
    const auto twice =
        b.kernel.add(kernel::value::Guard{{{Expr::less(b.at(i), Expr(4)), make_scalar(DType::f32, 1.0)},
                                           {Expr::less(b.at(j), Expr(n)), make_scalar(DType::f32, 2.0)}},
                                          b.load(b.input({4, n}), {b.at(i), b.at(j)})},
                     DType::f32);
    b.store({i, j}, b.add(padded, twice));
    expect_as_interpreted(b.kernel);
  }
}

TEST(Kernels, ReductionsOverEachLoop) {
  for (const auto monoid : {Monoid::sum, Monoid::max, Monoid::prod, Monoid::m2}) {
    for (int over = 0; over < 4; ++over) {
      Build b;
      const auto i = b.loop(7), j = b.loop(9), k = b.loop(40);
      const auto x = b.read({7, 9, 40}, {b.at(i), b.at(j), b.at(k)});
      const std::vector<std::vector<LoopId>> loops = {{i}, {j}, {k}, {i, k}};
      const std::vector<std::vector<LoopId>> domains = {{j, k}, {i, k}, {i, j}, {j}};
      b.store(domains[static_cast<std::size_t>(over)],
              b.reduce(monoid, loops[static_cast<std::size_t>(over)], {x}));
      expect_as_interpreted(b.kernel, {.tolerance = 1e-4});
    }
  }
}

TEST(Kernels, ReductionOfEverything) {
  Build b;
  const auto i = b.loop(33), j = b.loop(70);
  b.store({}, b.sum({i, j}, b.read({33, 70}, {b.at(i), b.at(j)})));
  expect_as_interpreted(b.kernel, {.tolerance = 1e-4});
}

TEST(Kernels, ReductionOverNothing) {
  Build b;
  const auto i = b.loop(33);
  const auto x = b.read({33}, {b.at(i)});
  b.store({i}, b.sum({}, x));
  b.store({i}, b.reduce(Monoid::m2, {}, {x}));
  b.store({i}, b.reduce(Monoid::soft_sum, {}, {x, x}));
  expect_as_interpreted(b.kernel);
}

ValueId softmax(Build& b, ValueId x, LoopId j) {
  const auto top = b.reduce(Monoid::max, {j}, {x});
  const auto e = b.map(Op::exp2, {b.add(x, b.mul(top, b.constant(-1)))});
  return b.mul(e, b.map(Op::recip, {b.sum({j}, e)}));
}

TEST(Kernels, Softmax) {
  for (const int n : {5, 16, 100}) {
    Build b;
    const auto i = b.loop(20), j = b.loop(n);
    b.store({i, j}, softmax(b, b.read({20, n}, {b.at(i), b.at(j)}), j));
    expect_as_interpreted(b.kernel);
  }
}

TEST(Kernels, SoftmaxAlongTheFirstAxis) {
  Build b;
  const auto i = b.loop(20), j = b.loop(33);
  b.store({j, i}, softmax(b, b.read({33, 20}, {b.at(j), b.at(i)}), j));
  expect_as_interpreted(b.kernel);
}

TEST(Kernels, LayerNormWithWelford) {
  Build b;
  const auto i = b.loop(10), j = b.loop(70);
  const auto x = b.read({10, 70}, {b.at(i), b.at(j)});
  const auto mean = b.mul(b.sum({j}, x), b.constant(1.0 / 70));
  const auto variance = b.mul(b.reduce(Monoid::m2, {j}, {x}), b.constant(1.0 / 70));
  const auto scale = b.map(Op::recip, {b.map(Op::sqrt, {b.add(variance, b.constant(1e-5))})});
  const auto centred = b.add(x, b.mul(mean, b.constant(-1)));
  const auto weight = b.read({70}, {b.at(j)});
  b.store({i, j}, b.mul(b.mul(centred, scale), weight));
  expect_as_interpreted(b.kernel);
}

TEST(Kernels, MatmulInEveryLayoutWithBatch) {
  for (int layout = 0; layout < 4; ++layout) {
    for (const auto& [m, n, k] :
         {std::array{33, 50, 40}, std::array{1, 70, 33}, std::array{40, 1, 20}, std::array{6, 5, 3}}) {
      Build b;
      const auto h = b.loop(3), i = b.loop(m), j = b.loop(n), l = b.loop(k);
      const auto x = (layout & 1) == 0 ? b.read({3, m, k}, {b.at(h), b.at(i), b.at(l)})
                                       : b.read({3, k, m}, {b.at(h), b.at(l), b.at(i)});
      const auto y = (layout & 2) == 0 ? b.read({3, k, n}, {b.at(h), b.at(l), b.at(j)})
                                       : b.read({3, n, k}, {b.at(h), b.at(j), b.at(l)});
      b.store({h, i, j}, b.map(Op::max, {b.sum({l}, b.mul(x, y)), b.constant(0)}));
      expect_as_interpreted(b.kernel, {.tolerance = 1e-4});
    }
  }
}

TEST(Kernels, ConvolutionWithGuardsAndEpilogue) {
  Build b;
  const auto o = b.loop(8), y = b.loop(11), x = b.loop(18), c = b.loop(5), u = b.loop(3), v = b.loop(3);
  const Expr row = b.at(y) + b.at(u) - Expr(1);
  const Expr column = b.at(x) + b.at(v) - Expr(1);
  const auto image = b.read({5, 11, 18}, {b.at(c), row, column});
  const auto both = [](const Expr& e, int n) {
    return Expr::logical_and(Expr::less_equal(Expr(0), e), Expr::less(e, Expr(n)));
  };
  const auto padded = b.guard(Expr::logical_and(both(row, 11), both(column, 18)), image);
  const auto weight = b.read({8, 5, 3, 3}, {b.at(o), b.at(c), b.at(u), b.at(v)});
  const auto bias = b.read({8}, {b.at(o)});
  b.store({o, y, x}, b.map(Op::max, {b.add(b.sum({c, u, v}, b.mul(padded, weight)), bias), b.constant(0)}));
  expect_as_interpreted(b.kernel, {.tolerance = 1e-4});
}

/// A convolution of images with rows of this length, without padding, and its bias.
Build convolution(int length, DType dtype) {
  Build b;
  const auto o = b.loop(12), y = b.loop(9), x = b.loop(length), c = b.loop(4), u = b.loop(3), v = b.loop(3);
  const auto image = b.read({4, 11, length + 2}, {b.at(c), b.at(y) + b.at(u), b.at(x) + b.at(v)}, dtype);
  const auto weight = b.read({12, 4, 3, 3}, {b.at(o), b.at(c), b.at(u), b.at(v)}, dtype);
  b.store({o, y, x}, b.add(b.sum({c, u, v}, b.mul(image, weight)), b.read({12}, {b.at(o)}, dtype)));
  return b;
}

/// Rows shorter than a vector are packed, and stored, by vectors that fit into them.
TEST(Kernels, VectorsFitIntoShortRuns) {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16})
    for (const int length : {2, 3, 4, 5, 7, 8, 11, 13, 15, 16, 19}) {
      SCOPED_TRACE(cat(dtype, " ", length));
      expect_as_interpreted(convolution(length, dtype).kernel,
                            {.tolerance = dtype == DType::f16 ? 3e-3 : 1e-4});
    }
  for (const auto& [length, lanes] : {std::pair(16, 16), {13, 8}, {8, 8}, {5, 4}, {3, 1}}) {
    const auto kernel = convolution(length, DType::f32).kernel;
    const codegen::Machine machine{.vector_bytes = 64, .vector_registers = 32, .workers = 1};
    const auto schedule = codegen::default_schedule(kernel, machine, {});
    ASSERT_TRUE(schedule.nests.at(0).tiles) << length;
    const std::string text = codegen::print_kernel(kernel, codegen::c_dialect(), schedule).text;
    for (const int width : {4, 8, 16})
      EXPECT_EQ(text.find(cat("*(f32x", width, "_u*)(right0")) != std::string::npos, width == lanes)
          << length << " " << width;
  }
}

/// Attention as the rules leave it: two soft sums over one loop, of one nested contraction.
Build attention(const Expr& heads, const Expr& queries, const Expr& keys, int width, bool causal) {
  Build b;
  const auto h = b.loop(heads), i = b.loop(queries), j = b.loop(keys), d = b.loop(width), e = b.loop(width);
  const auto q = b.read({heads, queries, width}, {b.at(h), b.at(i), b.at(e)});
  const auto k = b.read({heads, keys, width}, {b.at(h), b.at(j), b.at(e)});
  const auto v = b.read({heads, keys, width}, {b.at(h), b.at(j), b.at(d)});
  auto score = b.mul(b.sum({e}, b.mul(q, k)), b.constant(0.3));
  if (causal) {
    const auto masked = b.map(Op::less, {b.index(b.at(i), DType::i32), b.index(b.at(j), DType::i32)});
    score = b.map(Op::select, {masked, b.constant(-1e30), score});
  }
  const auto total = b.reduce(Monoid::soft_sum, {j}, {score, b.constant(1)});
  const auto mixed = b.reduce(Monoid::soft_sum, {j}, {score, v});
  b.store({h, i, d}, b.mul(mixed, b.map(Op::recip, {total})));
  return b;
}

TEST(Kernels, FlashAttention) {
  for (const int width : {4, 16, 24}) {
    expect_as_interpreted(attention(3, 20, 37, width, false).kernel, {.tolerance = 1e-4});
    expect_as_interpreted(attention(2, 33, 33, width, true).kernel, {.tolerance = 1e-4});
  }
}

TEST(Kernels, AttentionReadsNoKeysThatGuardsLeaveOut) {
  // Three more keys than there are, whose scores are given: no tile may read them.
  Build b;
  const int there = 48, keys = there + 3;
  const auto i = b.loop(20), j = b.loop(keys), d = b.loop(16), e = b.loop(16);
  const auto key = b.read({there, 16}, {b.at(j), b.at(e)});
  const auto product = b.sum({e}, b.mul(b.read({20, 16}, {b.at(i), b.at(e)}), key));
  const auto score = b.guard(Expr::less(b.at(j), Expr(there)), product, -2);
  const auto v = b.read({keys, 16}, {b.at(j), b.at(d)});
  const auto total = b.reduce(Monoid::soft_sum, {j}, {score, b.constant(1)});
  const auto mixed = b.reduce(Monoid::soft_sum, {j}, {score, v});
  b.store({i, d}, b.mul(mixed, b.map(Op::recip, {total})));
  expect_as_interpreted(b.kernel, {.tolerance = 1e-4});
}

TEST(Kernels, AttentionOfSymbolicSizes) {
  const Expr n = Expr::variable("tokens", 0);
  for (const std::int64_t tokens : {0, 1, 19})
    expect_as_interpreted(attention(2, n, n, 16, true).kernel,
                          {.dims = {{"tokens", tokens}}, .tolerance = 1e-4});
}

TEST(Kernels, ASchedulesSizesAreOnlyHints) {
  const Expr n = Expr::variable("tokens", 0);
  for (const std::int64_t hint : {0, 1, 40, 1000}) {
    for (const std::int64_t tokens : {0, 1, 5, 70}) {
      const Check check{.dims = {{"tokens", tokens}}, .tolerance = 1e-4, .hints = DimMap{{"tokens", hint}}};
      expect_as_interpreted(attention(2, n, n, 16, true).kernel, check);
      expect_as_interpreted(attention(2, 20, n, 16, false).kernel, check);
      Build b;
      const auto i = b.loop(n), j = b.loop(40), k = b.loop(n);
      const auto x = b.read({n, n}, {b.at(i), b.at(k)});
      b.store({i, j}, b.sum({k}, b.mul(x, b.read({40, n}, {b.at(j), b.at(k)}))));
      b.store({i}, b.sum({k}, x));
      expect_as_interpreted(b.kernel, check);
    }
  }
}

TEST(Kernels, MasksOfEveryKindInAttention) {
  for (int kind = 0; kind < 3; ++kind) {
    Build b;
    const int n = 300;
    const auto i = b.loop(n), j = b.loop(n), d = b.loop(20), e = b.loop(12);
    const auto score =
        b.sum({e}, b.mul(b.read({n, 12}, {b.at(i), b.at(e)}), b.read({n, 12}, {b.at(j), b.at(e)})));
    const auto row = b.index(b.at(i), DType::i32), key = b.index(b.at(j), DType::i32);
    const auto later = b.map(Op::less, {row, key});
    const auto early = b.map(Op::less, {key, b.index(b.at(i) - Expr(40), DType::i32)});
    ValueId x = score;
    if (kind == 0) x = b.map(Op::select, {later, b.constant(-1e30), score});
    // A sliding window, as a condition of both, then scaled.
    if (kind == 1)
      x = b.mul(b.map(Op::select, {b.add(later, early), b.constant(-1e9), score}), b.constant(1.4427));
    // Rows below 100 see nothing at all: their weights are all equal.
    if (kind == 2) {
      const auto blind = b.map(Op::less, {row, b.constant(100, DType::i32)});
      x = b.map(Op::select, {b.add(later, blind), b.constant(-1e30), score});
    }
    const auto total = b.reduce(Monoid::soft_sum, {j}, {x, b.constant(1)});
    const auto mixed = b.reduce(Monoid::soft_sum, {j}, {x, b.read({n, 20}, {b.at(j), b.at(d)})});
    b.store({i, d}, b.mul(mixed, b.map(Op::recip, {total})));
    expect_as_interpreted(b.kernel, {.tolerance = 1e-4, .vector_bytes = {64, 16}, .workers = {1, 4}});
  }
}

TEST(Kernels, SoftSumOfMaskedRows) {
  Build b;
  const auto i = b.loop(8), j = b.loop(40);
  const auto x = b.read({8, 40}, {b.at(i), b.at(j)});
  const auto w = b.read({8, 40}, {b.at(i), b.at(j)});
  b.store({i}, b.reduce(Monoid::soft_sum, {j}, {x, w}));
  auto inputs = random_inputs(b.kernel, {}, 3);
  const float low = -std::numeric_limits<float>::infinity();
  for (std::size_t k = 0; k < 40; ++k) std::memcpy(inputs[0].data() + (40 * 2 + k) * 4, &low, 4);
  for (std::size_t k = 0; k < 30; ++k) std::memcpy(inputs[0].data() + (40 * 4 + k) * 4, &low, 4);
  expect_as_interpreted(b.kernel, {.inputs = inputs});
}

TEST(Kernels, NestedReductionsThatReuseALoop) {
  // The inner sums sweep the loop that the outer one binds, and the other way round.
  Build b;
  const auto i = b.loop(6), j = b.loop(20), k = b.loop(20);
  const auto x = b.read({20, 20}, {b.at(j), b.at(k)});
  const auto inner = b.sum({j}, b.map(Op::sin, {x}));                        // of k
  const auto middle = b.mul(b.sum({k}, b.mul(x, inner)), b.constant(0.01));  // of j
  const auto y = b.read({6, 20}, {b.at(i), b.at(j)});
  const auto outer = b.sum({j}, b.mul(b.mul(middle, y), b.map(Op::cos, {middle})));  // of i
  const auto column = b.sum({j}, x);                                                 // of k
  b.store({i, k}, b.add(b.mul(outer, column), inner));
  expect_as_interpreted(b.kernel, {.tolerance = 1e-3});
}

TEST(Kernels, ValuesThatTwoSweepsUse) {
  // An unnormalised softmax of a contraction: max, sum and the result all use the nested sum.
  Build b;
  const auto i = b.loop(9), j = b.loop(35), k = b.loop(12);
  const auto x = b.read({9, 12}, {b.at(i), b.at(k)});
  const auto y = b.read({35, 12}, {b.at(j), b.at(k)});
  b.store({i, j}, softmax(b, b.sum({k}, b.mul(x, y)), j));
  expect_as_interpreted(b.kernel, {.tolerance = 1e-4});
}

TEST(Kernels, NormalisedMatmulCoversItsColumns) {
  Build b;
  const auto i = b.loop(5), j = b.loop(40), k = b.loop(33);
  const auto x = b.read({5, 33}, {b.at(i), b.at(k)});
  const auto y = b.read({40, 33}, {b.at(j), b.at(k)});
  const auto norm = b.map(Op::recip, {b.map(Op::sqrt, {b.sum({k}, b.mul(x, x))})});
  b.store({i, j}, b.mul(b.sum({k}, b.mul(x, y)), norm));
  expect_as_interpreted(b.kernel, {.tolerance = 1e-4});
}

TEST(Kernels, OneRowIsCutAlongItsColumns) {
  for (const bool turned : {false, true}) {
    Build b;
    const auto i = b.loop(1), j = b.loop(200), k = b.loop(300);
    const auto x = b.read({1, 300}, {b.at(i), b.at(k)});
    const auto y = turned ? b.read({300, 200}, {b.at(k), b.at(j)}) : b.read({200, 300}, {b.at(j), b.at(k)});
    const auto norm = b.map(Op::recip, {b.map(Op::sqrt, {b.sum({k}, b.mul(x, x))})});
    b.store({i, j}, b.mul(b.sum({k}, b.mul(x, y)), norm));
    const auto schedule = codegen::default_schedule(b.kernel, {.workers = 2});
    EXPECT_EQ(schedule.nests[0].retile, !turned);
    if (schedule.nests[0].retile) {
      codegen::Schedule cut = schedule;
      cut.nests[0].chunk = 50;
      EXPECT_EQ(codegen::footprint(b.kernel, cut).front().tasks, Expr(4));
    }
    expect_as_interpreted(b.kernel, {.tolerance = 1e-4});
  }
}

/// Sums of a few long columns are made once, not for every row that reads them.
TEST(Kernels, ColumnsAreSummedOnce) {
  Build b;
  const auto i = b.loop(20000), j = b.loop(2);
  const auto x = b.read({20000, 2}, {b.at(i), b.at(j)});
  b.store({i, j}, b.mul(x, b.sum({i}, x)));
  const auto schedule = codegen::default_schedule(b.kernel, {.workers = 2});
  EXPECT_FALSE(schedule.nests[0].retile);
}

TEST(Kernels, GatherByPosition) {
  Build b;
  const auto i = b.loop(30), d = b.loop(20);
  const auto ids = b.read({30}, {b.at(i)}, DType::i32);
  const auto place = b.position(ids, 11);
  b.store({i, d}, b.read({11, 20}, {b.at(place), b.at(d)}));
  const auto along = b.position(b.read({30, 20}, {b.at(i), b.at(d)}, DType::i64), 7);
  b.store({i, d}, b.read({30, 7}, {b.at(i), b.at(along)}));
  expect_as_interpreted(b.kernel, {.places = {{0, 11}, {2, 7}}});
}

TEST(Kernels, PlacesOutsideAreReported) {
  Build b;
  const auto i = b.loop(40);
  const auto place = b.position(b.read({40}, {b.at(i)}, DType::i64), 11);
  b.store({i}, b.read({11}, {b.at(place)}));
  auto inputs = random_inputs(b.kernel, {}, 3, {{0, 11}});
  for (const std::int64_t bad :
       {std::int64_t{11}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    std::memcpy(inputs[0].data() + std::size_t{17} * 8, &bad, 8);
    for (const int vector_bytes : {64, 0}) {
      const Outcome run = run_compiled(b.kernel, inputs, {}, {.vector_bytes = vector_bytes});
      EXPECT_EQ(run.status,
                (std::vector<std::int64_t>{1, static_cast<std::int64_t>(place.value()), bad, 11}));
    }
  }
}

TEST(Kernels, ScatterSetsAndAddsInOrder) {
  for (const auto mode : {kernel::Store::Mode::set, kernel::Store::Mode::add}) {
    for (const auto dtype : {DType::f32, DType::bf16, DType::i8}) {
      Build b;
      const auto i = b.loop(30), d = b.loop(20);
      const auto place = b.position(b.read({30}, {b.at(i)}, DType::i32), 9);
      const auto x = b.read({30, 20}, {b.at(i), b.at(d)}, dtype);
      const auto output = b.kernel.add_output({{9, 20}, dtype});
      b.kernel.add_store({output, {i, d}, {b.at(place), b.at(d)}, x, mode});
      expect_as_interpreted(b.kernel, {.places = {{0, 9}}});
    }
  }
}

TEST(Kernels, Scans) {
  for (const auto monoid : {Monoid::sum, Monoid::max, Monoid::prod}) {
    for (const bool along_rows : {true, false}) {
      for (const auto dtype : {DType::f32, DType::bf16, DType::i32}) {
        Build b;
        const auto i = b.loop(20), j = b.loop(35);
        const auto x = b.read({20, 35}, {b.at(i), b.at(j)}, dtype);
        b.store({i, j}, b.kernel.add(kernel::value::Scan{monoid, along_rows ? j : i, x}, dtype));
        expect_as_interpreted(b.kernel, {.tolerance = dtype == DType::bf16 ? 0.02 : 1e-4});
      }
    }
  }
}

TEST(Kernels, RandomWords) {
  Build b;
  const auto i = b.loop(10), j = b.loop(37);
  const auto key = b.read({10}, {b.at(i)}, DType::u64);
  const auto one = b.kernel.add(kernel::value::Random{b.at(i) * Expr(37) + b.at(j), key, 5}, DType::u32);
  b.store({i, j}, one);
  const auto fixed = b.read({}, {}, DType::i64);
  b.store({i, j},
          b.kernel.add(kernel::value::Random{b.at(j) * Expr(3), fixed, (1ULL << 40) + 3}, DType::u32));
  expect_as_interpreted(b.kernel);
}

TEST(Kernels, SeveralStores) {
  Build b;
  const auto i = b.loop(19), j = b.loop(21);
  const auto x = b.read({19, 21}, {b.at(i), b.at(j)});
  const auto e = b.map(Op::exp2, {x});
  b.store({i, j}, e);
  b.store({i, j}, b.mul(e, x));
  b.store({i}, b.sum({j}, e));
  b.store({j}, b.sum({i}, e));
  b.store({}, b.reduce(Monoid::max, {i, j}, {e}));
  expect_as_interpreted(b.kernel, {.tolerance = 1e-4});
}

TEST(Kernels, EmptyExtents) {
  for (const auto& [n, m] : {std::pair{0, 5}, std::pair{5, 0}, std::pair{0, 0}}) {
    for (const bool symbolic : {false, true}) {
      Build b;
      const Expr rows = symbolic ? Expr::variable("n") : Expr(n);
      const Expr columns = symbolic ? Expr::variable("m") : Expr(m);
      const auto i = b.loop(rows), j = b.loop(columns);
      const auto x = b.read({rows, columns}, {b.at(i), b.at(j)});
      const auto first = b.read({columns}, {Expr(0)});
      b.store({i}, b.sum({j}, b.mul(x, first)));
      b.store({j}, b.reduce(Monoid::max, {i}, {x}));
      b.store({j}, b.reduce(Monoid::prod, {i}, {x}));
      b.store({i, j}, b.add(x, b.reduce(Monoid::soft_sum, {j}, {x, x})));
      b.store({}, b.reduce(Monoid::m2, {i, j}, {x}));
      DimMap dims;
      if (symbolic) dims = {{"n", n}, {"m", m}};
      expect_as_interpreted(b.kernel, {.dims = dims});
    }
  }
}

TEST(Kernels, SymbolicDims) {
  const Expr n = Expr::variable("n", 1);
  const Expr task = Expr::variable("task");  // any name may be a dim's, even one that the program uses
  for (const auto& [rows, columns] : {std::pair{1, 1}, std::pair{7, 16}, std::pair{33, 47}}) {
    Build b;
    const auto i = b.loop(n), j = b.loop(task);
    b.store({i, j}, softmax(b, b.read({n, task}, {b.at(i), b.at(j)}), j));
    const auto wide = b.loop(n * task);
    b.store({wide}, b.map(Op::sin, {b.read({n, task}, {b.at(wide) / task, b.at(wide) % task})}));
    expect_as_interpreted(b.kernel, {.dims = {{"n", rows}, {"task", columns}}});
  }
}

TEST(Kernels, SystemCompilerGivesTheSame) {
  const Build b = attention(2, 20, 20, 16, true);
  const auto inputs = random_inputs(b.kernel, {}, 5);
  const std::vector<std::span<const std::byte>> spans(inputs.begin(), inputs.end());
  const auto expected = kernel::interpret(b.kernel, spans, {});
  for (const int vector_bytes : {64, 0}) {
    const Outcome run = run_compiled(b.kernel, inputs, {}, {.vector_bytes = vector_bytes}, true);
    ASSERT_EQ(run.outputs.size(), 1U);
    for (std::size_t k = 0; k < expected[0].size(); k += 4)
      EXPECT_NEAR(to_double(load(DType::f32, run.outputs[0].data() + k)),
                  to_double(load(DType::f32, expected[0].data() + k)), 1e-4);
  }
}

}  // namespace
}  // namespace luminal::test
