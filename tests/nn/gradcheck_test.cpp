// Every module, in f64, first and second order, by its parameters and its input.
#include "tests/autograd/gradcheck.h"

#include <gtest/gtest.h>

#include "luminal/luminal.h"

namespace luminal::nn {
namespace {

using test::uniform;

/// Differentiates a module by its input and its parameters, which take random values.
template <typename Make, typename Forward>
void check_module(const char* what, std::vector<std::int64_t> dims, const Make& make, const Forward& forward,
                  int order = 2) {
  SCOPED_TRACE(what);
  std::vector<Array> values{uniform(dims, -1, 1)};
  {
    Graph g;
    auto module = make(Scope(g, 0, DType::f64));
    std::uint64_t seed = 2;
    for (const auto& [path, state] : param_dict(module))
      values.push_back(uniform(*state.shape().constant_dims(), 0.2, 0.9, seed++));
  }
  const auto function = [&](const std::vector<Tensor>& in) {
    Graph g = in[0].graph();
    auto module = make(Scope(g, 0, DType::f64));
    const Tensor y = forward(module, in[0]);
    // Let the parameters read what the check moves.
    std::size_t next = 1;
    for (const auto& [path, state] : param_dict(module)) {
      const Tensor input = in[next++];
      g.apply({"use the input", [&](Dag& dag) { return dag.replace(state.node(), 0, input.value()); }});
    }
    return y;
  };
  test::Gradcheck(function, values).run(order);
}

const auto call = [](const auto& module, const Tensor& x) { return module(x); };

TEST(ModuleGradients, Layers) {
  check_module("Linear", {3, 2}, [](const Scope& s) { return Linear(s, 2, 3); }, call);
  check_module(
      "Conv", {1, 2, 5},
      [](const Scope& s) { return conv1d(s, 2, 2, 3, {.convolution = {.stride = 2, .padding = 1}}); }, call);
  check_module(
      "transposed Conv", {1, 2, 3},
      [](const Scope& s) { return conv_transpose1d(s, 2, 2, 3, {.convolution = {.stride = 2}}); }, call);
  check_module("LayerNorm", {2, 4}, [](const Scope& s) { return LayerNorm(s, 4); }, call);
  check_module("RmsNorm", {2, 4}, [](const Scope& s) { return RmsNorm(s, 4); }, call);
  check_module("GroupNorm", {2, 4, 2}, [](const Scope& s) { return GroupNorm(s, 2, 4); }, call);
  check_module("SwiGlu", {2, 3}, [](const Scope& s) { return SwiGlu(s, 3, 2); }, call);
}

TEST(ModuleGradients, MoreAxes) {
  check_module("conv2d", {1, 1, 3, 3}, [](const Scope& s) { return conv2d(s, 1, 2, 2); }, call);
  check_module("conv3d", {1, 1, 2, 3, 2}, [](const Scope& s) { return conv3d(s, 1, 1, 2); }, call);
  check_module(
      "Embedding", {2, 2}, [](const Scope& s) { return Embedding(s, 3, 2); },
      [](const Embedding& table, const Tensor& x) {
        Graph g = x.graph();
        return square(table(g.tensor({2}, DType::i64).set({2, 0}))) * x;
      });
  check_module(
      "DecoderLayer", {1, 2, 4},
      [](const Scope& s) { return DecoderLayer(s, 4, {.heads = 2, .hidden = 3, .gelu = true}); },
      [](const DecoderLayer& layer, const Tensor& x) { return layer.forward(x, x * 2); });
}

TEST(ModuleGradients, OtherForms) {
  check_module(
      "permuted Linear", {3, 2}, [](const Scope& s) { return Linear(s, 2, 3, {.permuted = true}); }, call);
  check_module(
      "permuted Embedding", {2, 2}, [](const Scope& s) { return Embedding(s, 3, 2, true); },
      [](const Embedding& table, const Tensor& x) {
        Graph g = x.graph();
        return square(table(g.tensor({2}, DType::i64).set({1, 1}))) * x;
      });
  check_module(
      "conv_transpose2d", {1, 2, 2, 2}, [](const Scope& s) { return conv_transpose2d(s, 2, 1, 2); }, call);
  check_module(
      "conv_transpose3d", {1, 1, 2, 2, 2}, [](const Scope& s) { return conv_transpose3d(s, 1, 1, 2); }, call);
  check_module(
      "pooling", {1, 1, 4, 4},
      [](const Scope& s) {
        return Sequential(conv2d(s, 1, 2, 1), MaxPool{2}, AvgPool{2, 2, {.stride = Spatial(1)}});
      },
      call);
}

TEST(ModuleGradients, BatchNormInTraining) {
  check_module("BatchNorm", {4, 2, 2}, [](const Scope& s) { return BatchNorm(s, 2); }, call);
}

TEST(ModuleGradients, Recurrent) {
  const auto run = [](const Recurrent& layer, const Tensor& x) { return layer(x); };
  check_module("rnn", {1, 3, 2}, [](const Scope& s) { return rnn(s, 2, 2); }, run);
  check_module("gru", {1, 2, 2}, [](const Scope& s) { return gru(s, 2, 2); }, run);
  check_module("lstm", {1, 2, 2}, [](const Scope& s) { return lstm(s, 2, 2); }, run);
}

TEST(ModuleGradients, Attention) {
  check_module(
      "attention", {1, 3, 4},
      [](const Scope& s) {
        return MultiHeadAttention(
            s, 4, {.heads = 2, .kv_heads = 1, .bias = false, .causal = true, .rotary = Rotary{}});
      },
      call);
  check_module(
      "block", {1, 2, 4}, [](const Scope& s) { return LlamaBlock(s, 4, {.heads = 2, .hidden = 3}); }, call);
  check_module(
      "encoder", {1, 2, 4},
      [](const Scope& s) { return EncoderLayer(s, 4, {.heads = 2, .hidden = 3, .gelu = true}); }, call);
  check_module(
      "experts", {2, 3},
      [](const Scope& s) { return MixtureOfExperts(s, 3, 2, {.experts = 3, .active = 2}); }, call);
}

}  // namespace
}  // namespace luminal::nn
