// Training with each loss, and under the loss scaler, takes PyTorch's way.
#include <gtest/gtest.h>

#include "luminal/luminal.h"
#include "trajectories.h"

namespace luminal::nn {
namespace {

using test::References;
using test::Trajectory;

/// The data that the losses of the references are taken of.
struct Data {
  explicit Data(Graph& graph) : g(graph) {}

  Tensor of(const char* key, const Shape& shape) {
    return g.tensor(shape).set(Array(References::get().rows.at(key)));
  }
  Tensor real() { return of("real", {6, 3}); }
  Tensor share() { return of("share", {6, 3}); }
  Tensor binary() { return of("binary", {6, 3}); }
  Tensor weight() { return of("weight", {3}); }
  Tensor labels() { return of("labels", {6}).cast(DType::i64); }

  Graph& g;
};

using Loss = std::function<Tensor(const Tensor& prediction, Data& data)>;

void follow(const std::string& name, const Loss& make) {
  SCOPED_TRACE(name);
  const Trajectory& expected = References::get().trajectory("loss_" + name);
  ASSERT_EQ(expected.values.size(), 50u);
  Graph g;
  Data data(g);
  const State w = g.state("w", {4, 3}, DType::f32);
  w.set(Array(expected.initial));
  const Tensor loss = make(data.of("x", {6, 4}).matmul(w), data).retrieve();
  optim::sgd({{w}, gradients(loss, {w}), 0.006}, {.momentum = 0.9}).apply();
  for (std::size_t step = 0; step < expected.values.size(); ++step) {
    g.execute();
    const std::string at = "step " + std::to_string(step);
    test::expect_relative(loss.data<float>(), expected.losses[step], "loss at " + at);
    test::expect_relative(w.data<float>(), expected.values[step], "parameter at " + at);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(LossTrajectories, Regression) {
  follow("mse", [](const Tensor& y, Data& d) { return mse_loss(y, d.real()); });
  follow("rmse", [](const Tensor& y, Data& d) { return rmse_loss(y, d.real()); });
  follow("mae", [](const Tensor& y, Data& d) { return mae_loss(y, d.real()); });
  follow("huber", [](const Tensor& y, Data& d) { return huber_loss(y, d.real(), 0.7); });
  follow("smooth_l1", [](const Tensor& y, Data& d) { return smooth_l1_loss(y, d.real(), 0.5); });
  follow("cosine",
         [](const Tensor& y, Data& d) { return cosine_loss(y, d.real(), d.of("pairs", {6}) * 2 - 1, 0.1); });
}

TEST(LossTrajectories, Classes) {
  follow("cross_entropy", [](const Tensor& y, Data& d) { return cross_entropy(y, d.labels()); });
  follow("cross_entropy_all", [](const Tensor& y, Data& d) {
    return cross_entropy(y, d.labels(), {.weight = d.weight(), .ignored = 1, .smoothing = 0.1});
  });
  follow("cross_entropy_soft", [](const Tensor& y, Data& d) {
    return cross_entropy(y, d.share(), {.weight = d.weight(), .smoothing = 0.2});
  });
  follow("nll", [](const Tensor& y, Data& d) {
    return nll_loss(y.log_softmax(1), d.labels(), {.weight = d.weight(), .ignored = 1});
  });
  follow("kl", [](const Tensor& y, Data& d) { return kl_div(y.log_softmax(1), d.share(), false, true); });
  follow("kl_log", [](const Tensor& y, Data& d) {
    return kl_div(y.log_softmax(1), d.share().log(), true, false, Reduction::sum);
  });
}

TEST(LossTrajectories, Binary) {
  follow("bce",
         [](const Tensor& y, Data& d) { return binary_cross_entropy(y.sigmoid(), d.binary(), d.weight()); });
  follow("bce_logits", [](const Tensor& y, Data& d) {
    return binary_cross_entropy_with_logits(y, d.binary(), d.weight(), d.of("positive", {3}));
  });
  follow("focal", [](const Tensor& y, Data& d) { return focal_loss(y, d.binary()); });
}

/// Gradients in f16 overflow whenever the scale has grown too far: those steps change nothing but the scale.
TEST(LossTrajectories, LossScale) {
  const Trajectory& expected = References::get().trajectory("scaler");
  ASSERT_EQ(expected.values.size(), 50u);
  Graph g;
  const State w = g.state("w", {5}, DType::f32);
  w.set(Array(expected.initial));
  const Tensor x = g.tensor({5}, DType::f16);
  const optim::LossScale scale(g, {.initial = 8192, .interval = 4});
  const Tensor loss = (w.cast(DType::f16) * x).cast(DType::f32).sum();
  const auto unscaled = scale.unscale(gradients(scale.scaled(loss), {w}));
  optim::sgd({{w}, unscaled.gradients, 0.01}, {.momentum = 0.5}).apply_if(unscaled.finite);
  unscaled.updates.apply();
  unscaled.finite.retrieve();
  std::size_t skipped = 0;
  for (std::size_t step = 0; step < expected.values.size(); ++step) {
    x.set(Array(expected.gradients[step]).converted_for(DType::f16));
    g.execute();
    skipped += unscaled.finite.data<bool>()[0] ? 0 : 1;
    EXPECT_EQ(scale.scale().data<float>()[0], static_cast<float>(expected.scales[step][0]))
        << "step " << step;
    test::expect_relative(w.data<float>(), expected.values[step], "step " + std::to_string(step));
  }
  EXPECT_GE(skipped, 5u);
}

}  // namespace
}  // namespace luminal::nn
