#include <luminal/luminal.h>

int main() {
  luminal::Graph g;
  const luminal::Tensor x = g.tensor({2}).set({1, 2});
  const luminal::Tensor y = (x + 1).retrieve();
  g.execute();
  return y.data<float>() == std::vector<float>{2, 3} ? 0 : 1;
}
