#include "luminal/backend/cpu/blas.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "luminal/backend/cpu/device.h"
#include "luminal/codegen/source.h"
#include "luminal/codegen/variants.h"
#include "luminal/support/error.h"
#include "tests/codegen/build.h"

namespace luminal::cpu {
namespace {

constexpr std::int64_t size = 96;

/// A square product as calls of OpenBLAS, by blocks of rows: as many tasks as there are workers.
codegen::Source square_product(int workers) {
  test::Build b;
  const auto r = b.loop(size), c = b.loop(size), t = b.loop(size);
  const auto left = b.read({size, size}, {b.at(r), b.at(t)});
  const auto right = b.read({size, size}, {b.at(t), b.at(c)});
  b.store({r, c}, b.sum({t}, b.mul(left, right)));
  const codegen::Machine machine{.workers = workers, .blas = true};
  return codegen::print_kernel(b.kernel, codegen::c_dialect(),
                               codegen::schedule_variants(b.kernel, machine, {}).front());
}

/// Whether the product of ones is what it should be.
bool runs_right(runtime::Device& device, const runtime::Program& program, std::int64_t tasks) {
  std::vector<float> ones(size * size, 1.0F);
  std::vector<float> result(size * size, -1.0F);
  void* buffers[] = {ones.data(), ones.data(), result.data()};
  std::int64_t status[4] = {};
  device.run({.program = &program, .buffers = buffers, .dims = {}, .tasks = tasks, .status = status});
  for (const float value : result)
    if (value != static_cast<float>(size)) return false;
  return true;
}

TEST(Blas, TheDeviceSaysWhetherItIsThere) {
  const auto with = make_device();
  const auto without = make_device({.blas = false});
  EXPECT_EQ(with->machine().blas, blas() != nullptr);
  EXPECT_FALSE(without->machine().blas);
  EXPECT_EQ(with->fingerprint() != without->fingerprint(), blas() != nullptr);
  if (blas() != nullptr) {
    EXPECT_NE(with->fingerprint().find(blas()->description), std::string::npos);
  }
}

class BlasOf : public ::testing::TestWithParam<Compiler> {};

TEST_P(BlasOf, RunsInTheParentAndInAForkedChild) {
  if (blas() == nullptr) GTEST_SKIP() << "this machine has no libopenblas that kernels can call";
  const auto device = make_device({.workers = 3, .compiler = GetParam()});
  const codegen::Source source = square_product(3);
  const std::int64_t tasks = source.tasks.eval({});
  EXPECT_EQ(tasks, 3);
  const auto programs = device->compile(std::vector{source}, nullptr);
  EXPECT_TRUE(runs_right(*device, *programs[0], tasks));
  for (int again = 0; again < 3; ++again) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);  // one that hangs ends
      _exit(device->restart_in_child() && runs_right(*device, *programs[0], tasks) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_TRUE(runs_right(*device, *programs[0], tasks));
  }
}

TEST_P(BlasOf, SeveralThreadsAndDevices) {
  if (blas() == nullptr) GTEST_SKIP() << "this machine has no libopenblas that kernels can call";
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&right, k] {
      const auto device = make_device({.workers = k + 1, .compiler = GetParam()});
      const codegen::Source source = square_product(k + 1);
      const auto programs = device->compile(std::vector{source}, nullptr);
      for (int times = 0; times < 20; ++times)
        right[static_cast<std::size_t>(k)] +=
            runs_right(*device, *programs[0], source.tasks.eval({})) ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(4, 20));
}

INSTANTIATE_TEST_SUITE_P(All, BlasOf, ::testing::ValuesIn(compilers()),
                         [](const auto& one) { return one.param == Compiler::clang ? "clang" : "system"; });

}  // namespace
}  // namespace luminal::cpu
