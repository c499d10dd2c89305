#include "luminal/nn/loss.h"

#include <gtest/gtest.h>

#include "luminal/optim/loss_scale.h"
#include "references.h"

namespace luminal::nn {
namespace {

using test::Case;

/// Runs the graph and compares each tensor with the reference of its name.
void expect_all(Graph& g, const Case& reference, const std::map<std::string, Tensor>& results) {
  for (const auto& [key, tensor] : results) tensor.retrieve();
  g.execute();
  for (const auto& [key, tensor] : results) reference.expect(tensor, key);
}

TEST(Losses, Regression) {
  const Case reference("regression");
  Graph g;
  const Tensor a = reference.input(g, "a");
  const Tensor b = reference.input(g, "b");
  expect_all(g, reference,
             {{"mse", mse_loss(a, b)},
              {"rmse", rmse_loss(a, b)},
              {"mae", mae_loss(a, b, Reduction::sum)},
              {"huber", huber_loss(a, b, 0.7)},
              {"smooth_l1", smooth_l1_loss(a, b, 0.5)},
              {"mse_none", mse_loss(a, b, Reduction::none)}});
}

TEST(Losses, Classes) {
  const Case reference("classes");
  Graph g;
  const Tensor scores = reference.input(g, "scores");
  const Tensor labels = reference.input(g, "labels");
  const Tensor weight = reference.input(g, "weight");
  const Tensor soft = reference.input(g, "soft_target");
  expect_all(g, reference,
             {{"plain", cross_entropy(scores, labels)},
              {"weighted", cross_entropy(scores, labels, {.weight = weight})},
              {"smooth", cross_entropy(scores, labels, {.smoothing = 0.1})},
              {"all", cross_entropy(scores, labels, {.weight = weight, .smoothing = 0.2})},
              {"total", cross_entropy(scores, labels, {.reduction = Reduction::sum})},
              {"none", cross_entropy(scores, labels, {.reduction = Reduction::none})},
              {"soft", cross_entropy(scores, soft)},
              {"soft_all", cross_entropy(scores, soft, {.weight = weight, .smoothing = 0.1})},
              {"nll", nll_loss(scores.log_softmax(1), labels, {.weight = weight})}});
}

TEST(Losses, Divergence) {
  const Case reference("kl");
  Graph g;
  const Tensor logs = reference.input(g, "logs");
  const Tensor target = reference.input(g, "target");
  expect_all(g, reference,
             {{"mean", kl_div(logs, target)},
              {"batch", kl_div(logs, target, false, true)},
              {"log", kl_div(logs, reference.input(g, "log_target"), true, false, Reduction::sum)}});
}

TEST(Losses, Binary) {
  const Case reference("binary");
  Graph g;
  const Tensor p = reference.input(g, "p");
  const Tensor t = reference.input(g, "t");
  const Tensor x = reference.input(g, "x");
  expect_all(
      g, reference,
      {{"bce", binary_cross_entropy(p, t, reference.input(g, "w"))},
       {"logits", binary_cross_entropy_with_logits(x, t, std::nullopt, reference.input(g, "positive"))},
       {"focal", focal_loss(x, t)}});
}

TEST(Losses, Cosine) {
  const Case reference("cosine");
  Graph g;
  expect_all(
      g, reference,
      {{"out", cosine_loss(reference.input(g, "a"), reference.input(g, "b"), reference.input(g, "y"), 0.1)}});
}

TEST(LossScale, FollowsPyTorch) {
  const Case reference("scaler");
  Graph g;
  const optim::LossScale scale(g, {.initial = 8, .interval = 3});
  const State w = g.state("w", {1}, DType::f32, Array{1.0});
  const Tensor gradient = g.tensor({1}, DType::f16);
  const auto unscaled = scale.unscale({gradient});
  unscaled.updates.apply();
  optim::sgd({{w}, unscaled.gradients, 0.0}).apply_if(unscaled.finite);
  unscaled.finite.retrieve();
  const auto finite = reference["finite"].values<std::int64_t>();
  const auto scales = reference["scales"].values<float>();
  for (std::size_t i = 0; i < finite.size(); ++i) {
    gradient.set(Array{finite[i] != 0 ? 1.0 : std::numeric_limits<double>::infinity()});
    g.execute();
    EXPECT_EQ(unscaled.finite.data<bool>()[0], finite[i] != 0);
    EXPECT_EQ(scale.scale().data<float>()[0], scales[i]) << i;
    EXPECT_EQ(w.data<float>()[0], 1.0f) << "a skipped step changes nothing";
  }
}

}  // namespace
}  // namespace luminal::nn
