// Lesson 9: compute in f16, keep f32 master weights, scale the loss so that small gradients survive, and take
// a step every second run only.
#include <luminal/luminal.h>

#include <iostream>

using namespace luminal;

int main() {
  Graph g;
  Tensor x = g.tensor({4, 3}).set({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}});
  Tensor target = g.tensor({4, 1}).set({{1}, {-2}, {0.5}, {-0.5}});
  nn::Linear fc(nn::Scope(g, 5) / "fc", 3, 1);
  Tensor y = fc(x.cast(DType::f16)).cast(DType::f32);  // modules compute in their input's dtype
  Tensor loss = nn::mse_loss(y, target).retrieve();

  const optim::LossScale scale(g, {.initial = 1024, .interval = 20});
  std::vector<State> weights = nn::params(fc);
  const auto raw = gradients(scale.scaled(loss), {weights.begin(), weights.end()});
  const auto unscaled = scale.unscale(raw);
  const auto sum = optim::accumulate(weights, unscaled.gradients, 2);
  const auto clipped = optim::clip_by_norm(sum.gradients, 1.0);
  const Tensor take = logical_and(unscaled.finite, sum.complete);
  optim::sgd({weights, clipped, 0.3}, {.momentum = 0.9}).apply_if(take);
  sum.updates.apply();
  unscaled.updates.apply();

  for (int step = 0; step < 160; ++step) g.execute();
  std::cout << "y is " << y.dtype() << " computed in f16, weights are " << fc.weight.dtype() << "\nloss "
            << loss << ", loss scale " << scale.scale() << '\n';
  return loss.data<float>()[0] < 0.01f ? 0 : 1;
}
