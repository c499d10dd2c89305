// What plans must get right beside kernels: memory that is written over, orders around steps on the host,
// bodies that are too large for one kernel, names in generated text.
#include <gtest/gtest.h>

#include "compare.h"
#include "luminal/luminal.h"
#include "tests/random.h"

namespace luminal {
namespace {

Array numbers(DType dtype, const std::vector<std::int64_t>& dims, test::Random& random) {
  Array array(dtype, dims);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const double unit = random.unit();
    array.set(i, make_scalar(dtype, is_floating(dtype) ? Number(unit + 0.1)
                                                       : Number(static_cast<std::int64_t>(unit * 3))));
  }
  return array;
}

/// Several runs give what the interpreter gives: outputs and states.
Executable expect_same(Graph& graph, int runs = 3) {
  test::Random random(7);
  for (const auto id : graph.dag().nodes())
    if (const Op op = graph.dag().node(id).op; op == Op::input || op == Op::state)
      graph.at(id).set(numbers(graph.dag().type(id).dtype, graph.dag().type(id).shape.eval({}), random));
  Executable exe = compile(graph, device("cpu"), {.cache = false, .verify = true});
  const auto compare = [&](const Tensor& tensor, int run) {
    const auto wrong = test::difference(exe.array(tensor), tensor.array(), false, 2e-4);
    EXPECT_FALSE(wrong) << "run " << run << ": " << *wrong;
  };
  for (int run = 0; run < runs; ++run) {
    exe.run();
    graph.execute();
    for (const auto& value : graph.dag().outputs()) compare(graph.at(value), run);
    for (const auto& [state, value] : graph.dag().assignments()) compare(graph.at(state), run);
  }
  return exe;
}

TEST(Hazards, StatesThatReductionsReadAreNotOverwrittenEarly) {
  for (const std::vector<std::int64_t>& dims :
       {std::vector<std::int64_t>{6, 5}, {200, 300}, {1, 100000}, {2, 30000}, {5000, 3}}) {
    SCOPED_TRACE(join(dims));
    const Shape shape{std::span<const std::int64_t>(dims)};
    {
      Graph g;
      const State a = g.state("a", shape);
      a.assign(a / (a * a).sum().sqrt());
      expect_same(g);
    }
    {
      Graph g;
      const State a = g.state("a", shape);
      const Tensor q = a / a.sum(0, true);
      a.assign(q / q.sum(1, true));
      expect_same(g);
    }
    {
      Graph g;
      const State a = g.state("a", shape);
      a.assign((a - a.mean(0, true)).layer_norm(1) + 1.0);
      expect_same(g);
    }
    {
      Graph g;
      const State a = g.state("a", shape);
      const State b = g.state("b", shape);
      const Tensor s = a.softmax(1);
      a.assign(b.sum(0, true).tanh() * s + 0.01);
      b.assign(s + 0.1);
      expect_same(g);
    }
    {
      Graph g;
      const State a = g.state("a", shape);
      a.assign(a.cumsum(1).tanh() + a.mean() * 0.1);
      expect_same(g);
    }
  }
}

TEST(Hazards, LambOfALargeMatrix) {
  Graph g;
  const State p = g.state("p", {300, 300});
  optim::lamb({{p}, {g.named_tensor("gradient", {300, 300})}, 0.01}).apply();
  expect_same(g);
}

TEST(Hazards, TwoStatesTakeOneValue) {
  Graph g;
  const State a = g.state("a", {40, 3});
  const State b = g.state("b", {40, 3});
  const Tensor x = g.named_tensor("x", {40, 3});
  const Tensor value = (x.scatter(0, g.named_tensor("i", {40, 3}, DType::i64), x).sin() + a).retrieve();
  a.assign(value);
  b.assign(value);
  expect_same(g);
}

TEST(Hazards, ViewsAroundStepsOnTheHost) {
  {
    Graph g;
    const Tensor x = g.tensor({5, 6});
    (x.flip(0).sort(1).values + g.tensor({5, 6})).retrieve();
    expect_same(g);
  }
  {
    Graph g;
    const Tensor f = g.tensor({5, 6}).reshape({30});
    f.gather(0, f.argsort(0)).retrieve();
    expect_same(g);
  }
  {
    Graph g;
    g.tensor({5, 6}).sin().sort(1).values.flip(1).retrieve();
    expect_same(g);
  }
  {
    Graph g;
    const State s = g.state("s", {5, 6});
    s.assign((g.tensor({5, 6}) * 2.0).sort(1).values.flip(1));
    expect_same(g);
  }
  {
    Graph g;
    (g.tensor({5, 6}).flip(0).graph_break() + g.tensor({5, 6})).retrieve();
    expect_same(g);
  }
  {
    Graph g;
    const Tensor x = g.tensor({4, 4});
    const Tensor i = g.tensor({4, 4}, DType::i64);
    const Tensor y = x + x;
    const Tensor a = y.scatter(1, i, x);
    const Tensor b = y.scatter_add(1, i, x.sort(1).values).tanh();
    matmul(b.transpose(0, 1), a).retrieve();
    expect_same(g);
  }
}

/// Sums of more things than one body holds.
TEST(Hazards, BodiesBeyondTheLimitsAreCut) {
  {
    Graph g;
    Tensor a = g.tensor({3, 4});
    for (int k = 1; k < 40; ++k) a = a + g.tensor({3, 4});
    a.retrieve();
    expect_same(g, 1);
  }
  {
    Graph g;
    const Tensor x = g.tensor({7, 9});
    Tensor sum = x.sin().sum();
    for (int k = 2; k < 14; ++k) sum = sum + (x * static_cast<float>(k)).sin().sum();
    sum.retrieve();
    expect_same(g, 1);
  }
  {
    Graph g;
    Tensor x = g.tensor({3, 4});
    for (int k = 0; k < 150; ++k) x = x.sin();
    x.retrieve();
    expect_same(g, 1);
  }
  {
    Graph g;
    const Tensor x = g.tensor({5});
    Tensor value = x * 0.5;
    for (int k = 0; k < 24; ++k) value = where(x.lt(static_cast<float>(k) / 24), value + 1.0, value * 0.9);
    value.retrieve();
    expect_same(g, 1);
  }
}

TEST(Hazards, ClippedUpdatesOfManyParametersAreFewKernels) {
  for (const std::size_t count : {4U, 24U, 70U}) {
    SCOPED_TRACE(count);
    Graph g;
    std::vector<State> parameters;
    std::vector<Tensor> gradients;
    for (std::size_t k = 0; k < count; ++k) {
      parameters.push_back(g.state(cat("p", k), {6, 5}));
      gradients.push_back(g.named_tensor(cat("g", k), {6, 5}));
    }
    optim::adamw({parameters, gradients, 0.01}).apply();
    const Executable exe = expect_same(g, 2);
    EXPECT_LE(exe.kernel_count(), 2U) << "the update, and the number of the step";
    EXPECT_EQ(exe.copy_count(), 0U);
  }
  Graph g;
  std::vector<State> parameters;
  std::vector<Tensor> gradients;
  for (std::size_t k = 0; k < 16; ++k) {
    parameters.push_back(g.state(cat("p", k), {6, 5}));
    gradients.push_back(g.named_tensor(cat("g", k), {6, 5}));
  }
  optim::adamw({parameters, optim::clip_by_norm(gradients, 1.0), 0.01}).apply();
  expect_same(g, 2);
}

/// Kernels with nine loops and more have one that is called i8.
TEST(Hazards, LoopsDoNotHideTypes) {
  {
    Graph g;
    conv3d(g.tensor({1, 4, 5, 5, 5}, DType::i8), g.tensor({4, 2, 3, 3, 3}, DType::i8), std::nullopt,
           {.padding = 1, .groups = 2})
        .retrieve();
    expect_same(g, 1);
  }
  for (const DType dtype : {DType::i8, DType::i16, DType::i32}) {
    Graph g;
    const Tensor x = g.tensor({60}, dtype);
    Tensor all = x.slice(0, 0, 8);
    for (int k = 1; k < 40; ++k) all = all + x.unfold(0, 1 + k).slice(0, 0, 8).max(-1);
    all.retrieve();
    expect_same(g, 1);
  }
}

/// Each extent is a loop: of more than a kernel may have, several kernels are made.
TEST(Hazards, SumsOverVeryManyExtents) {
  for (const std::int64_t count : {70, 200}) {
    SCOPED_TRACE(count);
    Graph apart;
    for (std::int64_t k = 2; k < count; ++k) apart.tensor({k}).sum(0).retrieve();
    expect_same(apart, 1);
    Graph together;
    const Tensor x = together.tensor({count, 4});
    Tensor all = x.slice(0, 0, 2).sum(0);
    for (std::int64_t k = 3; k < count; ++k) all = all + x.slice(0, 0, k).max(0);
    all.retrieve();
    expect_same(together, 1);
  }
  Graph g;
  std::vector<Expr> dims(70, Expr(1));
  for (const std::size_t axis : {0U, 30U, 63U, 64U, 69U}) dims[axis] = 2;
  g.tensor(Shape(dims)).exp2().retrieve();
  expect_same(g, 1);
}

TEST(Hazards, SettingAViewIsAnError) {
  Graph g;
  const Tensor x = g.named_tensor("x", {2, 3});
  (x * 2.0).retrieve();
  Executable exe = compile(g, device("cpu"));
  EXPECT_THROW(exe.set(x.flip(1), {{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}}), Error);
}

}  // namespace
}  // namespace luminal
