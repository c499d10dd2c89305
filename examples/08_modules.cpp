// Lesson 8: a module of your own is a struct with a call operator and a list of its parts.
#include <luminal/luminal.h>

#include <iostream>

using namespace luminal;

struct Block {
  nn::Conv conv;
  nn::BatchNorm norm;
  nn::Dropout drop;

  Block(const nn::Scope& scope, int inputs, int outputs)
      : conv(nn::conv2d(scope / "conv", inputs, outputs, 3, {.convolution = {.padding = 1}})),
        norm(scope / "norm", outputs),
        drop(scope / "drop", 0.25) {}
  Tensor operator()(const Tensor& x) const { return drop(norm(conv(x)).relu()); }
  void visit(nn::Visitor& v) {
    v.module("conv", conv);
    v.module("norm", norm);
    v.module("drop", drop);
  }
};

int main() {
  Graph g;
  const nn::Scope scope(g, 1);
  nn::Sequential net(Block(scope / "block1", 1, 4), nn::MaxPool{2}, Block(scope / "block2", 4, 8),
                     nn::AdaptiveAvgPool{{1, 1}}, nn::Flatten{}, nn::Linear(scope / "head", 8, 10));
  std::cout << "parameters:\n";
  for (const auto& [path, state] : nn::param_dict(net))
    std::cout << "  " << path << " " << state.shape() << '\n';

  nn::set_mode(net, nn::Mode::eval);  // running statistics, no dropout
  Tensor image = g.tensor({"batch", 1, 8, 8});
  Tensor scores = net(image).retrieve();
  image.set_dyn(std::vector<float>(2 * 64, 0.5f), {2, 1, 8, 8});
  g.execute();
  std::cout << "scores have shape " << scores.shape() << '\n';
  return nn::params(net).size() == 10 && scores.data<float>().size() == 20 ? 0 : 1;
}
