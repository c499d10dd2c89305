// Lesson 6: gradients are more nodes of the same graph, so gradients of gradients need nothing else.
#include <luminal/luminal.h>

#include <iostream>

using namespace luminal;

int main() {
  Graph g;
  Tensor x = g.tensor({3}).set({0.5, 1.0, 2.0});
  Tensor y = (x * x * x).sum();
  Tensor slope = gradients(y, {x})[0].retrieve();                // 3x²
  Tensor curvature = gradients(slope.sum(), {x})[0].retrieve();  // 6x
  // What is behind stop_gradient counts as a constant.
  Tensor halfway = gradients((x * x.stop_gradient()).sum(), {x})[0].retrieve();
  g.execute();
  std::cout << "x³ has slope " << slope << " and curvature " << curvature << "\nx·stop(x) has slope "
            << halfway << '\n';

  try {
    gradients(y, {g.named_tensor("unused", {2})});
    return 1;
  } catch (const Error& error) {
    std::cout << "as it should be: " << error.what() << '\n';
  }
  const bool right = slope.data<float>() == std::vector<float>{0.75, 3, 12} &&
                     curvature.data<float>() == std::vector<float>{3, 6, 12} &&
                     halfway.data<float>() == x.data<float>();
  return right ? 0 : 1;
}
