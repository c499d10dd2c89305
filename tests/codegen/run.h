#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "luminal/codegen/source.h"
#include "luminal/kernel/interpret.h"
#include "luminal/kernel/kernel.h"

/// Runs kernels as compiled C, in all the ways this machine has, against the kernel interpreter.
namespace luminal::test {

using kernel::Bytes;

struct Outcome {
  std::vector<Bytes> outputs;
  /// The kernel's report of a place outside of its axis.
  std::vector<std::int64_t> status = std::vector<std::int64_t>(4);
};

/// Prints, compiles and runs a kernel once on the given machine. Buffers are surrounded by guard bytes, and
/// scratch by more: a write outside fails the test.
Outcome run_compiled(const kernel::Kernel& kernel, const std::vector<Bytes>& inputs, const DimMap& dims,
                     const codegen::Machine& machine, bool system_compiler = false,
                     std::vector<Bytes> before = {}, const std::optional<DimMap>& hints = std::nullopt);
/// The same with a schedule of the caller's.
Outcome run_scheduled(const kernel::Kernel& kernel, const std::vector<Bytes>& inputs, const DimMap& dims,
                      const codegen::Schedule& schedule, bool system_compiler = false,
                      std::vector<Bytes> before = {});

/// Random elements for each input: small numbers for floats, the dtype's range cut to ±100 for integers, and
/// for inputs named in `places` whole numbers in [0, length).
std::vector<Bytes> random_inputs(const kernel::Kernel& kernel, const DimMap& dims, std::uint64_t seed,
                                 const std::vector<std::pair<std::uint32_t, std::int64_t>>& places = {});

struct Check {
  DimMap dims = {};
  std::uint64_t seed = 1;
  /// Largest accepted difference, relative to the larger of the value and 1; NaNs equal each other.
  double tolerance = 1e-5;
  std::vector<std::pair<std::uint32_t, std::int64_t>> places = {};
  std::vector<Bytes> inputs = {};
  std::vector<Bytes> before = {};
  /// The sizes that schedules are chosen for; by default those it runs with.
  std::optional<DimMap> hints = std::nullopt;
  std::vector<int> vector_bytes = {64, 32, 16, 0};
  std::vector<int> workers = {1, 64};
  /// The one schedule to run with, instead of the machines' default ones.
  std::optional<codegen::Schedule> schedule = std::nullopt;
  bool system_compiler = false;
};

/// Verifies the kernel and compares every output with the interpreter's, for vectors of several widths and
/// for one and many tasks.
void expect_as_interpreted(const kernel::Kernel& kernel, const Check& check = {});

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  for (std::size_t k = 0; k < values.size(); ++k)
    std::copy_n(reinterpret_cast<const std::byte*>(&values[k]), sizeof(T), bytes.data() + k * sizeof(T));
  return bytes;
}

}  // namespace luminal::test
