#include "luminal/cli/bench_compile.h"

#include <chrono>
#include <iomanip>

#include "luminal/luminal.h"

namespace luminal::cli {
namespace {

/// Llama-3.2-1B's sizes: one token in, logits out, a cache a layer.
Graph decode_graph(int layers) {
  Graph g;
  const nn::Scope scope = nn::Scope(g).without_values();
  const std::int64_t size = 2048;
  const nn::Embedding embedding(scope / "embedding", 128256, size);
  Tensor x = embedding(g.named_tensor("token", {1, 1}, DType::i64));
  for (int k = 0; k < layers; ++k) {
    const nn::Scope layer = scope / ("layer" + std::to_string(k));
    const nn::LlamaBlock block(layer, size, {.heads = 32, .kv_heads = 8, .head_size = 64, .hidden = 8192});
    const nn::KvCache cache(layer, 1, 8, 2048, 64, Expr("past"));
    x = block.forward(x, &cache);
  }
  const nn::RmsNorm norm(scope / "norm", size);
  const nn::Linear head(scope / "head", size, 128256, {.bias = false});
  head(norm(x)).retrieve();
  return g;
}

struct Took {
  double all = 0;
  double saturate = 0;
  std::size_t kernels = 0;
};

Took measured(int layers) {
  const Graph g = decode_graph(layers);
  const auto start = std::chrono::steady_clock::now();
  const Executable exe = compile(g, best_device(), {.tune_dims = {{"past", 1000}}});
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
