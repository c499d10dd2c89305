// Lesson 12: a training step, forward, backward and update, compiled: weights and moments are updated in
// place.
#include <luminal/luminal.h>

#include <iostream>

using namespace luminal;

int main() {
  Graph g;
  const Tensor x = g.tensor({"batch", 2});
  const Tensor label = g.tensor({"batch"}, DType::i64);
  nn::Sequential net(nn::Linear(nn::Scope(g, 3) / "hidden", 2, 16), nn::Tanh{},
                     nn::Linear(nn::Scope(g, 3) / "out", 16, 2));
  const Tensor loss = nn::cross_entropy(net(x), label).retrieve();
  const std::vector<State> weights = nn::params(net);
  const Tensor rate = g.tensor({});
  optim::adamw({weights, gradients(loss, {weights.begin(), weights.end()}), rate}).apply();

  Executable step = compile(g, best_device());
  std::cout << "one step is " << step.kernel_count() << " kernels\n";
  step.set(x, {{0.0F, 0.0F}, {0.0F, 1.0F}, {1.0F, 0.0F}, {1.0F, 1.0F}}).set(label, {0, 1, 1, 0});
  const optim::Schedule schedule = optim::linear_warm_up(10, optim::cosine(0.05, 120));
  for (int k = 0; k < 120; ++k) {
    step.set(rate, Array(static_cast<float>(schedule(k))));
    step.run();
    if (k % 30 == 0) std::cout << "step " << k << ", loss " << step.get<float>(loss)[0] << '\n';
  }
  std::cout << "after training, loss " << step.get<float>(loss)[0] << '\n';
  return step.get<float>(loss)[0] < 0.05F ? 0 : 1;
}
