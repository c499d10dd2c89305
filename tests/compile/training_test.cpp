// Whole training steps of many kinds of nets: compiled runs against the interpreter's, states included.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "compare.h"
#include "luminal/luminal.h"
#include "tests/random.h"

namespace luminal {
namespace {

void set_random(const Tensor& tensor, test::Random& random, std::int64_t largest_label = 3) {
  const DType dtype = tensor.dtype();
  Array array(dtype, tensor.shape().eval({}));
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.set(i, make_scalar(dtype, is_floating(dtype) ? Number(random.unit() * 2 - 1)
                                                       : Number(random.between(0, largest_label))));
  tensor.set(array);
}

/// Runs both ways, with new inputs each time, and compares outputs and states.
void expect_same_steps(Graph& graph, int steps = 3, double allowed = 2e-3) {
  test::Random random(5);
  Executable exe = compile(graph, device("cpu"), {.verify = true});
  for (int step = 0; step < steps; ++step) {
    for (const auto id : graph.dag().nodes()) {
      if (graph.dag().node(id).op != Op::input) continue;
      set_random(graph.at(id), random);
      exe.set(graph.at(id), graph.at(id).array());
    }
    exe.run();
    graph.execute();
    for (const auto& value : graph.dag().outputs()) {
      const auto wrong =
          test::difference(exe.array(graph.at(value)), graph.at(value).array(), false, allowed);
      ASSERT_FALSE(wrong) << "step " << step << ": " << *wrong;
    }
    for (const auto& [state, value] : graph.dag().assignments()) {
      const auto wrong =
          test::difference(exe.array(graph.at(state)), graph.at(state).array(), false, allowed);
      ASSERT_FALSE(wrong) << "step " << step << ", state " << graph.dag().node(state).name << ": " << *wrong;
    }
  }
}

/// A step of plain gradient descent with momentum on a module.
template <typename M>
void train(M& module, const Tensor& loss) {
  const std::vector<State> weights = nn::params(module);
  loss.retrieve();
  optim::sgd({weights, gradients(loss, {weights.begin(), weights.end()}), 0.05}, {.momentum = 0.9}).apply();
}

Tensor squared(const Tensor& x) {
  return (x * x).mean();
}

TEST(Training, RecurrentNets) {
  using Cell = nn::Recurrent::Cell;
  for (const auto cell : {Cell::rnn_tanh, Cell::gru, Cell::lstm}) {
    Graph g;
    nn::Recurrent net(nn::Scope(g) / "net", cell, 3, 4);
    train(net, squared(net(g.tensor({2, 3, 3}))));
    expect_same_steps(g);
  }
}

TEST(Training, EncoderAndDecoderLayers) {
  Graph g;
  nn::EncoderLayer encoder(nn::Scope(g) / "encoder", 8, {.heads = 2, .hidden = 12, .gelu = true});
  nn::DecoderLayer decoder(nn::Scope(g) / "decoder", 8, {.heads = 2, .hidden = 12, .norm_first = true});
  auto both = std::tie(encoder, decoder);
  const Tensor memory = encoder(g.tensor({2, 3, 8}));
  const Tensor loss = squared(decoder.forward(g.tensor({2, 4, 8}), memory)).retrieve();
  std::vector<State> weights = nn::params(std::get<0>(both));
  for (const auto& weight : nn::params(std::get<1>(both))) weights.push_back(weight);
  optim::sgd({weights, gradients(loss, {weights.begin(), weights.end()}), 0.05}).apply();
  expect_same_steps(g, 2);
}

TEST(Training, LanguageModel) {
  Graph g;
  const nn::Scope scope(g);
  nn::Embedding table(scope / "table", 11, 8);
  nn::LlamaBlock block(scope / "block", 8, {.heads = 2, .kv_heads = 1, .hidden = 12});
  nn::RmsNorm norm(scope / "norm", 8);
  nn::Linear head(scope / "head", 8, 11, {.bias = false});
  auto model = std::make_tuple(table, block, norm, head);
  const Tensor tokens = g.tensor({2, 5}, DType::i64);
  const Tensor scores = head(norm(block(table(tokens)))).reshape({10, 11});
  train(model, nn::cross_entropy(scores, g.tensor({10}, DType::i64)));
  expect_same_steps(g);
}

TEST(Training, LanguageModelInBfloat16) {
  Graph g;
  const nn::Scope scope(g);
  nn::Embedding table(scope / "table", 11, 8);
  nn::Linear head(scope / "head", 8, 11, {.bias = false});
  auto model = std::make_tuple(table, head);
  const Tensor scores = head(table(g.tensor({6}, DType::i64)).cast(DType::bf16)).cast(DType::f32);
  train(model, nn::cross_entropy(scores, g.tensor({6}, DType::i64)));
  expect_same_steps(g, 3, 3e-2);
}

TEST(Training, MixtureOfExperts) {
  Graph g;
  nn::MixtureOfExperts net(nn::Scope(g) / "net", 6, 8, {.experts = 4, .active = 2});
  train(net, squared(net(g.tensor({2, 3, 6}))));
  expect_same_steps(g);
}

TEST(Training, ConvolutionsOfEveryKind) {
  const auto options = [](const Spatial& stride, const Spatial& padding, int groups) {
    return nn::ConvOptions{.convolution = {.stride = stride, .padding = padding, .groups = groups}};
  };
  {
    Graph g;
    auto net = nn::conv1d(nn::Scope(g) / "net", 4, 6, 3, options(2, 1, 2));
    train(net, squared(net(g.tensor({2, 4, 9}))));
    expect_same_steps(g);
  }
  {
    Graph g;
    auto net = nn::conv3d(nn::Scope(g) / "net", 2, 3, 2, options(1, 1, 1));
    train(net, squared(net(g.tensor({1, 2, 3, 4, 3}))));
    expect_same_steps(g);
  }
  {
    Graph g;
    auto net = nn::conv_transpose2d(nn::Scope(g) / "net", 3, 2, 3, options(2, 1, 1));
    train(net, squared(net(g.tensor({2, 3, 4, 5}))));
    expect_same_steps(g);
  }
}

TEST(Training, NormsAndPooling) {
  Graph g;
  const nn::Scope scope(g);
  auto first = nn::conv2d(scope / "first", 2, 4, 3, {.convolution = {.padding = 1}, .bias = false});
  nn::BatchNorm batch(scope / "batch", 4);
  nn::GroupNorm groups(scope / "groups", 2, 4);
  auto model = std::make_tuple(first, batch, groups);
  const Tensor x = max_pool(batch(first(g.tensor({3, 2, 6, 6}))).relu(), 2, 2);
  train(model, squared(avg_pool(groups(x), 2, 2, {.stride = Spatial(1)})));
  expect_same_steps(g);
}

TEST(Training, Dropout) {
  Graph g;
  const nn::Scope scope(g);
  nn::Linear first(scope / "first", 6, 16);
  nn::Dropout drop(scope / "drop", 0.4);
  nn::Linear second(scope / "second", 16, 3);
  auto model = std::make_tuple(first, drop, second);
  train(model, squared(second(drop(first(g.tensor({4, 6})).tanh()))));
  expect_same_steps(g, 4);
}

/// What is compared with its own maximum is computed once: twice, it could differ in its last bits.
TEST(Training, MaximaOfWhatIsComputed) {
  test::Random random(3);
  for (int trial = 0; trial < 12; ++trial) {
    Graph g;
    const std::int64_t rows = random.between(2, 40);
    const std::int64_t depth = random.between(1, 70);
    const std::int64_t columns = random.between(2, 50);
    const Tensor x = g.tensor({rows, depth});
    const Tensor w = g.tensor({depth, columns});
    const Tensor y = (matmul(x, w) * 1.7).tanh() + matmul(x, w);
    y.argmax(-1).retrieve();
    gradients(y.max(-1).sum(), {x})[0].retrieve();
    gradients(max_pool(y.reshape({1, rows, columns}), 2, 1).sum(), {w})[0].retrieve();
    expect_same_steps(g, 1);
  }
}

TEST(Training, EveryOptimiser) {
  const std::map<std::string, std::function<optim::Updates(const optim::Step&)>> all = {
      {"sgd", [](const auto& step) { return optim::sgd(step, {.momentum = 0.9, .nesterov = true}); }},
      {"adam", [](const auto& step) { return optim::adam(step); }},
      {"adamw", [](const auto& step) { return optim::adamw(step); }},
      {"lamb", [](const auto& step) { return optim::lamb(step); }},
      {"rmsprop", [](const auto& step) { return optim::rmsprop(step, {.momentum = 0.5, .centred = true}); }},
      {"adagrad", [](const auto& step) { return optim::adagrad(step); }},
      {"lion", [](const auto& step) { return optim::lion(step); }},
  };
  for (const auto& [name, optimiser] : all) {
    SCOPED_TRACE(name);
    Graph g;
    nn::Linear net(nn::Scope(g) / "net", 4, 3);
    const std::vector<State> weights = nn::params(net);
    const Tensor loss = squared(net(g.tensor({5, 4})) - 1.0).retrieve();
    const auto slopes = optim::clip_by_norm(gradients(loss, {weights.begin(), weights.end()}), 0.5);
    optimiser({weights, slopes, 0.01}).apply();
    expect_same_steps(g, 4);
  }
}

TEST(Training, AccumulationAveragesAndLossScale) {
  Graph g;
  nn::Linear net(nn::Scope(g) / "net", 4, 3);
  const std::vector<State> weights = nn::params(net);
  const optim::LossScale scale(g, {.initial = 256});
  const Tensor loss = squared(net(g.tensor({5, 4}))).retrieve();
  const auto unscaled = scale.unscale(gradients(scale.scaled(loss), {weights.begin(), weights.end()}));
  unscaled.updates.apply();
  const auto sums = optim::accumulate(weights, unscaled.gradients, 2);
  sums.updates.apply();
  optim::adam({weights, sums.gradients, 0.01}).apply_if(sums.complete);
  optim::moving_average(weights, {weights.begin(), weights.end()}, 0.9).updates.apply();
  expect_same_steps(g, 5);
}

TEST(Training, LossesOfEveryKind) {
  using Loss = std::function<Tensor(const Tensor&, const Tensor&)>;
  const std::map<std::string, Loss> all = {
      {"mse", [](const Tensor& x, const Tensor& y) { return nn::mse_loss(x, y); }},
      {"mae", [](const Tensor& x, const Tensor& y) { return nn::mae_loss(x, y); }},
      {"huber", [](const Tensor& x, const Tensor& y) { return nn::huber_loss(x, y); }},
      {"bce",
       [](const Tensor& x, const Tensor& y) { return nn::binary_cross_entropy_with_logits(x, y.sigmoid()); }},
      {"soft labels", [](const Tensor& x, const Tensor& y) { return nn::cross_entropy(x, y.softmax(-1)); }},
      {"kl", [](const Tensor& x, const Tensor& y) { return nn::kl_div(x.log_softmax(-1), y.softmax(-1)); }},
  };
  for (const auto& [name, loss] : all) {
    SCOPED_TRACE(name);
    Graph g;
    nn::Linear net(nn::Scope(g) / "net", 4, 3);
    train(net, loss(net(g.tensor({5, 4})), g.tensor({5, 3})));
    expect_same_steps(g);
  }
}

struct Stack {
  explicit Stack(int layers) {
    const nn::Scope scope(g);
    std::vector<State> weights;
    Tensor x = g.tensor({1, 4, 8});
    for (int k = 0; k < layers; ++k) {
      nn::LlamaBlock block(scope / cat("layer", k), 8,
                           {.heads = 2, .kv_heads = 1, .head_size = 4, .hidden = 12});
      x = block(x);
      for (const auto& weight : nn::params(block)) weights.push_back(weight);
    }
    const Tensor loss = squared(x).retrieve();
    optim::adamw({weights, gradients(loss, {weights.begin(), weights.end()}), 0.01}).apply();
  }
  Graph g;
};

/// "13 regions, 9 different"
std::string regions_of(const Executable& exe) {
  for (const auto& stage : exe.stages())
    if (stage.name == "regions") return stage.detail;
  return "";
}

TEST(Training, RepeatedLayersAreCompiledOnceForwardAndBackward) {
  Stack few(4);
  Stack many(8);
  const std::string a = regions_of(compile(few.g, device("cpu"), {.cache = false}));
  const std::string b = regions_of(compile(many.g, device("cpu"), {.cache = false}));
  // Four more layers are eight more regions, forward and backward, and none that is new.
  int regions[2] = {};
  int different[2] = {};
  ASSERT_EQ(std::sscanf(a.c_str(), "%d regions, %d different", &regions[0], &different[0]), 2) << a;
  ASSERT_EQ(std::sscanf(b.c_str(), "%d regions, %d different", &regions[1], &different[1]), 2) << b;
  EXPECT_EQ(regions[1], regions[0] + 8) << a << "; " << b;
  EXPECT_EQ(different[1], different[0]) << a << "; " << b;
  EXPECT_LT(different[1], regions[1]);
  expect_same_steps(few.g, 2);
}

}  // namespace
}  // namespace luminal
