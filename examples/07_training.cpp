// Lesson 7: a training step is one graph: forward, backward, update. Parameters and moments are states.
#include <luminal/luminal.h>

#include <iostream>

using namespace luminal;

int main() {
  Graph g;
  Tensor x = g.tensor({"batch", 2});
  Tensor label = g.tensor({"batch"}, DType::i64);
  nn::Sequential net(nn::Linear(nn::Scope(g, 3) / "hidden", 2, 16), nn::Tanh{},
                     nn::Linear(nn::Scope(g, 3) / "out", 16, 2));
  Tensor scores = net(x).retrieve();
  Tensor loss = nn::cross_entropy(scores, label).retrieve();

  std::vector<State> weights = nn::params(net);
  Tensor rate = g.tensor({});
  optim::adamw({weights, gradients(loss, {weights.begin(), weights.end()}), rate}).apply();

  x.set({{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  label.set({0, 1, 1, 0});  // exclusive or: no straight line separates it
  const optim::Schedule schedule = optim::linear_warm_up(10, optim::cosine(0.05, 120));
  for (int step = 0; step < 120; ++step) {
    rate.set(schedule(step));
    g.execute();
    if (step % 30 == 0) std::cout << "step " << step << ", loss " << loss << '\n';
  }
  std::cout << "after training, loss " << loss << ", scores " << scores << '\n';
  return loss.data<float>()[0] < 0.05f ? 0 : 1;
}
