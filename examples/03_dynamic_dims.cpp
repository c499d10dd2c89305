// Lesson 3: a dim may have a name instead of a number. It gets its value with the data, and may have another
// next time.
#include <luminal/luminal.h>

#include <iostream>

using namespace luminal;

int main() {
  Graph g;
  Tensor x = g.named_tensor("x", {"batch", 2});
  Tensor mean = (x.sum(0) / Expr("batch")).retrieve();  // symbolic expressions are operands too

  x.set({{1, 2}, {3, 4}});  // batch = 2
  g.execute();
  std::cout << "batch = " << g.dims().at("batch") << ": " << mean << '\n';
  bool right = mean.data<float>() == std::vector<float>{2, 3};

  x.set({{1, 1}, {2, 2}, {6, 3}});  // batch = 3, the same graph
  g.execute();
  std::cout << "batch = " << g.dims().at("batch") << ": " << mean << '\n';
  right = right && mean.data<float>() == std::vector<float>{3, 2};

  // What cannot be decided before the dims have values is checked when they do.
  Tensor pairs = x.reshape({Expr("batch") * 2 / 4, 4}).retrieve();
  try {
    g.execute();
    return 1;
  } catch (const Error& error) {
    std::cout << "as it should be: " << error.what() << '\n';
  }
  return right ? 0 : 1;
}
