#include <gtest/gtest.h>

#include <functional>

#include "luminal/autograd/gradients.h"
#include "references.h"

namespace luminal {
namespace {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

/// The gradient of the sum of a function, against PyTorch's.
void expect_gradient(const std::string& name, const Function& function) {
  SCOPED_TRACE(name);
  const test::Case reference("gradient_" + name);
  Graph g;
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; reference.has("x" + std::to_string(i)); ++i)
    inputs.push_back(reference.input(g, "x" + std::to_string(i)));
  const auto found = gradients(function(inputs).sum(), inputs);
  retrieve(found);
  g.execute();
  for (std::size_t i = 0; i < found.size(); ++i) reference.expect(found[i], "g" + std::to_string(i), 1e-4);
}

using In = const std::vector<Tensor>&;

TEST(PyTorchGradients, AtTiesAndEdges) {
  expect_gradient("amax", [](In x) {
    Graph g = x[0].graph();
    return x[0].max(1) * (g.iota({3}, 0) + 1);
  });
  expect_gradient("amin", [](In x) { return x[0].min(1); });
  expect_gradient("maximum", [](In x) { return x[0].maximum(x[1]); });
  expect_gradient("minimum", [](In x) { return x[0].minimum(x[1]); });
  expect_gradient("relu", [](In x) { return x[0].relu(); });
  expect_gradient("abs", [](In x) { return x[0].abs(); });
  expect_gradient("clamp", [](In x) { return x[0].clip(-1, 1); });
  expect_gradient("norm_zero", [](In x) { return x[0].norm(2, 1); });
  expect_gradient("prod_zeros", [](In x) { return x[0].prod(1); });
  expect_gradient("cumprod_zeros", [](In x) { return x[0].cumprod(1); });
  expect_gradient("pow", [](In x) { return x[0].pow(x[1]); });
  expect_gradient("sigmoid_extremes", [](In x) { return x[0].sigmoid(); });
  expect_gradient("tanh_extremes", [](In x) { return x[0].tanh(); });
  expect_gradient("softplus_extremes", [](In x) { return x[0].softplus(); });
}

TEST(PyTorchGradients, OfWindows) {
  expect_gradient("max_pool_ties", [](In x) { return max_pool(x[0], 2, 2, {.stride = Spatial(1)}); });
  expect_gradient("avg_pool_padding",
                  [](In x) { return square(avg_pool(x[0], 3, 2, {.stride = Spatial(2), .padding = 1})); });
  expect_gradient("conv_padding", [](In x) {
    return square(conv2d(x[0], x[1], std::nullopt, {.stride = 2, .padding = 1, .dilation = 2}));
  });
  expect_gradient("conv_transpose", [](In x) {
    return square(
        conv_transpose2d(x[0], x[1], std::nullopt, {.stride = 2, .padding = 1, .output_padding = 1}));
  });
}

TEST(PyTorchGradients, OfComposites) {
  expect_gradient("embedding", [](In x) {
    Graph g = x[0].graph();
    return square(embedding(g.tensor({2, 2}, DType::i64).set({{0, 2}, {2, 2}}), x[0]));
  });
  expect_gradient("softmax", [](In x) { return x[0].softmax(-1).square(); });
  expect_gradient("log_softmax", [](In x) { return x[0].log_softmax(-1).square(); });
  expect_gradient("layer_norm", [](In x) { return x[0].layer_norm(-1).square(); });
  expect_gradient("attention", [](In x) {
    return scaled_dot_product_attention(x[0], x[1], x[2], {.causal = true}).square();
  });
  expect_gradient("logsumexp", [](In x) { return x[0].logsumexp(1).square(); });
  expect_gradient("std", [](In x) { return x[0].std(1).square(); });
  expect_gradient("gelu", [](In x) { return x[0].gelu(); });
}

}  // namespace
}  // namespace luminal
