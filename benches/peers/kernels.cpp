// Generated CPU kernels against what the machine can do, in one run: matrix products beside OpenBLAS (loaded
// if it is there), the rest as rates. Random data; results are checked by sampling. Usage: bench_peer_kernels
// [CASE...]
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "luminal/backend/cpu/jit.h"
#include "luminal/backend/cpu/pool.h"
#include "luminal/codegen/source.h"
#include "tests/codegen/build.h"
#include "tests/random.h"

namespace luminal {
namespace {

using test::Build;
using test::LoopId;
using test::Monoid;
using test::ValueId;

double seconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// A kernel ready to run on its own random buffers.
class Ready {
 public:
  Ready(cpu::Jit& jit, cpu::Pool& pool, const kernel::Kernel& kernel) : pool_(pool) {
    codegen::Machine machine = cpu::machine();
    machine.workers = pool.workers();
    const auto schedule = codegen::default_schedule(kernel, machine);
    const auto source = codegen::print_kernel(kernel, codegen::c_dialect(), schedule);
    const std::clock_t start = std::clock();  // this process' time: compiling runs on one thread
    loaded_ = jit.compile(source.text, source.entry);
    compile_ms = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    tasks = source.tasks.eval({});
    scratch_bytes_ = static_cast<std::size_t>(source.scratch_bytes.eval({})) + 64;
    test::Random random(1);
    for (const auto* arrays : {&kernel.inputs(), &kernel.outputs()}) {
      for (const auto& array : *arrays) {
        std::vector<float> values(static_cast<std::size_t>(array.shape.element_count().eval({})) + 16);
        for (auto& value : values) value = static_cast<float>(random.unit() - 0.5);
        buffers.push_back(std::move(values));
      }
    }
    for (auto& buffer : buffers) {
      const auto address = (reinterpret_cast<std::uintptr_t>(buffer.data()) + 63) / 64 * 64;
      pointers_.push_back(reinterpret_cast<void*>(address));
    }
    for (int k = 0; k < pool.workers(); ++k) {
      scratch_.emplace_back(scratch_bytes_ + 64);
      const auto address = (reinterpret_cast<std::uintptr_t>(scratch_.back().data()) + 63) / 64 * 64;
      scratches_.push_back(reinterpret_cast<void*>(address));
    }
  }

  void run() {
    pool_.run(
        tasks,
        [](void* self, std::int64_t task, int worker) {
          auto& ready = *static_cast<Ready*>(self);
          std::int64_t status[4] = {};
          ready.loaded_.function()(task, ready.pointers_.data(), nullptr,
                                   ready.scratches_[static_cast<std::size_t>(worker)], status);
        },
        this);
  }
  const float* array(std::size_t k) const { return static_cast<const float*>(pointers_[k]); }

  std::vector<std::vector<float>> buffers;
  std::int64_t tasks = 0;
  double compile_ms = 0;

 private:
  cpu::Pool& pool_;
  cpu::Loaded loaded_;
  std::size_t scratch_bytes_ = 0;
  std::vector<void*> pointers_;
  std::vector<std::vector<char>> scratch_;
  std::vector<void*> scratches_;
};

using Gemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                      float*, int);

Gemm open_blas() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Gemm>(dlsym(library, "cblas_sgemm"));
}

double time_of(const std::function<void()>& run) {
  run();
  std::vector<double> times;
  double total = 0;
  while (times.size() < 5 || (total < 1 && times.size() < 200)) {
    times.push_back(seconds(run));
    total += times.back();
  }
  return median(times);
}

void report(const std::string& name, const Ready& ready, double time, double amount, const char* unit,
            const std::string& more = "") {
  std::printf("%-34s %9.3f ms %9.1f %s  %3lld tasks, compiled in %.1f ms%s\n", name.c_str(), time * 1e3,
              amount / time / 1e9, unit, static_cast<long long>(ready.tasks), ready.compile_ms, more.c_str());
  std::fflush(stdout);
}

