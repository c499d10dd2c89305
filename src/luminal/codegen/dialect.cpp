#include "luminal/codegen/dialect.h"

#include "luminal/support/error.h"

namespace luminal::codegen {
namespace {

std::string_view c_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "double";
    case DType::f32:
      return "float";
    case DType::i64:
      return "__INT64_TYPE__";
    case DType::i32:
      return "__INT32_TYPE__";
    case DType::i16:
      return "__INT16_TYPE__";
    case DType::i8:
      return "__INT8_TYPE__";
    case DType::u64:
      return "__UINT64_TYPE__";
    case DType::u32:
      return "__UINT32_TYPE__";
    case DType::u16:
      return "__UINT16_TYPE__";
    case DType::u8:
      return "__UINT8_TYPE__";
    default:
      throw InternalError("dialect: only numbers that C has are fundamental types");
  }
}

constexpr std::string_view c_prologue = R"(#ifndef __has_builtin
#define __has_builtin(x) 0
#endif
#define CONVERT_1(x, type) ((type)(x))
)";

constexpr Dialect c{
    .name = "c",
    .vectors = true,
    .helper_qualifier = "static inline __attribute__((always_inline, unused))",
    .function_qualifier = "static __attribute__((noinline))",
    .entry_qualifier = "",
    .global_space = "",
    .scratch_space = "",
    .type = c_type,
    .prologue = c_prologue,
};

}  // namespace

const Dialect& c_dialect() {
  return c;
}

}  // namespace luminal::codegen
