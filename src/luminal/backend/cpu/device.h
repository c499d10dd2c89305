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
};

/// This machine's processor: C text, compiled here, on a pool of threads. `Error` if there is no compiler.
std::shared_ptr<runtime::Device> make_device(const CpuOptions& options = {});

}  // namespace luminal::cpu
