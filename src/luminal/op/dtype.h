#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace luminal {

// clang-format off: one line
enum class DType : std::uint8_t { f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i16, i8, u64, u32, u16, u8, boolean };
// clang-format on

inline constexpr std::size_t dtype_count = 15;
inline constexpr std::array<DType, dtype_count> all_dtypes = {
    DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::i64,    DType::i32,
    DType::i16, DType::i8,  DType::u64, DType::u32,  DType::u16,    DType::u8,     DType::boolean};

enum class DTypeKind : std::uint8_t { floating, signed_integer, unsigned_integer, boolean };

struct DTypeRow {
  DType dtype;
  std::string_view name;  // "f32", "bool"
  DTypeKind kind;
  std::uint8_t bytes;
};

const DTypeRow& row(DType dtype);
inline std::string_view name(DType dtype) {
  return row(dtype).name;
}
inline std::size_t byte_size(DType dtype) {
  return row(dtype).bytes;
}
inline bool is_floating(DType dtype) {
  return row(dtype).kind == DTypeKind::floating;
}
inline bool is_boolean(DType dtype) {
  return dtype == DType::boolean;
}
inline bool is_integer(DType dtype) {
  return !is_floating(dtype) && !is_boolean(dtype);
}
std::optional<DType> dtype_named(std::string_view name);
std::ostream& operator<<(std::ostream& out, DType dtype);

/// The dtype of an operation on both, as PyTorch's `torch.promote_types`. What PyTorch refuses gives nullopt:
/// an 8-bit float with any other dtype, and u16, u32 or u64 with any other integer or bool.
std::optional<DType> promote(DType a, DType b);
/// The dtype of sums and products of this: as PyTorch, integers and bool give i64 (unsigned ones too).
DType accumulated(DType dtype);
/// The dtype in which a backend computes: f16, bf16 and the 8-bit floats in f32, all others in themselves.
DType compute_dtype(DType dtype);

}  // namespace luminal
