#include <gtest/gtest.h>

#include "luminal/autograd/gradients.h"
#include "luminal/nn/attention.h"
#include "luminal/nn/convolution.h"
#include "luminal/nn/layers.h"
#include "luminal/nn/recurrent.h"
#include "luminal/nn/transformer.h"
#include "references.h"

namespace luminal::nn {
namespace {

using test::Case;

TEST(Modules, PathsAndParameters) {
  Graph g;
  struct Net {
    Sequential<Conv, Relu, std::monostate> layer1;
    std::vector<Linear> layers;
    BatchNorm norm;
    void visit(Visitor& v) {
      v.module("layer1", layer1);
      v.module("layers", layers);
      v.module("norm", norm);
    }
  };
  Net net{Sequential(conv2d(g, 1, 2, 3), Relu{}, std::monostate{}), {}, BatchNorm(g, 2)};
  net.layers.emplace_back(g, 4, 4);
  net.layers.emplace_back(g, 4, 4, LinearOptions{.bias = false});
  std::vector<std::string> paths;
  for (const auto& [path, state] : param_dict(net)) paths.push_back(path);
  EXPECT_EQ(paths,
            (std::vector<std::string>{"layer1/0/bias", "layer1/0/weight", "layers/0/bias", "layers/0/weight",
                                      "layers/1/weight", "norm/bias", "norm/weight"}));
  EXPECT_EQ(params(net).size(), 7u);
  EXPECT_EQ(state_dict(net).size(), 9u);
  EXPECT_EQ(net.layers[1].weight.name(), "linear.2/weight");
  set_mode(net, Mode::eval);
  EXPECT_EQ(net.norm.mode, Mode::eval);
}

TEST(Modules, ContainersApplyInOrder) {
  Graph g;
  const Tensor x = g.tensor({2}).set({-1, 3});
  const std::tuple<Relu, std::monostate, Tanh> net;
  const Tensor y = nn::apply(net, x).retrieve();
  const Tensor same = nn::apply(std::monostate{}, x);
  const std::array<Relu, 2> twice;
  const Tensor z = nn::apply(twice, x).retrieve();
  g.execute();
  EXPECT_EQ(same.node(), x.node());
  EXPECT_EQ(z.data<float>(), (std::vector<float>{0, 3}));
  EXPECT_NEAR(y.data<float>()[1], std::tanh(3.0), 1e-6);
}

TEST(Modules, FirstValuesFollowTheSeed) {
  const auto weights = [](std::uint64_t seed) {
    Graph g;
    return Linear(Scope(g, seed), 8, 3).weight.data<float>();
  };
  EXPECT_EQ(weights(1), weights(1));
  EXPECT_NE(weights(1), weights(2));
  for (const float w : weights(1)) EXPECT_LE(std::abs(w), 1 / std::sqrt(8.0f));
}

TEST(Modules, OrthogonalIsOrthonormal) {
  const Array a = init::orthogonal(2)({5, 3}, DType::f64, 7);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      double product = 0;
      for (std::int64_t k = 0; k < 5; ++k) product += to_double(a.at(k * 3 + i)) * to_double(a.at(k * 3 + j));
      EXPECT_NEAR(product, i == j ? 4 : 0, 1e-12);
    }
}

TEST(Modules, LinearAndEmbeddingAlsoPermuted) {
  Graph g;
  const Linear plain(g, 3, 2);
  const Linear permuted(g, 3, 2, {.permuted = true});
  permuted.weight.set(materialise(plain.weight.array(), plain.weight.transpose(0, 1).value().view, {}));
  permuted.bias->set(plain.bias->array());
  const Tensor x = g.tensor({"n", 3}).set({{1, 2, 3}, {4, 5, 6}});
  const Tensor a = plain(x).retrieve();
  const Tensor b = permuted(x).retrieve();
  const Embedding table(g, 4, 2, true);
  const Tensor rows = table(g.tensor({3}, DType::i64).set({0, 3, 3})).retrieve();
  g.execute();
  EXPECT_EQ(a.data<float>(), b.data<float>());
  EXPECT_EQ(rows.array().dims(), (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(rows.data<float>()[3], table.weight.data<float>()[7]);
}

TEST(Modules, RecurrentFollowsPyTorch) {
  const std::map<std::string, Recurrent::Cell> cells = {
      {"rnn", Recurrent::Cell::rnn_tanh}, {"gru", Recurrent::Cell::gru}, {"lstm", Recurrent::Cell::lstm}};
  for (const auto& [name, cell] : cells) {
    SCOPED_TRACE(name);
    const Case reference(name);
    Graph g;
    Recurrent layer(g, cell, 3, 4);
    for (auto& [path, state] : param_dict(layer)) state.set(reference[path]);
    const auto result = layer.run(reference.input(g, "x"));
    retrieve({result.outputs, result.last_hidden, result.last_cell});
    g.execute();
    reference.expect(result.outputs, "out");
    reference.expect(result.last_hidden, "hidden");
    if (name == "lstm") reference.expect(result.last_cell, "cell");
    const Case continued(name + "_continued");
    const auto later = layer.run(reference.input(g, "x"), continued.input(g, "hidden"),
                                 name == "lstm" ? std::optional(continued.input(g, "cell")) : std::nullopt);
    later.outputs.retrieve();
    g.execute();
    continued.expect(later.outputs, "out");
  }
}

TEST(Modules, BatchNormFollowsPyTorch) {
  const Case reference("batch_norm");
  Graph g;
  BatchNorm norm(g, 3);
  norm.weight.set(reference["weight"]);
  norm.bias.set(reference["bias"]);
  const Tensor x = reference.input(g, "x0");
  const Tensor y = norm(x).retrieve();
  for (const char* step : {"0", "1", "2"}) {
    x.set(reference[std::string("x") + step]);
    g.execute();
    reference.expect(y, std::string("out") + step);
  }
  reference.expect(norm.running_mean, "mean");
  reference.expect(norm.running_var, "var");
  Graph h;
  BatchNorm frozen(h, 3);
  set_mode(frozen, Mode::eval);
  transfer_data({norm.weight, norm.bias, norm.running_mean, norm.running_var},
                {frozen.weight, frozen.bias, frozen.running_mean, frozen.running_var});
  const Tensor z = frozen(reference.input(h, "x0")).retrieve();
  h.execute();
  reference.expect(z, "eval");
}

TEST(Modules, GroupNormFollowsPyTorch) {
  const Case reference("group_norm");
  Graph g;
  GroupNorm norm(g, 2, 4);
  for (auto& [path, state] : param_dict(norm)) state.set(reference[path]);
  const Tensor y = norm(reference.input(g, "x")).retrieve();
  g.execute();
  reference.expect(y, "out");
}

TEST(Modules, RotaryFollowsTransformers) {
  const Case reference("rotary");
  Graph g;
  const Tensor x = reference.input(g, "x");
  const Tensor halves = Rotary{}(x, 4).retrieve();
  const Tensor pairs = Rotary{.base = 500000, .interleaved = true}(x).retrieve();
  const Tensor later = Rotary{.interleaved = true}(x, 7).retrieve();
  g.execute();
  reference.expect(halves, "halves");
  reference.expect(pairs, "pairs");
  reference.expect(later, "pairs_later");
}

/// The attention of the reference case.
MultiHeadAttention attention_of(Graph& g, const Case& reference, bool causal) {
  MultiHeadAttention attention(
      g, 12, {.heads = 6, .kv_heads = 2, .bias = false, .causal = causal, .rotary = Rotary{}});
  attention.query.weight.set(reference["query"]);
  attention.key.weight.set(reference["key"]);
  attention.value.weight.set(reference["value"]);
  attention.output.weight.set(reference["output"]);
  return attention;
}

TEST(Modules, AttentionFollowsPyTorch) {
  const Case reference("attention");
  Graph g;
  const Tensor x = reference.input(g, "x");
  const Tensor causal = attention_of(g, reference, true)(x).retrieve();
  const auto open = attention_of(g, reference, false);
  const Tensor masked = open.forward(x, {.mask = reference.input(g, "mask")}).retrieve();
  const Tensor added = open.forward(x, {.mask = reference.input(g, "add")}).retrieve();
  g.execute();
  reference.expect(causal, "causal", 1e-4);
  reference.expect(masked, "masked", 1e-4);
  reference.expect(added, "added", 1e-4);
}

/// Positions first, first + 1 … of [batch, positions, size].
Array positions(const Array& array, std::int64_t first, std::int64_t count) {
  Graph g;
  return g.tensor(Shape{array.dims()[0], array.dims()[1], array.dims()[2]})
      .set(array)
      .slice(1, first, first + count)
      .array();
}

void expect_near(const Array& ours, const Array& theirs) {
  ASSERT_EQ(ours.dims(), theirs.dims());
  for (std::int64_t i = 0; i < ours.size(); ++i) {
    const double wanted = to_double(theirs.at(i));
    ASSERT_NEAR(to_double(ours.at(i)), wanted, 1e-4 * std::max(1.0, std::abs(wanted))) << "element " << i;
  }
}

TEST(Modules, CachedAttentionEqualsFull) {
  const Case reference("attention");
  Graph g;
  const auto attention = attention_of(g, reference, true);
  const KvCache cache(g, 2, 2, 8, 2, Expr("past"));
  const Tensor x = g.tensor({2, "new", 12});
  const Tensor y = attention.forward(x, {.cache = &cache}).retrieve();
  std::int64_t past = 0;
  for (const std::int64_t count : {2, 1, 2}) {
    x.set(positions(reference["x"], past, count));
    g.set_dim("past", past);
    g.execute();
    expect_near(y.array(), positions(reference["causal"], past, count));
    past += count;
  }
}

/// The names that transformers' Llama gives to the parameters of a block.
void set_block(LlamaBlock& block, const Case& reference) {
  const std::map<std::string, std::string> names = {{"attention_norm/weight", "input_layernorm/weight"},
                                                    {"attention/query/weight", "self_attn/q_proj/weight"},
                                                    {"attention/key/weight", "self_attn/k_proj/weight"},
                                                    {"attention/value/weight", "self_attn/v_proj/weight"},
                                                    {"attention/output/weight", "self_attn/o_proj/weight"},
                                                    {"mlp_norm/weight", "post_attention_layernorm/weight"},
                                                    {"mlp/gate/weight", "mlp/gate_proj/weight"},
                                                    {"mlp/up/weight", "mlp/up_proj/weight"},
                                                    {"mlp/down/weight", "mlp/down_proj/weight"}};
  for (auto& [path, state] : param_dict(block)) state.set(reference[names.at(path)]);
}

TEST(Modules, LlamaBlockFollowsTransformersWholeAndCached) {
  const Case reference("llama_block");
  const LlamaOptions options = {
      .heads = 4, .kv_heads = 2, .head_size = 4, .hidden = 20, .rotary = {.base = 500000}};
  Graph whole;
  LlamaBlock block(whole, 16, options);
  set_block(block, reference);
  const Tensor all = block(reference.input(whole, "x")).retrieve();
  whole.execute();
  reference.expect(all, "whole", 1e-4);

  Graph g;
  LlamaBlock stepped(g, 16, options);
  set_block(stepped, reference);
  const KvCache cache(g, 2, 2, 8, 4, Expr("past"));
  const Tensor x = g.tensor({2, "new", 16});
  const Tensor y = stepped.forward(x, &cache).retrieve();
  std::int64_t past = 0;
  for (const std::int64_t count : {3, 1, 1, 1}) {
    x.set(positions(reference["x"], past, count));
    g.set_dim("past", past);
    g.execute();
    expect_near(y.array(), positions(reference["cached"], past, count));
    past += count;
  }
}

/// PyTorch keeps query, key and value in one matrix.
void set_attention(MultiHeadAttention& attention, const Case& reference, const std::string& prefix) {
  const Array& weight = reference[prefix + "/in_proj_weight"];
  const Array& bias = reference[prefix + "/in_proj_bias"];
  Linear* parts[] = {&attention.query, &attention.key, &attention.value};
  for (int k = 0; k < 3; ++k) {
    Graph g;
    parts[k]->weight.set(g.tensor({24, 8}).set(weight).slice(0, 8 * k, 8 * k + 8).array());
    parts[k]->bias->set(g.tensor({24}).set(bias).slice(0, 8 * k, 8 * k + 8).array());
  }
  attention.output.weight.set(reference[prefix + "/out_proj/weight"]);
  attention.output.bias->set(reference[prefix + "/out_proj/bias"]);
}

template <typename Layer>
void set_rest(Layer& layer, const Case& reference) {
  layer.widen.weight.set(reference["linear1/weight"]);
  layer.widen.bias->set(reference["linear1/bias"]);
  layer.narrow.weight.set(reference["linear2/weight"]);
  layer.narrow.bias->set(reference["linear2/bias"]);
  layer.norm1.weight.set(reference["norm1/weight"]);
  layer.norm1.bias->set(reference["norm1/bias"]);
  layer.norm2.weight.set(reference["norm2/weight"]);
  layer.norm2.bias->set(reference["norm2/bias"]);
}

TEST(Modules, TransformerLayersFollowPyTorch) {
  for (const bool first : {false, true}) {
    const Case reference(first ? "encoder_first" : "encoder");
    Graph g;
    EncoderLayer layer(g, 8, {.heads = 2, .hidden = 16, .norm_first = first, .gelu = true});
    set_attention(layer.attention, reference, "self_attn");
    set_rest(layer, reference);
    const Tensor y = layer(reference.input(g, "x")).retrieve();
    g.execute();
    reference.expect(y, "out");
  }
  const Case reference("decoder");
  Graph g;
  DecoderLayer layer(g, 8, {.heads = 2, .hidden = 16});
  set_attention(layer.self_attention, reference, "self_attn");
  set_attention(layer.cross_attention, reference, "multihead_attn");
  set_rest(layer, reference);
  layer.norm3.weight.set(reference["norm3/weight"]);
  layer.norm3.bias->set(reference["norm3/bias"]);
  const Tensor y = layer.forward(reference.input(g, "x"), reference.input(g, "memory")).retrieve();
  g.execute();
  reference.expect(y, "out");
}

TEST(Modules, MixtureOfExpertsFollowsTransformers) {
  const std::map<std::string, MixtureOfExperts::Options> blocks = {
      {"mixtral", {.experts = 4, .active = 2}},
      {"qwen_experts", {.experts = 5, .active = 3, .renormalise = false}}};
  for (const auto& [name, options] : blocks) {
    SCOPED_TRACE(name);
    const Case reference(name);
    Graph g;
    MixtureOfExperts experts(g, 6, 5, options);
    experts.router.weight.set(reference["router"]);
    experts.gate.set(reference["gate"]);
    experts.up.set(reference["up"]);
    experts.down.set(reference["down"]);
    const Tensor y = experts(reference.input(g, "x")).retrieve();
    g.execute();
    reference.expect(y, "out", 1e-4);
  }
}

TEST(Modules, DropoutDrawsAnewInEveryRun) {
  Graph g;
  Dropout drop(g, 0.5);
  const Tensor x = g.tensor({1000}).set(std::vector<float>(1000, 1));
  const Tensor y = drop(x).retrieve();
  g.execute();
  const auto first = y.data<float>();
  g.execute();
  EXPECT_NE(first, y.data<float>());
  const auto kept = std::count(first.begin(), first.end(), 2.0f);
  EXPECT_GT(kept, 430);
  EXPECT_LT(kept, 570);
  set_mode(drop, Mode::eval);
  EXPECT_EQ(drop(x).node(), x.node());
}

TEST(Modules, CanBeCalledTwice) {
  Graph g;
  const Dropout drop(g, 0.5);
  const Tensor x = g.tensor({200}).set(std::vector<float>(200, 1));
  const Tensor a = drop(x).retrieve();
  const Tensor b = drop(x).retrieve();
  const BatchNorm norm(g, 1);
  const Tensor y = g.tensor({4, 1}).set({{1}, {2}, {3}, {4}});
  norm(y);
  norm(y);
  g.execute();
  EXPECT_NE(a.data<float>(), b.data<float>());
  EXPECT_NEAR(norm.running_mean.data<float>()[0], 2.5 * 0.1 * 0.9 + 2.5 * 0.1, 1e-6);
}

TEST(Modules, SharedParametersCountOnce) {
  Graph g;
  const Linear shared(g, 2, 2);
  std::vector<Linear> both{shared, shared};
  EXPECT_EQ(param_dict(both).size(), 4u);
  EXPECT_EQ(params(both).size(), 2u);
}

TEST(Modules, ALlamaBlockTrains) {
  Graph g;
  LlamaBlock block(g, 8, {.heads = 4, .kv_heads = 2, .hidden = 16});
  const Tensor x = g.tensor({"batch", "time", 8});
  const Tensor y = block(x);
  std::vector<Tensor> weights;
  for (const auto& [path, state] : param_dict(block)) weights.push_back(state);
  EXPECT_EQ(weights.size(), 9u);
  const auto found = gradients((y * y).sum(), weights);
  retrieve(found);
  x.set_dyn(std::vector<float>(2 * 3 * 8, 0.5f), {2, 3, 8});
  g.execute();
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].shape(), weights[i].shape());
    for (const float value : found[i].data<float>()) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(Modules, ComputeInTheirInputsDtype) {
  Graph g;
  Sequential net(Linear(g, 4, 4), Silu{}, RmsNorm(g, 4));
  const Tensor x = g.tensor({2, 4});
  EXPECT_EQ(net(x).dtype(), DType::f32);
  EXPECT_EQ(net(x.cast(DType::bf16)).dtype(), DType::bf16);
}

}  // namespace
}  // namespace luminal::nn
