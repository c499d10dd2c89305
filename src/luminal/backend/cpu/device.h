#pragma once
#include <memory>
#include <optional>

#include "luminal/backend/cpu/jit.h"
#include "luminal/runtime/device.h"

namespace luminal::cpu {

struct CpuOptions {
  /// 0: as many as the machine has.
  int workers = 0;
  std::optional<Compiler> compiler = std::nullopt;
  /// Bytes that one executable may take; 0: what the machine has.
  std::size_t memory_limit = 0;
  /// Whether searches may choose calls of OpenBLAS, if the machine has it.
  bool blas = true;
  /// For tests, and for kernels of one's own: every buffer has memory of its own that ends (or, every other
  /// one, begins) at a page that cannot be touched. A kernel that reads or writes outside is stopped by the
  /// system there, instead of giving wrong numbers somewhere else.
  bool guarded = false;
};

/// This machine's processor: C text, compiled here, on a pool of threads. `Error` if there is no compiler.
std::shared_ptr<runtime::Device> make_device(const CpuOptions& options = {});

}  // namespace luminal::cpu
