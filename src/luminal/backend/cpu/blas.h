#pragma once
#include <functional>
#include <string>

namespace luminal::cpu {

/// OpenBLAS, as far as programs call it: opened where it is there, never linked.
struct Blas {
  /// Its version, and the processor's kind that it found.
  std::string description;
  void* sgemm = nullptr;
  void* dgemm = nullptr;
};

/// Null where this machine has none that can be used: one of 32-bit integers, with threads of its own kind
/// rather than OpenMP's, which do not live through `fork`. Opened at the first call, and set to one thread
/// for the whole process: the tasks of a program are what runs at the same time.
const Blas* blas();

/// Sets the variables through which a program calls BLAS (see the helper "gemm" of codegen). `variable` gives
/// the address of one of the program's variables, null if it has none of that name. `Error` if a program
/// needs what is not there.
void connect_blas(const std::string& entry, const std::function<void*(const char* name)>& variable);

}  // namespace luminal::cpu
