// Runs take no memory: everything is there after the first one.
#include <gtest/gtest.h>

#include "luminal/luminal.h"
#include "tests/count_allocations.h"

namespace luminal {
namespace {

TEST(Runs, AllocateNothing) {
  Graph g;
  const nn::Scope scope(g);
  const nn::Linear first(scope / "first", 16, 32);
  const nn::Linear second(scope / "second", 32, 4);
  const Tensor x = g.tensor({"batch", 16});
  const Tensor labels = g.tensor({"batch"}, DType::i64);
  const Tensor loss = nn::cross_entropy(second(first(x).relu()), labels).retrieve();
  const std::vector<State> weights = {first.weight, *first.bias, second.weight, *second.bias};
  const Tensor rate = g.tensor({});
  optim::adamw({weights, gradients(loss, {weights.begin(), weights.end()}), rate}).apply();
  Executable exe = compile(g, device("cpu"));
  exe.set(rate, Array(0.01F));
  std::size_t counted = 1;
  for (int step = 0; step < 3; ++step) {
    // Data changes, dims do not.
    exe.set_dyn(x, Array(DType::f32, {8 * 16}), {8, 16});
    exe.set_dyn(labels, Array(DType::i64, {8}), {8});
    const std::size_t before = test::allocations;
    exe.run();
    counted = test::allocations - before;
  }
  EXPECT_EQ(counted, 0U);
  const std::size_t before = test::allocations;
  exe.run();
  EXPECT_EQ(test::allocations - before, 0U);
}

}  // namespace
}  // namespace luminal
