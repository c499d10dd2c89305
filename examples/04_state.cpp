// Lesson 4: a state lives from run to run. Reading it gives the value before the run; assign sets the value
// after it.
#include <luminal/luminal.h>

#include <iostream>

using namespace luminal;

int main() {
  Graph g;
  Tensor x = g.tensor({2});
  State total = g.state("total", {2});
  State count = g.state("count", {}, DType::i64);
  Tensor mean = ((total + x) / (count + 1)).retrieve();
  total.assign(total + x);
  count.assign(count + 1);

  const std::vector<std::vector<float>> batches = {{1, 10}, {2, 20}, {6, 60}};
  for (const auto& batch : batches) {
    x.set(batch);
    g.execute();
    std::cout << "after " << count << " runs the running mean is " << mean << '\n';
  }
  return mean.data<float>() == std::vector<float>{3, 30} && count.data<std::int64_t>()[0] == 3 ? 0 : 1;
}
