// Lesson 10: compiling. The same graph, turned into kernels for this machine; named dims need no second
// compiling.
#include <luminal/luminal.h>

#include <iostream>

using namespace luminal;

int main() {
  Graph g;
  const Tensor x = g.tensor({"batch", 8});
  const nn::Linear layer(nn::Scope(g, 1) / "layer", 8, 4);
  const Tensor y = layer(x).softmax(-1).retrieve();

  Executable exe = compile(g, best_device());
  std::cout << g.dag().node_count() << " nodes became " << exe.kernel_count() << " kernel(s)\n";
  for (const std::int64_t batch : {2, 5}) {
    exe.set(x, Array(std::vector<float>(static_cast<std::size_t>(batch * 8), 0.5F), {batch, 8}));
    exe.run();
    std::cout << "batch " << batch << ": " << exe.array(y).dims()[0] << " rows, the first "
              << exe.get<float>(y)[0] << ", in " << exe.peak_bytes() << " bytes\n";
  }

  // The interpreter is the oracle: the compiled result is close to its own.
  x.set(Array(std::vector<float>(16, 0.5F), {2, 8}));
  g.execute();
  exe.set(x, Array(std::vector<float>(16, 0.5F), {2, 8})).run();
  float largest = 0;
  for (std::size_t i = 0; i < 8; ++i)
    largest = std::max(largest, std::abs(exe.get<float>(y)[i] - y.data<float>()[i]));
  std::cout << "largest difference " << largest << '\n';
  return largest < 1e-5F ? 0 : 1;
}
