#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/codegen/dialect.h"
#include "luminal/codegen/schedule.h"
#include "luminal/kernel/kernel.h"

/// Kernels as text. No device, no files: a function from a kernel, a dialect and a schedule to a program.
namespace luminal::codegen {

/// A text in pieces that can be compiled apart and linked: programs of other schedules, and of other kernels,
/// have some of them, too.
class Units {
 public:
  Units() = default;
  Units(std::vector<std::string> pieces, std::string_view text);
  /// None if they are the pieces of another text, or there are none: that text is compiled whole then.
  std::span<const std::string> of(std::string_view text) const;

 private:
  std::vector<std::string> pieces_;
  std::uint64_t text_ = 0;  // its hash
};

/// One kernel's program: a task body that any worker may run, in any order, for each task in [0, tasks).
struct Source {
  std::string text;
  Units units = {};
  std::string entry;
  /// How many tasks there are, and the bytes of scratch that one running task needs (64-byte aligned): both
  /// of the dims.
  Expr tasks;
  Expr scratch_bytes;
  /// The dims in the order of the entry's argument.
  std::vector<std::string> dims;
};

/// Prints a kernel. Every kernel has a program, whatever its body, and every schedule gives the same results
/// (but for the order of reductions); a schedule that does not fit the kernel is an `InternalError`.
///
/// In C the entry is `void NAME(int64_t task, void* const* buffers, const int64_t* dims, void* scratch,
/// int64_t* status)`: the buffers are the inputs, then the outputs. A place outside of its axis is reported
/// as status[0] = 1, and [1] the Position's value id, [2] the place, [3] the axis' length.
Source print_kernel(const kernel::Kernel& kernel, const Dialect& dialect, const Schedule& schedule,
                    std::string_view entry = "luminal_kernel");

}  // namespace luminal::codegen
