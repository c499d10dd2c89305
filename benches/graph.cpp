// How fast graphs are built: issue "Foundation" asks for 100,000 nodes in under a second.
#include <benchmark/benchmark.h>

#include "luminal/luminal.h"

namespace {

using namespace luminal;

void build_chain(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0));
  for (auto _ : state) {
    Graph g;
    Tensor x = g.tensor({64, 64});
    Tensor y = g.tensor({64, 64});
    for (int i = 0; i < nodes / 2; ++i) {
      x = x + y;
      y = x * y;
    }
    if (static_cast<int>(g.dag().node_count()) < nodes)
      state.SkipWithError("nodes were shared: the benchmark measures nothing");
    benchmark::DoNotOptimize(x);
  }
  state.counters["nodes/s"] =
      benchmark::Counter(static_cast<double>(nodes), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(build_chain)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

/// The way models are written: movements, broadcasts, reductions, at symbolic shapes.
void build_layers(benchmark::State& state) {
  const auto nodes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    Graph g;
    Tensor x = g.tensor({"batch", 64});
    while (g.dag().node_count() < nodes) {
      const Tensor w = g.tensor({64, 64});
      const Tensor product = (x.expand_dim(1, 64) * w.permute({1, 0})).sum(-1);
      const Tensor centred = product - product.sum(-1, true) / 64;
      x = centred * ((centred * centred).sum(-1, true) / 64 + 1e-5).sqrt().reciprocal() + x;
    }
    benchmark::DoNotOptimize(x);
  }
  state.counters["nodes/s"] =
      benchmark::Counter(static_cast<double>(nodes), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(build_layers)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

}  // namespace
