#include "luminal/cli/models.h"

#include <cmath>

#include "luminal/cli/adder.h"
#include "luminal/luminal.h"
#include "luminal/models/resnet.h"
#include "luminal/support/hash.h"

namespace luminal::cli {
namespace {

void train(Graph& g, const Tensor& loss, const std::vector<State>& weights) {
  const Tensor rate = g.named_tensor("rate", {});
  optim::adamw({weights, gradients(loss, {weights.begin(), weights.end()}), rate}).apply();
  rate.set(0.001F);
  // Moments start at zero: random squares would have no roots.
  for (const auto& [state, value] : g.dag().assignments())
    if (const auto& type = g.dag().type(state); !g.at(state).has_data())
      g.at(state).set(Array(type.dtype, type.shape.eval({})));
}

/// Random places on an axis of this length: `fill` cannot know how long it is.
void set_places(const Tensor& tensor, std::int64_t length) {
  const auto& type = tensor.graph().dag().type(tensor.node(), 0);
  Array array(type.dtype, type.shape.eval({}));
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.set(i, make_scalar(type.dtype, Number(static_cast<std::int64_t>(
                                             Hash(3).add(i).value() % static_cast<std::uint64_t>(length)))));
  tensor.set(array);
}

Graph mnist(bool small, bool trains) {
  Graph g;
  const std::int64_t batch = small ? 2 : 32;
  const nn::Scope scope(g);
  const auto c1 = nn::conv2d(scope / "c1", 1, 8, 3);
  const auto c2 = nn::conv2d(scope / "c2", 8, 16, 3);
  const nn::Linear fc(scope / "fc", 400, 10);
  const Tensor x = g.named_tensor("images", {batch, 1, 28, 28});
  Tensor h = max_pool(c1(x).relu(), {2, 2}, 2);
  h = max_pool(c2(h).relu(), {2, 2}, 2);
  const Tensor scores = fc(h.reshape({batch, 400})).retrieve();
  if (trains) {
    const Tensor labels = g.named_tensor("labels", {batch}, DType::i64);
    set_places(labels, 10);
    const Tensor loss = nn::cross_entropy(scores, labels).retrieve();
    train(g, loss, {c1.weight, *c1.bias, c2.weight, *c2.bias, fc.weight, *fc.bias});
  }
  return g;
}

Graph resnet(bool small) {
  Graph g;
  models::ResNet::Options options;
  if (small) options = {.blocks = {1, 1, 1, 1}, .width = 2, .classes = 5};
  models::ResNet net(nn::Scope(g).without_values(), options);
  nn::set_mode(net, nn::Mode::eval);
  const std::int64_t size = small ? 32 : 224;
  net(g.named_tensor("images", {1, 3, size, size})).retrieve();
  return g;
}

Graph bert(bool small, bool trains) {
  Graph g;
  const std::int64_t size = small ? 16 : 768;
  nn::EncoderLayer layer(nn::Scope(g) / "layer", size,
                         {.heads = small ? 4 : 12, .hidden = size * 4, .gelu = true});
  const Tensor y = layer(g.named_tensor("x", {1, small ? 5 : 128, size})).retrieve();
  if (trains) {
    // Not the size of y: the last layer norm fixes that, and gradients would be nothing but rounding.
    const Tensor apart = y - g.named_tensor("target", y.shape());
    train(g, (apart * apart).mean().retrieve(), nn::params(layer));
  }
  return g;
}

Graph llama(bool small, bool decodes) {
  Graph g;
  const nn::Scope scope = nn::Scope(g).without_values();
  const std::int64_t size = small ? 16 : 2048;
  const nn::LlamaBlock block(scope, size,
                             {.heads = small ? 4 : 32,
                              .kv_heads = small ? 2 : 8,
                              .head_size = small ? 4 : 64,
                              .hidden = small ? 24 : 8192});
  if (!decodes) {
    block(g.named_tensor("x", {1, small ? 5 : 128, size})).retrieve();
    return g;
  }
  const nn::KvCache cache(scope, 1, small ? 2 : 8, small ? 8 : 2048, small ? 4 : 64, Expr("past"));
  block.forward(g.named_tensor("x", {1, 1, size}), &cache).retrieve();
  g.set_dim("past", small ? 4 : 1000);
  return g;
}

Graph mlp_training(bool small) {
  Graph g;
  const std::int64_t size = small ? 8 : 512;
  const nn::Scope scope(g);
  const nn::Linear first(scope / "first", size, size * 2);
  const nn::Linear second(scope / "second", size * 2, size * 2);
  const nn::Linear third(scope / "third", size * 2, 10);
  const Tensor x = g.named_tensor("x", {small ? 4 : 64, size});
  const Tensor y = third(second(first(x).relu()).relu());
  const Tensor labels = g.named_tensor("labels", {small ? 4 : 64}, DType::i64);
  set_places(labels, 10);
  const Tensor loss = nn::cross_entropy(y, labels).retrieve();
  train(g, loss, {first.weight, *first.bias, second.weight, *second.bias, third.weight, *third.bias});
  return g;
}

/// What the demo trains: a whole Llama, small.
Graph adder_training(bool small) {
  Graph g;
  models::LlamaConfig config = adder_config();
  if (small) config.layers = 1;
  const train::Model model = adder_build(config)({.scope = nn::Scope(g), .batch = small ? 2 : 256});
  for (const auto& input : model.inputs) set_places(input, config.vocabulary);
  train(g, model.loss.retrieve(), model.parameters);
  return g;
}

}  // namespace

const std::vector<Model>& model_suite() {
  static const std::vector<Model> suite = {
      {"mnist", [](bool small) { return mnist(small, false); }},
      {"resnet50", [](bool small) { return resnet(small); }},
      {"bert", [](bool small) { return bert(small, false); }},
      {"llama-prefill", [](bool small) { return llama(small, false); }},
      {"llama-decode", [](bool small) { return llama(small, true); }},
      {"mnist-training", [](bool small) { return mnist(small, true); }, true},
      {"mlp-training", [](bool small) { return mlp_training(small); }, true},
      {"bert-training", [](bool small) { return bert(small, true); }, true},
      {"adder-training", [](bool small) { return adder_training(small); }, true},
  };
  return suite;
}

Graph llama_decode(int layers) {
  Graph g;
  const nn::Scope scope = nn::Scope(g).without_values();
  const std::int64_t size = 2048;
  const nn::Embedding embedding(scope / "embedding", 128256, size);
  Tensor x = embedding(g.named_tensor("token", {1, 1}, DType::i64));
  for (int k = 0; k < layers; ++k) {
    const nn::Scope layer = scope / ("layer" + std::to_string(k));
    const nn::LlamaBlock block(layer, size, {.heads = 32, .kv_heads = 8, .head_size = 64, .hidden = 8192});
    const nn::KvCache cache(layer, 1, 8, 2048, 64, Expr("past"));
    x = block.forward(x, &cache);
  }
  const nn::RmsNorm norm(scope / "norm", size);
  const nn::Linear head(scope / "head", size, 128256, {.bias = false});
  head(norm(x)).retrieve();
  return g;
}

void fill(Graph& graph, std::uint64_t seed) {
  for (const auto id : graph.dag().nodes()) {
    const Node& node = graph.dag().node(id);
    const bool source = node.op == Op::input || node.op == Op::state;
    if (!source || graph.at(id).has_data()) continue;
    const DType dtype = node.outputs[0].dtype;
    Array array(dtype, node.outputs[0].shape.eval(graph.dims()));
    // A variance must be positive; the rest may have either sign.
    const bool positive = node.name.find("var") != std::string::npos;
    const double scale = 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(
                                   1, array.dims().empty() ? 1 : array.dims().back())));
    std::uint64_t state = Hash(seed).add(node.name).value();
    for (std::int64_t i = 0; i < array.size() && is_floating(dtype); ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const double unit = static_cast<double>(state >> 33) * 0x1p-31;
      array.set(i, make_scalar(dtype, Number(positive ? 0.5 + unit : (unit * 2 - 1) * 1.7 * scale)));
    }
    graph.at(id).set(array);
  }
}

}  // namespace luminal::cli
