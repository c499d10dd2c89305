// Single operations, beside the libraries that are made for them.
#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include "luminal/cli/bench_rows.h"
#include "luminal/cli/models.h"
#include "luminal/compile/stopwatch.h"
#include "luminal/luminal.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

/// A row-major C[m, n] = A[m, k] · B[k, n], or Bᵀ[n, k].
struct Product {
  int m;
  int n;
  int k;
  bool transposed;
};

/// The two operands and the result, shared by runs and output.
struct Operands {
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> c;
};

using Multiply = std::function<void(const Product&, Operands&)>;

void* library(std::initializer_list<const char*> names) {
  for (const auto* name : names)
    if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  return nullptr;
}

/// OpenBLAS, if the machine has it.
Multiply open_blas() {
  void* handle = library({"libopenblas.so.0", "libopenblas.so"});
  if (handle == nullptr) return {};
  using Gemm =
      void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  const auto gemm = reinterpret_cast<Gemm>(::dlsym(handle, "cblas_sgemm"));
  const auto set_threads = reinterpret_cast<void (*)(int)>(::dlsym(handle, "openblas_set_num_threads"));
  if (gemm == nullptr || set_threads == nullptr) return {};
  return [gemm, set_threads](const Product& p, Operands& o) {
    // Our kernels call it on threads of our own, hence with one of its.
    set_threads(best_device()->machine().workers);
    gemm(101, 111, p.transposed ? 112 : 111, p.m, p.n, p.k, 1, o.a.data(), p.k, o.b.data(),
         p.transposed ? p.k : p.n, 0, o.c.data(), p.n);
    set_threads(1);
  };
}

/// oneDNN, if the machine has it.
Multiply one_dnn() {
  void* handle = library({"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"});
  if (handle == nullptr) return {};
  using Gemm = int (*)(char, char, std::int64_t, std::int64_t, std::int64_t, float, const float*,
                       std::int64_t, const float*, std::int64_t, float, float*, std::int64_t);
  const auto gemm = reinterpret_cast<Gemm>(::dlsym(handle, "dnnl_sgemm"));
  if (gemm == nullptr) return {};
  return [gemm](const Product& p, Operands& o) {
    gemm('N', p.transposed ? 'T' : 'N', p.m, p.n, p.k, 1, o.a.data(), p.k, o.b.data(),
         p.transposed ? p.k : p.n, 0, o.c.data(), p.n);
  };
}

BenchPeer peer(const std::string& name, const Multiply& multiply, const Product& product,
               const std::shared_ptr<Operands>& operands) {
  return {name,
          [=] {
            const Stopwatch watch;
            multiply(product, *operands);
            const double sign = watch.disturbed() ? -1 : 1;
            return sign * watch.seconds(1.0 / best_device()->machine().workers);
          },
          [=] {
            multiply(product, *operands);
            return operands->c;
          }};
}

BenchCase matmul_case(const std::string& name, int m, int n, int k, bool transposed) {
  BenchCase made{name, transposed ? "linear" : "matmul", Graph()};
  Graph& g = made.graph;
  const Tensor a = g.named_tensor("a", {m, k});
  const Tensor b = transposed ? g.named_tensor("b", {n, k}) : g.named_tensor("b", {k, n});
  matmul(a, transposed ? b.transpose(0, 1) : b).retrieve();
  fill(g);
  const auto operands = std::make_shared<Operands>();
  operands->a = a.array().values<float>();
  operands->b = b.array().values<float>();
  operands->c.resize(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
  const Product product{m, n, k, transposed};
  if (const auto multiply = open_blas())
    made.libraries.push_back(peer("OpenBLAS", multiply, product, operands));
  if (const auto multiply = one_dnn()) made.libraries.push_back(peer("oneDNN", multiply, product, operands));
  return made;
}

BenchCase unary_case(const std::string& name, const std::string& kind, const Shape& shape,
                     Tensor (*build)(const Tensor&)) {
  BenchCase made{name, kind, Graph()};
  build(made.graph.named_tensor("x", shape)).retrieve();
  return made;
}

BenchCase conv_case(const std::string& name, std::int64_t channels, std::int64_t size, std::int64_t outputs,
                    std::int64_t window) {
  BenchCase made{name, "conv", Graph()};
  const Tensor x = made.graph.named_tensor("x", {1, channels, size, size});
  const Tensor w = made.graph.named_tensor("w", {outputs, channels, window, window});
  const std::int64_t padding = window / 2;
  conv2d(x, w, std::nullopt, {.padding = {padding, padding}}).retrieve();
  return made;
}

BenchCase attention_case(const std::string& name, std::int64_t tokens) {
  BenchCase made{name, "attention", Graph()};
  Graph& g = made.graph;
  const Shape shape{1, 8, tokens, 64};
  scaled_dot_product_attention(g.named_tensor("q", shape), g.named_tensor("k", shape),
                               g.named_tensor("v", shape), {.causal = true})
      .retrieve();
  return made;
}

BenchCase add_case(const std::string& name) {
  BenchCase made{name, "add", Graph()};
  const Shape shape{4096, 1024};
  (made.graph.named_tensor("a", shape) + made.graph.named_tensor("b", shape)).retrieve();
  return made;
}

}  // namespace

int bench_ops(const BenchOptions& options, std::ostream& out) {
  // Its idle threads look out for more work for a while, beside whoever runs next: here they sleep at once.
  // Read when the library is loaded, with the first device.
  ::setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0);
  const std::vector<std::pair<std::string, std::function<BenchCase(const std::string&)>>> table = {
      {"matmul 256", [](const std::string& n) { return matmul_case(n, 256, 256, 256, false); }},
      {"matmul 1024", [](const std::string& n) { return matmul_case(n, 1024, 1024, 1024, false); }},
      {"linear 128x768x3072", [](const std::string& n) { return matmul_case(n, 128, 3072, 768, true); }},
      {"linear 1x2048x8192", [](const std::string& n) { return matmul_case(n, 1, 8192, 2048, true); }},
      {"matmul 1000x10x400", [](const std::string& n) { return matmul_case(n, 1000, 10, 400, false); }},
      {"add 4M", [](const std::string& n) { return add_case(n); }},
      {"gelu 4M",
       [](const std::string& n) {
         return unary_case(n, "gelu", {4096, 1024}, [](const Tensor& x) { return x.gelu(); });
       }},
      {"softmax 4096x1024",
       [](const std::string& n) {
         return unary_case(n, "softmax", {4096, 1024}, [](const Tensor& x) { return x.softmax(-1); });
       }},
      {"layer norm 4096x768",
       [](const std::string& n) {
         return unary_case(n, "layer_norm", {4096, 768}, [](const Tensor& x) { return x.layer_norm(-1); });
       }},
      {"sum rows 4096x1024",
       [](const std::string& n) {
         return unary_case(n, "sum", {4096, 1024}, [](const Tensor& x) { return x.sum(-1); });
       }},
      {"sum columns 4096x1024",
       [](const std::string& n) {
         return unary_case(n, "sum columns", {4096, 1024}, [](const Tensor& x) { return x.sum(0); });
       }},
      {"conv 64x56 3x3", [](const std::string& n) { return conv_case(n, 64, 56, 64, 3); }},
      {"conv 256x14 1x1", [](const std::string& n) { return conv_case(n, 256, 14, 1024, 1); }},
      {"attention 8x512", [](const std::string& n) { return attention_case(n, 512); }},
  };
  BenchCases cases;
  for (const auto& [name, build] : table)
    cases.emplace_back(name, [make = build, row = name] { return make(row); });
  return bench_cases(options, cases, out);
}

}  // namespace luminal::cli
