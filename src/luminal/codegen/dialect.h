#pragma once
#include <string>
#include <string_view>

#include "luminal/op/dtype.h"

namespace luminal::codegen {

/// What distinguishes the C-like languages that kernels are printed in. The printer asks here for every
/// spelling that is not plain C, so a language is one table.
struct Dialect {
  std::string_view name;
  /// Whether values of several lanes exist (`vector_size`); elsewhere schedules have one lane.
  bool vectors = false;
  /// What comes before a helper function, before a function that others in the same text call, and before
  /// the entry.
  std::string_view helper_qualifier;
  std::string_view function_qualifier;
  std::string_view entry_qualifier;
  /// Address spaces of arrays that all tasks see, and of a task's own scratch.
  std::string_view global_space;
  std::string_view scratch_space;
  /// Spelling of the fundamental types: of a float or an integer dtype.
  std::string_view (*type)(DType dtype) = nullptr;
  /// The text that everything else stands on: prototypes and macros of the language.
  std::string_view prologue;
};

/// C99 with the vector extensions of GCC and Clang; needs no headers. Symbols of the C library are resolved
/// by whoever loads it.
const Dialect& c_dialect();

}  // namespace luminal::codegen
