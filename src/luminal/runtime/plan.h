#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/codegen/schedule.h"
#include "luminal/codegen/source.h"
#include "luminal/kernel/kernel.h"
#include "luminal/support/location.h"

namespace luminal::runtime {

using BufferId = Id<struct BufferTag>;

/// An array that a plan knows of.
struct BufferInfo {
  enum class Role : std::uint8_t {
    external,      // inputs, states and weights: set from outside, they stay between runs
    loaded,        // computed from weights when those are set, then stays
    intermediate,  // lives in the arena while it is needed
  };
  kernel::ArrayType type;
  Role role = Role::intermediate;
  /// Read after the run: its place in the arena is not used again.
  bool is_output = false;
  std::string name;
};

/// What a step on the host gets: row-major arrays in host memory, and the dims.
struct HostCall {
  std::span<const std::span<const std::byte>> inputs;
  std::span<const std::span<std::byte>> outputs;
  const DimMap& dims;
};

/// One thing to do: a kernel, a step on the host, or, with neither, a copy of one buffer to another.
struct Step {
  std::optional<std::size_t> kernel;
  std::function<void(const HostCall&)> host;
  bool is_copy() const { return !kernel && !host; }
  std::string name;
  std::vector<BufferId> inputs;
  std::vector<BufferId> outputs;
  int device = 0;
  /// The user's line that asked for it, for errors.
  Location where;
};

/// What must hold of the dims before a run.
struct Check {
  Expr holds;
  std::string problem;
  Location where;
};

struct PlannedKernel {
  kernel::Kernel kernel;
  codegen::Schedule schedule;
  codegen::Source source;
  std::string family;
  double estimated_seconds = 0;
  /// The source is the user's own: of the kernel only the arrays are known.
  bool is_given = false;
};

/// What an executable does, as data: buffers, kernels, and steps in order.
struct Plan {
  std::vector<BufferInfo> buffers;
  std::vector<PlannedKernel> kernels;
  std::vector<Step> load_steps;  // when weights are set
  std::vector<Step> steps;       // in every run
  std::vector<Check> checks;
  std::vector<std::string> dims;  // all that must have a value
};

/// Readable text; what `luminal compile --stage plan` prints.
std::string print(const Plan& plan);

/// Checks that every buffer is written before it is read, and sizes fit: `InternalError` otherwise.
void verify(const Plan& plan);

/// Places of the intermediates in one arena, for dims with values.
struct MemoryPlan {
  std::vector<std::size_t> offsets;  // by buffer; of intermediates only
  std::vector<std::size_t> bytes;    // by buffer
  std::size_t arena = 0;             // bytes in all
};
/// Buffers that live at the same time do not overlap; large ones are placed first.
MemoryPlan plan_memory(const Plan& plan, const DimMap& dims);

}  // namespace luminal::runtime
