// Every node names a line of the user's program, whatever part of the library built it.
#include <gtest/gtest.h>

#include "luminal/luminal.h"
#include "tests/locations.h"

namespace luminal::nn {
namespace {

void expect_own_lines(const Graph& g) {
  EXPECT_EQ(test::foreign_line(g.dag()).value_or(""), "");
}

/// A training step of a module: forward, loss, backward, update.
template <typename Make, typename Forward>
void expect_own_lines(const char* what, const Shape& input, const Make& make, const Forward& forward) {
  SCOPED_TRACE(what);
  Graph g;
  auto module = make(Scope(g));
  const Tensor y = forward(module, g.tensor(input));
  const Tensor loss = mse_loss(y, g.tensor(y.shape()));
  const std::vector<State> states = params(module);
  const std::vector<Tensor> wanted(states.begin(), states.end());
  optim::adamw({states, gradients(loss, wanted, {.seed = {}, .allow_unused = true}), 0.1}).apply();
  expect_own_lines(g);
}

const auto call = [](const auto& module, const Tensor& x) { return module(x); };

TEST(Locations, OfLayers) {
  const Shape rows{"n", 4};
  const Shape image{"n", 4, 6, 6};
  expect_own_lines("Linear", rows, [](const Scope& s) { return Linear(s, 4, 3); }, call);
  expect_own_lines(
      "permuted Linear", rows,
      [](const Scope& s) { return Linear(s, 4, 3, {.bias = false, .permuted = true}); }, call);
  expect_own_lines(
      "Embedding", rows, [](const Scope& s) { return Embedding(s, 5, 3, true); },
      [](const Embedding& table, const Tensor& x) { return table(x.cast(DType::i64)); });
  expect_own_lines("LayerNorm", rows, [](const Scope& s) { return LayerNorm(s, 4); }, call);
  expect_own_lines("RmsNorm", rows, [](const Scope& s) { return RmsNorm(s, 4); }, call);
  expect_own_lines("GroupNorm", image, [](const Scope& s) { return GroupNorm(s, 2, 4); }, call);
  expect_own_lines("BatchNorm", image, [](const Scope& s) { return BatchNorm(s, 4); }, call);
  expect_own_lines(
      "BatchNorm in evaluation", image,
      [](const Scope& s) {
        BatchNorm norm(s, 4);
        norm.mode = Mode::eval;
        return norm;
      },
      call);
  expect_own_lines(
      "Dropout", rows, [](const Scope& s) { return Sequential(Linear(s, 4, 4), Dropout(s, 0.5)); }, call);
  expect_own_lines(
      "conv2d", image,
      [](const Scope& s) { return conv2d(s, 4, 2, 3, {.convolution = {.stride = 2, .padding = 1}}); }, call);
  expect_own_lines(
      "conv_transpose2d", image,
      [](const Scope& s) { return conv_transpose2d(s, 4, 2, 3, {.convolution = {.stride = 2}}); }, call);
  expect_own_lines(
      "pooling", image,
      [](const Scope& s) {
        return Sequential(conv2d(s, 4, 4, 1), MaxPool{2}, AvgPool{2}, AdaptiveAvgPool{{1, 1}}, Flatten{});
      },
      call);
}

TEST(Locations, OfActivations) {
  expect_own_lines(
      "activations", {"n", 4},
      [](const Scope& s) {
        return Sequential(Linear(s, 4, 4), Relu{}, LeakyRelu{}, Elu{}, Selu{}, GeluLayer{},
                          GeluLayer{Gelu::tanh}, Silu{}, Sigmoid{}, LogSigmoid{}, Hardsigmoid{}, Hardswish{},
                          Softplus{}, Mish{}, Tanh{}, Softmax{}, LogSoftmax{});
      },
      call);
}

TEST(Locations, OfRecurrentLayers) {
  for (const auto cell : {Recurrent::Cell::rnn_tanh, Recurrent::Cell::gru, Recurrent::Cell::lstm})
    expect_own_lines(
        "Recurrent", {"n", 3, 4}, [&](const Scope& s) { return Recurrent(s, cell, 4, 2); }, call);
}

TEST(Locations, OfTransformers) {
  const Shape tokens{"n", 3, 4};
  expect_own_lines(
      "rotary attention", tokens,
      [](const Scope& s) {
        return MultiHeadAttention(s, 4, {.heads = 2, .kv_heads = 1, .causal = true, .rotary = Rotary{}});
      },
      call);
  expect_own_lines(
      "interleaved rotary and a mask", tokens,
      [](const Scope& s) {
        return MultiHeadAttention(s, 4, {.heads = 2, .rotary = Rotary{.interleaved = true}});
      },
      [](const MultiHeadAttention& attention, const Tensor& x) {
        Graph g = x.graph();
        return attention.forward(x, {.mask = g.tensor({3, 3}, DType::boolean)});
      });
  for (const DType mask : {DType::boolean, DType::f32})
    expect_own_lines(
        "cached attention", {2, 3, 4},
        [](const Scope& s) { return MultiHeadAttention(s, 4, {.heads = 2, .causal = true}); },
        [&](const MultiHeadAttention& attention, const Tensor& x) {
          Graph g = x.graph();
          const KvCache cache(g, 2, 2, 8, 2, 5);
          return attention.forward(x, {.mask = g.tensor({3, 8}, mask), .cache = &cache});
        });
  for (const bool first : {false, true})
    expect_own_lines(
        "encoder", tokens,
        [&](const Scope& s) {
          return EncoderLayer(s, 4, {.heads = 2, .norm_first = first, .gelu = first, .dropout = 0.1});
        },
        call);
  expect_own_lines(
      "decoder", tokens, [](const Scope& s) { return DecoderLayer(s, 4, {.heads = 2}); },
      [](const DecoderLayer& layer, const Tensor& x) { return layer.forward(x, x); });
  expect_own_lines("block", tokens, [](const Scope& s) { return LlamaBlock(s, 4, {.heads = 2}); }, call);
  for (const bool renormalise : {false, true})
    expect_own_lines(
        "experts", tokens,
        [&](const Scope& s) {
          return MixtureOfExperts(s, 4, 3, {.experts = 3, .active = 2, .renormalise = renormalise});
        },
        call);
}

TEST(Locations, OfLosses) {
  Graph g;
  const Shape shape{"n", 3};
  const Tensor x = g.tensor(shape);
  const Tensor t = g.tensor(shape);
  const Tensor labels = g.tensor({"n"}, DType::i32);
  const Tensor weight = g.tensor({3});
  const Tensor losses[] = {mse_loss(x, t),
                           rmse_loss(x, t),
                           mae_loss(x, t, Reduction::sum),
                           huber_loss(x, t),
                           smooth_l1_loss(x, t, 0.5),
                           cross_entropy(x, labels, {.weight = weight, .smoothing = 0.1}),
                           cross_entropy(x, t, {.weight = weight, .smoothing = 0.1}),
                           nll_loss(x, labels),
                           kl_div(x, t),
                           kl_div(x, t, true, true),
                           binary_cross_entropy(x, t, weight),
                           binary_cross_entropy_with_logits(x, t, weight, weight),
                           focal_loss(x, t),
                           cosine_loss(x, t, labels, 0.5)};
  for (const auto& loss : losses) gradients(loss, {x});
  expect_own_lines(g);
}

TEST(Locations, OfUpdates) {
  using namespace optim;
  Graph g;
  const State w = g.state("w", {3});
  const State half = g.state("half", {3}, DType::bf16);
  const LossScale scale(g);
  const Tensor loss = (w * half.cast(DType::f32)).sum();
  const auto unscaled = scale.unscale(gradients(scale.scaled(loss), {w, half}));
  const Accumulated sums = accumulate({w, half}, clip_by_value(clip_by_norm(unscaled.gradients, 1), 0.5), 4);
  const Step step{{w, half}, sums.gradients, g.tensor({})};
  Updates updates = sgd(step, {.momentum = 0.9, .dampening = 0.1, .weight_decay = 0.1, .nesterov = true});
  updates.add(adam(step, {.weight_decay = 0.1}));
  updates.add(adamw(step));
  updates.add(lamb(step));
  updates.add(rmsprop(step, {.weight_decay = 0.1, .momentum = 0.9, .centred = true}));
  updates.add(adagrad(step, {.rate_decay = 0.1, .weight_decay = 0.1}));
  updates.add(lion({{w, half}, sums.gradients, 0.1}, {.weight_decay = 0.1}));
  updates.add(moving_average({w}, {w.next()}, 0.9).updates);
  updates.add(sums.updates);
  updates.apply_if(unscaled.finite);
  unscaled.updates.apply();
  expect_own_lines(g);
}

}  // namespace
}  // namespace luminal::nn
