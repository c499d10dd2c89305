#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "luminal/autograd/gradients.h"
#include "luminal/luminal.h"
#include "tests/random.h"

namespace luminal::test {

/// Compares gradients with central differences in f64, for a function of f64 tensors to a tensor; `order` 2
/// does the same for the gradients themselves.
class Gradcheck {
 public:
  using Function = std::function<Tensor(const std::vector<Tensor>&)>;

  Gradcheck(Function function, std::vector<Array> inputs)
      : function_(std::move(function)), values_(std::move(inputs)) {}

  void run(int order = 2) {
    Graph g;
    std::vector<Tensor> inputs;
    for (const auto& value : values_) {
      std::vector<Expr> dims(value.dims().begin(), value.dims().end());
      inputs.push_back(g.tensor(Shape(dims), DType::f64));
      inputs.back().set(value);
    }
    Tensor loss = weighted(function_(inputs));
    for (int k = 1; k <= order; ++k) {
      std::vector<Tensor> found = gradients(loss, inputs, {.seed = {}, .allow_unused = k > 1});
      compare(g, inputs, loss, found, k);
      if (testing::Test::HasFailure()) return;
      loss = weighted(found[0]);
      for (std::size_t i = 1; i < found.size(); ++i) loss = loss + weighted(found[i]);
    }
  }

 private:
  /// A scalar that depends on every element in its own way.
  Tensor weighted(const Tensor& y) {
    Graph g = y.graph();
    Array weights(DType::f64, y.shape().eval({}));
    for (std::int64_t i = 0; i < weights.size(); ++i)
      weights.set(i, make_scalar(DType::f64, Number(random_.unit() + 0.5)));
    const Tensor w = g.tensor(y.shape(), DType::f64);
    w.set(weights);
    return (y * w).sum();
  }

  void compare(Graph& g, const std::vector<Tensor>& inputs, const Tensor& loss,
               const std::vector<Tensor>& found, int order) {
    loss.retrieve();
    retrieve(found);
    g.execute();
    std::vector<std::vector<double>> analytic;
    for (const auto& gradient : found) analytic.push_back(gradient.data<double>());
    for (const auto& gradient : found) gradient.drop();
    const double step = 1e-5;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (std::int64_t k = 0; k < values_[i].size(); ++k) {
        const double x = to_double(values_[i].at(k));
        const auto at = [&](double value) {
          Array moved = values_[i].clone();
          moved.set(k, make_scalar(DType::f64, Number(value)));
          inputs[i].set(moved);
          g.execute();
          return loss.data<double>()[0];
        };
        const double numeric = (at(x + step) - at(x - step)) / (2 * step);
        const double ours = analytic[i][static_cast<std::size_t>(k)];
        EXPECT_NEAR(ours, numeric, 2e-5 * std::max(1.0, std::abs(numeric)))
            << "input " << i << ", element " << k << ", order " << order;
      }
      inputs[i].set(values_[i]);
    }
    loss.drop();
  }

  Function function_;
  std::vector<Array> values_;
  Random random_{99};
};

/// Random values in [low, high].
inline Array uniform(std::vector<std::int64_t> dims, double low, double high, std::uint64_t seed = 1) {
  Random random(seed);
  Array array(DType::f64, std::move(dims));
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.set(i, make_scalar(DType::f64, Number(low + random.unit() * (high - low))));
  return array;
}

}  // namespace luminal::test
