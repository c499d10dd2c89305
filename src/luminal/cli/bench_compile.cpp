#include "luminal/cli/bench_compile.h"

#include <chrono>
#include <iomanip>

#include "luminal/cli/models.h"
#include "luminal/luminal.h"

namespace luminal::cli {
namespace {

struct Took {
  double all = 0;
  double saturate = 0;
  std::size_t kernels = 0;
};

Took measured(int layers) {
  const Graph g = llama_decode(layers);
  const auto start = std::chrono::steady_clock::now();
  const Executable exe = compile(g, best_device(), {.tune_dims = {{"past", 1000}}, .cache = false});
  Took took;
  took.all = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  took.kernels = exe.kernel_count();
  for (const auto& stage : exe.stages())
    if (stage.name == "saturate") took.saturate = stage.seconds;
  return took;
}

}  // namespace

int bench_compile(std::ostream& out) {
  const Took sixteen = measured(16);
  const Took more = measured(32);
  out << std::fixed << std::setprecision(3);
  out << "Llama-3.2-1B decode, 16 layers: " << sixteen.all << " s (limit 3), of which saturation "
      << sixteen.saturate << " s, " << sixteen.kernels << " kernels\n";
  out << "32 layers: " << more.all << " s, " << std::setprecision(2) << more.all / sixteen.all
      << " of 16 layers (limit 1.2), " << more.kernels << " kernels\n";
  return 0;
}

}  // namespace luminal::cli
