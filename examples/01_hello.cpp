// Lesson 1: build a graph, give it values, run it, read the result.
#include <luminal/luminal.h>

#include <iostream>

using namespace luminal;

int main() {
  Graph g;
  Tensor a = g.tensor({3});
  Tensor b = g.tensor({3});
  Tensor c = (a + b * 2).retrieve();  // adds nodes; nothing is computed yet

  a.set({1, 2, 3});
  b.set({10, 20, 30});
  g.execute();

  std::cout << "c = " << c << "\n\nThe graph, as text that can be read back:\n" << g.text();
  return c.data<float>() == std::vector<float>{21, 42, 63} ? 0 : 1;
}
