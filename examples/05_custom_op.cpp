// Lesson 5: a C++ function of your own as an op of the graph.
#include <luminal/luminal.h>

#include <algorithm>
#include <iostream>
#include <memory>

using namespace luminal;

int main() {
  CustomOp median;
  median.name = "median";
  median.infer = [](std::span<const TensorType> inputs) -> std::vector<TensorType> {
    if (inputs.size() != 1 || inputs[0].dtype != DType::f32) throw Error("median: takes one f32 tensor");
    return {{{}, DType::f32}};
  };
  median.run = [](std::span<const Array> inputs) -> std::vector<Array> {
    std::vector<float> values = inputs[0].values<float>();
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return {Array(values[values.size() / 2])};
  };

  Graph g;
  Tensor x = g.tensor({5});
  Tensor m = g.custom(std::make_shared<CustomOp>(median), {x * 2})[0];
  Tensor centred = (x * 2 - m).retrieve();
  x.set({5, 1, 4, 2, 3});
  g.execute();
  std::cout << "2x minus its median: " << centred << '\n';
  return centred.data<float>() == std::vector<float>{4, -4, 2, -2, 0} ? 0 : 1;
}
