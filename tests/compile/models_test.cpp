// Whole models: results against the interpreter on small dims, and how many kernels they take.
#include <gtest/gtest.h>

#include "compare.h"
#include "luminal/luminal.h"
#include "tests/guarded.h"
#include "tests/random.h"

namespace luminal {
namespace {

Array random_array(const std::vector<std::int64_t>& dims, double scale, test::Random& random) {
  Array array(DType::f32, dims);
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.set(i, make_scalar(DType::f32, Number((random.unit() * 2 - 1) * scale)));
  return array;
}

/// Gives every f32 input and state random values.
void fill(Graph& graph, double scale = 0.3) {
  test::Random random(7);
  for (const auto id : graph.dag().nodes()) {
    const Node& node = graph.dag().node(id);
    const bool source = node.op == Op::input || node.op == Op::state;
    if (!source || node.outputs[0].dtype != DType::f32 || node.outputs[0].shape.rank() == 0) continue;
    graph.at(id).set(random_array(node.outputs[0].shape.eval(graph.dims()), scale, random));
  }
}

Executable compiled(const Graph& graph) {
  return compile(graph, test::guarded_cpu(), {.verify = true});
}

std::string text_of(const runtime::Plan& plan) {
  std::string text = runtime::print(plan);
  for (const auto& kernel : plan.kernels) text += kernel.source.text;
  return text;
}

/// What is explained is what runs: whoever looks gets the same plan.
void expect_same_when_inspected(const Graph& graph, const Executable& exe) {
  std::size_t told = 0;
  CompileOptions options{.verify = true};
  options.inspect = [&](std::string_view, const std::string&) { ++told; };
  EXPECT_EQ(text_of(compile(graph, test::guarded_cpu(), options).plan()), text_of(exe.plan()));
  EXPECT_GT(told, 0U);
}

/// Runs both ways, twice (states move on), and compares outputs and states.
void expect_agreement(Graph& graph, int runs = 2) {
  Executable exe = compiled(graph);
  expect_same_when_inspected(graph, exe);
  for (int k = 0; k < runs; ++k) {
    exe.run();
    graph.execute();
    for (const auto& value : graph.dag().outputs()) {
      const auto wrong = test::difference(exe.array(graph.at(value)), graph.at(value).array(), false, 5e-4);
      ASSERT_FALSE(wrong) << "run " << k << ": " << *wrong;
    }
    for (const auto& [state, value] : graph.dag().assignments()) {
      const auto wrong = test::difference(exe.array(graph.at(state)), graph.at(state).array(), false, 5e-3);
      ASSERT_FALSE(wrong) << "run " << k << ", state " << graph.dag().node(state).name << ": " << *wrong;
    }
  }
}

struct Mnist {
  Mnist(std::int64_t batch, bool train) {
    const nn::Scope scope(g);
    const auto c1 = nn::conv2d(scope / "c1", 1, 8, 3);
    const auto c2 = nn::conv2d(scope / "c2", 8, 16, 3);
    const nn::Linear fc(scope / "fc", 400, 10);
    const Tensor x = g.tensor({batch, 1, 28, 28});
    Tensor h = max_pool(c1(x).relu(), {2, 2}, 2);
    h = max_pool(c2(h).relu(), {2, 2}, 2);
    const Tensor scores = fc(h.reshape({batch, 400})).retrieve();
    if (!train) return;
    const Tensor labels = g.tensor({batch}, DType::i64);
    const Tensor loss = nn::cross_entropy(scores, labels).retrieve();
    const std::vector<State> weights = {c1.weight, *c1.bias, c2.weight, *c2.bias, fc.weight, *fc.bias};
    const Tensor rate = g.tensor({});
    optim::adamw({weights, gradients(loss, {weights.begin(), weights.end()}), rate}).apply();
    rate.set(0.01F);
    std::vector<std::int64_t> wanted;
    for (std::int64_t i = 0; i < batch; ++i) wanted.push_back(i % 10);
    labels.set(Array(wanted));
  }
  Graph g;
};

TEST(Models, MnistInference) {
  Mnist model(2, false);
  fill(model.g);
  expect_agreement(model.g, 1);
  EXPECT_LE(compiled(Mnist(32, false).g).kernel_count(), 4U);
}

TEST(Models, MnistTrainingStep) {
  Mnist model(2, true);
  fill(model.g);
  expect_agreement(model.g);
  const Executable exe = compiled(Mnist(32, true).g);
  EXPECT_LE(exe.kernel_count(), 20U);
  EXPECT_EQ(exe.host_step_count(), 0U) << runtime::print(exe.plan());
}

struct Llama {
  Llama(std::int64_t size, std::int64_t heads, std::int64_t kv_heads, std::int64_t head, std::int64_t hidden,
        std::int64_t tokens, std::int64_t capacity) {
    const nn::Scope scope(g);
    const nn::LlamaBlock block(scope, size,
                               {.heads = heads, .kv_heads = kv_heads, .head_size = head, .hidden = hidden});
    const Tensor x = g.tensor({1, tokens, size});
    if (capacity == 0) {
      block(x).retrieve();
      return;
    }
    const nn::KvCache cache(scope, 1, kv_heads, capacity, head, Expr("past"));
    block.forward(x, &cache).retrieve();
    g.set_dim("past", capacity / 2);
  }
  Graph g;
};

TEST(Models, LlamaDecodeLayerTakesAtMostSevenKernels) {
  Llama model(16, 4, 2, 4, 24, 1, 8);
  fill(model.g);
  expect_agreement(model.g);
  const Executable exe = compiled(Llama(2048, 32, 8, 64, 8192, 1, 2048).g);
  EXPECT_LE(exe.kernel_count(), 7U);
  EXPECT_EQ(exe.host_step_count(), 0U);
}

TEST(Models, LlamaPrefill) {
  Llama model(16, 4, 2, 4, 24, 5, 0);
  fill(model.g);
  expect_agreement(model.g, 1);
}

TEST(Models, Lstm) {
  Graph g;
  const nn::Recurrent lstm(nn::Scope(g) / "lstm", nn::Recurrent::Cell::lstm, 5, 6);
  lstm(g.tensor({2, 4, 5})).retrieve();
  fill(g);
  expect_agreement(g, 1);
}

TEST(Models, BertBlock) {
  Graph g;
  const nn::EncoderLayer layer(nn::Scope(g) / "layer", 16, {.heads = 4, .hidden = 32, .gelu = true});
  layer(g.tensor({2, 5, 16})).retrieve();
  fill(g);
  expect_agreement(g, 1);
}

TEST(Models, DepthwiseBlock) {
  Graph g;
  const nn::Scope scope(g);
  const auto depthwise = nn::conv2d(scope / "depthwise", 4, 4, 3,
                                    {.convolution = {.padding = {1, 1}, .groups = 4}, .bias = false});
  const auto pointwise = nn::conv2d(scope / "pointwise", 4, 8, 1);
  pointwise(depthwise(g.tensor({2, 4, 6, 6})).relu()).relu().retrieve();
  fill(g);
  expect_agreement(g, 1);
}

/// As its weights come from files, its states have no values unless they are asked for.
struct ResNet {
  ResNet(const models::ResNet::Options& options, std::int64_t batch, std::int64_t size, bool train) {
    const nn::Scope scope(g);
    models::ResNet net(train ? scope : scope.without_values(), options);
    nn::set_mode(net, train ? nn::Mode::train : nn::Mode::eval);
    const Tensor scores = net(g.tensor({batch, options.channels, size, size})).retrieve();
    if (!train) return;
    const std::vector<State> weights = nn::params(net);
    const Tensor loss = (scores * scores).mean().retrieve();
    optim::sgd({weights, gradients(loss, {weights.begin(), weights.end()}), g.constant(0.01)}).apply();
  }
  Graph g;
};

TEST(Models, ResNet) {
  ResNet model({.blocks = {1, 1, 1, 1}, .width = 2, .classes = 5}, 2, 32, false);
  fill(model.g);
  expect_agreement(model.g, 1);
}

TEST(Models, ResNet50CompilesWithoutFallback) {
  const Executable exe = compiled(ResNet({}, 1, 224, false).g);
  EXPECT_EQ(exe.host_step_count(), 0U);
  // 53 convolutions with their norms and sums, the pooling, the mean and the head.
  EXPECT_LE(exe.kernel_count(), 56U) << runtime::print(exe.plan());
}

TEST(Models, ResNetTrainingStep) {
  ResNet model({.blocks = {1, 1, 1, 1}, .width = 2, .classes = 5}, 2, 32, true);
  fill(model.g);
  expect_agreement(model.g, 1);
}

TEST(Models, AdamWOfOneShapeIsOneKernel) {
  Graph g;
  std::vector<State> weights;
  std::vector<Tensor> slopes;
  for (int k = 0; k < 5; ++k) {
    weights.push_back(g.state("w" + std::to_string(k), {32, 16}));
    slopes.push_back(g.tensor({32, 16}));
  }
  const Tensor rate = g.tensor({});
  optim::adamw({weights, slopes, rate}).apply();
  rate.set(0.1F);
  fill(g);
  const Executable exe = compiled(g);
  std::size_t large = 0;
  for (const auto& step : exe.plan().steps)
    for (const auto output : step.outputs)
      if (exe.plan().buffers[output.index()].type.shape.rank() == 2) {
        ++large;
        break;
      }
  EXPECT_EQ(large, 1U) << runtime::print(exe.plan());
  expect_agreement(g);
}

/// Attention over `tokens`, with the variants that the same rules must fuse.
Tensor attention(Graph& g, std::int64_t heads, std::int64_t tokens, std::int64_t size,
                 const std::string& variant) {
  const Tensor q = g.named_tensor("q", {1, heads, tokens, size});
  const Tensor k = g.named_tensor("k", {1, heads, tokens, size});
  const Tensor v = g.named_tensor("v", {1, heads, tokens, size});
  const Shape seen{tokens, tokens};
  const Expr i = Expr::coordinate(0, tokens);
  const Expr j = Expr::coordinate(1, tokens);
  if (variant == "plain") return scaled_dot_product_attention(q, k, v, {.causal = true});
  Tensor scores = matmul(q, k.transpose(-1, -2)) * (1.0 / std::sqrt(static_cast<double>(size)));
  Tensor visible = g.iota(Expr::less_equal(j, i), seen, DType::u8).cast(DType::boolean);
  if (variant == "alibi") {
    const Tensor distance = (g.iota(seen, 1) - g.iota(seen, 0)).cast(DType::f32);
    const Tensor slope = (g.iota({heads, 1, 1}, 0).cast(DType::f32) + 1.0) * -0.25;
    scores = scores + distance * slope.exp2();
  } else if (variant == "soft-cap") {
    scores = (scores / 30.0).tanh() * 30.0;
  } else if (variant == "window") {
    visible = g.iota(Expr::logical_and(Expr::less_equal(j, i), Expr::less(i, j + 16)), seen, DType::u8)
                  .cast(DType::boolean);
  } else if (variant == "logsumexp") {
    return scores.logsumexp(-1);
  }
  scores = where(visible, scores, -std::numeric_limits<double>::infinity());
  return matmul(scores.softmax(-1), v);
}

TEST(Attention, IsOneKernelInLinearMemory) {
  for (const std::string variant : {"plain", "alibi", "soft-cap", "window", "logsumexp"}) {
    Graph small;
    attention(small, 2, 12, 4, variant).retrieve();
    fill(small, 1.0);
    expect_agreement(small, 1);
    Graph g;
    attention(g, 8, 8192, 64, variant).retrieve();
    Executable exe = compiled(g);
    EXPECT_EQ(exe.kernel_count(), 1U) << variant << "\n" << runtime::print(exe.plan());
    EXPECT_LE(exe.arena_bytes(), 8U * 8192U * 64U * 4U * 2U) << variant;
  }
}

TEST(Attention, BackwardNeverStoresTheMatrix) {
  const auto build = [](Graph& g, std::int64_t heads, std::int64_t tokens, std::int64_t size) {
    const Tensor out = attention(g, heads, tokens, size, "plain");
    const Tensor loss = (out * g.named_tensor("w", {1, heads, tokens, size})).sum();
    for (const auto& slope : gradients(loss, {g.find("q"), g.find("k"), g.find("v")})) slope.retrieve();
  };
  Graph small;
  build(small, 2, 6, 4);
  fill(small, 1.0);
  expect_agreement(small, 1);
  Graph g;
  build(g, 8, 8192, 64);
  Executable exe = compiled(g);
  for (const auto& buffer : exe.plan().buffers)
    EXPECT_LT(buffer.type.shape.element_count().constant_value().value_or(0), std::int64_t{8192} * 8192)
        << runtime::print(exe.plan());
}

}  // namespace
}  // namespace luminal
