// Lesson 11: attention written as it is defined, matmul, softmax, matmul, becomes one kernel whose memory
// grows with the number of tokens, not with its square. No rule names attention: see rules/*.egg.
#include <luminal/luminal.h>

#include <cmath>
#include <iostream>
#include <limits>

using namespace luminal;

int main() {
  const std::int64_t tokens = 512;
  Graph g;
  const Tensor q = g.tensor({1, 4, tokens, 32});
  const Tensor k = g.tensor({1, 4, tokens, 32});
  const Tensor v = g.tensor({1, 4, tokens, 32});
  const Tensor later = g.iota({tokens, tokens}, 0).lt(g.iota({tokens, tokens}, 1));
  const Tensor scores = matmul(q, k.transpose(-1, -2)) / std::sqrt(32.0);
  const Tensor seen = where(later, -std::numeric_limits<double>::infinity(), scores);
  const Tensor out = matmul(seen.softmax(-1), v).retrieve();

  std::string derivation;
  CompileOptions options;
  options.inspect = [&](std::string_view what, const std::string& text) {
    if (what == "derivation") derivation = text;
  };
  Executable exe = compile(g, best_device(), options);
  std::vector<float> values(static_cast<std::size_t>(4 * tokens * 32));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i) * 0.37F);
  for (const auto& tensor : {q, k, v}) exe.set(tensor, Array(values, {1, 4, tokens, 32}));
  exe.run();
  std::cout << exe.kernel_count() << " kernel, " << exe.arena_bytes()
            << " bytes beside its inputs; the matrix alone would take " << 4 * tokens * tokens * 4 << '\n';
  std::cout << "rules on the way: " << std::count(derivation.begin(), derivation.end(), '\n') << '\n';

  // A few elements, against the interpreter.
  for (const auto& tensor : {q, k, v}) tensor.set(Array(values, {1, 4, tokens, 32}));
  Sampler sampler = g.sampler();
  const Array got = exe.array(out);
  double largest = 0;
  for (const std::int64_t row : {0, 17, 300}) {
    const double expected = to_double(sampler.value_at(out.value(), std::vector<std::int64_t>{0, 2, row, 5}));
    largest = std::max(largest, std::abs(expected - to_double(got.at((2 * tokens + row) * 32 + 5))));
  }
  std::cout << "largest difference at three places " << largest << '\n';
  return exe.kernel_count() == 1 && largest < 1e-4 ? 0 : 1;
}
