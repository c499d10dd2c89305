// Lesson 13: searching. Kernels are timed on this machine; what was timed can be replayed.
#include <luminal/luminal.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

using namespace luminal;

namespace {

constexpr std::int64_t rows = 64;

Array ramp(const std::vector<std::int64_t>& dims) {
  Array array(DType::f32, dims);
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.set(i, make_scalar(DType::f32, Number(std::sin(static_cast<double>(i)))));
  return array;
}

/// Searches for a plan, tells what was found, and compares the result with the interpreter's.
bool search(const std::string& what, Graph& g, const Tensor& y) {
  TimingRecord record;
  CompileOptions options;
  options.mode = Mode::search;
  options.budget = std::chrono::seconds(5);
  options.candidates = 40;
  options.record = &record;
  options.cache = false;  // otherwise the second time there is nothing to search for
  Executable exe = compile(g, best_device(), options);
  const SearchReport& report = *exe.search_report();
  std::cout << what << ": " << report.candidates << " candidates, " << report.stopped << '\n';
  for (const auto& plan : report.plans)
    if (plan.timing.median > 0)
      std::cout << "  " << plan.name << ": " << plan.timing.median * 1e6 << " us" << (plan.chosen ? " *" : "")
                << '\n';

  // The same timings lead to the same plan, on any machine of this kind.
  options.replay = &record;
  options.record = nullptr;
  const Executable again = compile(g, best_device(), options);
  bool same = again.plan().kernels.size() == exe.plan().kernels.size();
  for (std::size_t k = 0; same && k < exe.plan().kernels.size(); ++k)
    same = again.plan().kernels[k].source.text == exe.plan().kernels[k].source.text;
  std::cout << "  replayed: " << (same ? "the same kernels" : "other kernels") << '\n';

  exe.run();
  g.execute();
  double largest = 0;
  const auto got = exe.get<float>(y);
  const auto expected = y.data<float>();
  for (std::size_t i = 0; i < got.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i])));
  std::cout << "  largest difference to the interpreter " << largest << '\n';
  // A plan with steps on the host would not be timed whole.
  return exe.host_step_count() == 0 && same && largest < 1e-3;
}

bool matrix_product() {
  Graph g;
  const Tensor a = g.tensor({rows, 96});
  const Tensor b = g.tensor({96, 80});
  const Tensor y = matmul(a, b).retrieve();
  a.set(ramp({rows, 96}));
  b.set(ramp({96, 80}));
  return search("a matrix product", g, y);
}

bool mlp() {
  Graph g;
  const nn::Linear first(nn::Scope(g, 1) / "first", 96, 128);
  const nn::Linear second(nn::Scope(g, 2) / "second", 128, 10);
  const Tensor x = g.tensor({rows, 96});
  const Tensor y = second(first(x).gelu()).softmax(-1).retrieve();
  x.set(ramp({rows, 96}));
  return search("an MLP", g, y);
}

/// A kernel of one's own takes part: it stays as it is, what is before and after it is searched, and plans
/// are timed whole. The function in C++ is what the interpreter runs, and the reference.
bool custom_kernel() {
  CustomOp clamp;
  clamp.name = "clamp";
  clamp.infer = [](std::span<const TensorType> inputs) { return std::vector<TensorType>{inputs[0]}; };
  clamp.run = [](std::span<const Array> inputs) -> std::vector<Array> {
    Array result = inputs[0].contiguous();
    for (std::int64_t i = 0; i < result.size(); ++i)
      result.set(i, make_scalar(DType::f32, Number(std::min(1.0, to_double(result.at(i))))));
    return {result};
  };
  clamp.kernels = [](std::span<const TensorType>) {
    return std::vector<KernelSource>{{.entry = "clamp_rows",
                                      .text = R"(
void clamp_rows(i64 task, void* const* buffers, const i64* dims, void* scratch, i64* status) {
  const f32* x = (const f32*)buffers[0] + task * 64;
  f32* out = (f32*)buffers[1] + task * 64;
  for (i64 i = 0; i < 64; ++i) out[i] = x[i] < 1.0f ? x[i] : 1.0f;
}
)",
                                      .grid = rows}};
  };
  Graph g;
  const Tensor a = g.tensor({rows, 96});
  const Tensor clamped = g.custom(std::make_shared<CustomOp>(clamp), {matmul(a, a.transpose(0, 1))})[0];
  const Tensor y = clamped.softmax(-1).retrieve();
  a.set(ramp({rows, 96}));
  return search("with a custom kernel", g, y);
}

}  // namespace

int main() {
  const bool right = custom_kernel() && matrix_product() && mlp();
  return right ? 0 : 1;
}