void matmul(cpu::Jit& jit, cpu::Pool& pool, int m, int n, int k, int layout) {
  Build b;
  const auto i = b.loop(m), j = b.loop(n), l = b.loop(k);
  const auto x = (layout & 1) == 0 ? b.read({m, k}, {b.at(i), b.at(l)}) : b.read({k, m}, {b.at(l), b.at(i)});
  const auto y = (layout & 2) == 0 ? b.read({k, n}, {b.at(l), b.at(j)}) : b.read({n, k}, {b.at(j), b.at(l)});
  b.store({i, j}, b.sum({l}, b.mul(x, y)));
  Ready ready(jit, pool, b.kernel);
  const double flops = 2.0 * m * n * k;
  const Gemm gemm = open_blas();
  std::vector<float> theirs(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
  const auto peer = [&] {
    gemm(101, (layout & 1) == 0 ? 111 : 112, (layout & 2) == 0 ? 111 : 112, m, n, k, 1, ready.array(0),
         (layout & 1) == 0 ? k : m, ready.array(1), (layout & 2) == 0 ? n : k, 0, theirs.data(), n);
  };
  std::vector<double> ours;
  std::vector<double> blas;
  ready.run();
  if (gemm != nullptr) peer();
  double total = 0;
  while (ours.size() < 7 || (total < 1.5 && ours.size() < 100)) {
    ours.push_back(seconds([&] { ready.run(); }));
    if (gemm != nullptr) blas.push_back(seconds(peer));
    total += ours.back();
  }
  double worst = 0;
  if (gemm != nullptr)
    for (std::size_t e = 0; e < theirs.size(); ++e)
      worst = std::max(worst, static_cast<double>(std::abs(theirs[e] - ready.array(2)[e])));
  std::string more;
  if (gemm != nullptr) {
    char text[100];
    std::snprintf(text, sizeof text, "; OpenBLAS %.1f, ratio %.2f, difference %.1e",
                  flops / median(blas) / 1e9, median(blas) / median(ours), worst);
    more = text;
  }
  const char* names[] = {"NN", "TN", "NT", "TT"};
  report(
      "matmul " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " " + names[layout],
      ready, median(ours), flops, "GFLOP/s", more);
}

void softmax(cpu::Jit& jit, cpu::Pool& pool, int rows, int columns) {
  Build b;
  const auto i = b.loop(rows), j = b.loop(columns);
  const auto x = b.read({rows, columns}, {b.at(i), b.at(j)});
  const auto top = b.reduce(Monoid::max, {j}, {x});
  const auto e = b.map(Op::exp2, {b.add(x, b.mul(top, b.constant(-1)))});
  b.store({i, j}, b.mul(e, b.map(Op::recip, {b.sum({j}, e)})));
  Ready ready(jit, pool, b.kernel);
  report("softmax " + std::to_string(rows) + "x" + std::to_string(columns), ready,
         time_of([&] { ready.run(); }), 8.0 * rows * columns, "GB/s");
  double sum = 0;
  for (int c = 0; c < columns; ++c) sum += static_cast<double>(ready.array(1)[c]);
  if (std::abs(sum - 1) > 1e-4) std::printf("  WRONG: a row sums to %g\n", sum);
}

void map_chain(cpu::Jit& jit, cpu::Pool& pool, int rows, int columns) {
  Build b;
  const auto i = b.loop(rows), j = b.loop(columns);
  const auto x = b.read({rows, columns}, {b.at(i), b.at(j)});
  const auto erf = b.map(Op::erf, {b.mul(x, b.constant(0.70710678))});
  b.store({i, j}, b.mul(b.mul(x, b.constant(0.5)), b.add(erf, b.constant(1))));
  Ready ready(jit, pool, b.kernel);
  report("gelu " + std::to_string(rows) + "x" + std::to_string(columns), ready, time_of([&] { ready.run(); }),
         8.0 * rows * columns, "GB/s");
}

void total(cpu::Jit& jit, cpu::Pool& pool, int rows, int columns) {
  Build b;
  const auto i = b.loop(rows), j = b.loop(columns);
  b.store({}, b.sum({i, j}, b.read({rows, columns}, {b.at(i), b.at(j)})));
  Ready ready(jit, pool, b.kernel);
  report("sum of all " + std::to_string(rows) + "x" + std::to_string(columns), ready,
         time_of([&] { ready.run(); }), 4.0 * rows * columns, "GB/s");
}

void matvec(cpu::Jit& jit, cpu::Pool& pool, int outputs, int inputs, bool transposed) {
  Build b;
  const auto j = b.loop(outputs), k = b.loop(inputs);
  const auto x = b.read({inputs}, {b.at(k)});
  const auto w = transposed ? b.read({inputs, outputs}, {b.at(k), b.at(j)})
                            : b.read({outputs, inputs}, {b.at(j), b.at(k)});
  b.store({j}, b.sum({k}, b.mul(x, w)));
  Ready ready(jit, pool, b.kernel);
  report(std::string("matvec ") + (transposed ? "[k, n] " : "[n, k] ") + std::to_string(outputs) + "x" +
             std::to_string(inputs),
         ready, time_of([&] { ready.run(); }), 4.0 * outputs * inputs, "GB/s");
}

void attention(cpu::Jit& jit, cpu::Pool& pool, int heads, int tokens, int width, bool causal) {
  Build b;
  const auto h = b.loop(heads), i = b.loop(tokens), j = b.loop(tokens), d = b.loop(width), e = b.loop(width);
  const auto q = b.read({heads, tokens, width}, {b.at(h), b.at(i), b.at(e)});
  const auto k = b.read({heads, tokens, width}, {b.at(h), b.at(j), b.at(e)});
  const auto v = b.read({heads, tokens, width}, {b.at(h), b.at(j), b.at(d)});
  auto score = b.mul(b.sum({e}, b.mul(q, k)), b.constant(0.18));
  if (causal) {
    const auto masked = b.map(Op::less, {b.index(b.at(i), DType::i32), b.index(b.at(j), DType::i32)});
    score = b.map(Op::select, {masked, b.constant(-1e30), score});
  }
  const auto sum = b.reduce(Monoid::soft_sum, {j}, {score, b.constant(1)});
  const auto mixed = b.reduce(Monoid::soft_sum, {j}, {score, v});
  b.store({h, i, d}, b.mul(mixed, b.map(Op::recip, {sum})));
  Ready ready(jit, pool, b.kernel);
  const double flops = 4.0 * heads * tokens * tokens * width * (causal ? 0.5 : 1);
  report("attention " + std::to_string(heads) + "x" + std::to_string(tokens) + "x" + std::to_string(width) +
             (causal ? " causal" : ""),
         ready, time_of([&] { ready.run(); }), flops, "GFLOP/s");
}

void convolution(cpu::Jit& jit, cpu::Pool& pool, int channels, int size) {
  Build b;
  const auto o = b.loop(channels), y = b.loop(size), x = b.loop(size), c = b.loop(channels), u = b.loop(3),
             v = b.loop(3);
  const Expr row = b.at(y) + b.at(u) - Expr(1);
  const Expr column = b.at(x) + b.at(v) - Expr(1);
  const auto inside = [&](const Expr& e) {
    return Expr::logical_and(Expr::less_equal(Expr(0), e), Expr::less(e, Expr(size)));
  };
  const auto image = b.guard(Expr::logical_and(inside(row), inside(column)),
                             b.read({channels, size, size}, {b.at(c), row, column}));
  const auto weight = b.read({channels, channels, 3, 3}, {b.at(o), b.at(c), b.at(u), b.at(v)});
  const auto bias = b.read({channels}, {b.at(o)});
  b.store({o, y, x}, b.map(Op::max, {b.add(b.sum({c, u, v}, b.mul(image, weight)), bias), b.constant(0)}));
  Ready ready(jit, pool, b.kernel);
  report("conv 3x3 " + std::to_string(channels) + " channels " + std::to_string(size) + "^2", ready,
         time_of([&] { ready.run(); }), 2.0 * channels * channels * 9 * size * size, "GFLOP/s");
}

/// What memory gives in this run: a copy by all workers, to compare the others with.
void copy(cpu::Pool& pool, std::size_t bytes) {
  struct Job {
    std::vector<char> from, to;
    static void work(void* context, std::int64_t task, int) {
      auto& job = *static_cast<Job*>(context);
      const std::size_t part = job.from.size() / 16;
      std::memcpy(job.to.data() + static_cast<std::size_t>(task) * part,
                  job.from.data() + static_cast<std::size_t>(task) * part, part);
    }
  };
  Job job{std::vector<char>(bytes, 1), std::vector<char>(bytes, 2)};
  const double time = time_of([&] { pool.run(16, Job::work, &job); });
  std::printf("%-34s %9.3f ms %9.1f GB/s\n", "memcpy by all workers", time * 1e3,
              2.0 * static_cast<double>(bytes) / time / 1e9);
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  using namespace luminal;
  cpu::Jit jit;
  cpu::Pool pool;
  const auto wanted = [&](const char* name) {
    if (argc < 2) return true;
    return std::any_of(argv + 1, argv + argc, [&](const char* arg) { return std::strcmp(arg, name) == 0; });
  };
  std::printf("%d workers, vectors of %d bytes\n", pool.workers(), cpu::machine().vector_bytes);
  if (wanted("matmul")) {
    for (int layout = 0; layout < 4; ++layout) matmul(jit, pool, 1024, 1024, 1024, layout);
    matmul(jit, pool, 128, 2048, 2048, 2);
    matmul(jit, pool, 8, 2048, 2048, 2);
    matmul(jit, pool, 64, 10, 784, 0);
  }
  copy(pool, std::size_t{64} << 20);
  if (wanted("matvec"))
    for (const bool transposed : {false, true}) matvec(jit, pool, 2048, 8192, transposed);
  if (wanted("softmax")) softmax(jit, pool, 4096, 4096);
  if (wanted("map")) map_chain(jit, pool, 4096, 4096);
  if (wanted("sum")) total(jit, pool, 4096, 4096);
  if (wanted("attention"))
    for (const bool causal : {false, true}) attention(jit, pool, 8, 2048, 64, causal);
  if (wanted("conv")) convolution(jit, pool, 64, 56);
  return 0;
}
