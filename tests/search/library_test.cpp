// A library's matrix product is one of the schedules that the search times.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "luminal/backend/cpu/device.h"
#include "luminal/luminal.h"
#include "src/luminal/cli/models.h"
#include "tests/random.h"

namespace luminal {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t size = 512;

/// What a search timed whose schedules call the library, and how many of those were right.
std::pair<std::size_t, std::size_t> library_candidates(const SearchReport& report) {
  std::pair<std::size_t, std::size_t> counts;
  for (const auto& kernel : report.kernels)
    for (const auto& candidate : kernel.candidates) {
      if (candidate.schedule.find(" library=1") == std::string::npos) continue;
      ++counts.first;
      if (candidate.timing.outcome == Timing::Outcome::timed) ++counts.second;
    }
  return counts;
}

void expect_right(Graph& g, const Tensor& product, Executable exe) {
  exe.run();
  const auto result = exe.get<float>(product);
  test::Random random(3);
  for (int k = 0; k < 4096; ++k) {
    const auto r = random.between(0, size - 1), c = random.between(0, size - 1);
    const double expected = to_double(g.value_at(product, {r, c}));
    ASSERT_NEAR(result.at(static_cast<std::size_t>(r * size + c)), expected,
                1e-4 * std::max(1.0, std::abs(expected)));
  }
}

CompileOptions searching() {
  CompileOptions options;
  options.mode = Mode::search;
  options.budget = 60s;
  options.candidates = 16;
  options.cache = false;
  return options;
}

TEST(LibrarySearch, IsTimedWhereTheMachineHasIt) {
  Graph g;
  const Tensor product =
      g.named_tensor("x", {size, size}).matmul(g.named_tensor("y", {size, size})).retrieve();
  cli::fill(g);
  const auto without = compile(g, cpu::make_device({.blas = false}), searching());
  EXPECT_EQ(library_candidates(*without.search_report()).first, 0U);
  expect_right(g, product, without);
  const auto device = cpu::make_device();
  if (!device->machine().blas) GTEST_SKIP() << "this machine has no libopenblas that kernels can call";
  const auto with = compile(g, device, searching());
  const auto [tried, timed] = library_candidates(*with.search_report());
  EXPECT_GE(tried, 1U);
  EXPECT_EQ(timed, tried);
  expect_right(g, product, with);
}

}  // namespace
}  // namespace luminal
