#include "luminal/op/dtype.h"

#include <algorithm>

namespace luminal {
namespace {

constexpr std::array<DTypeRow, dtype_count> table = {{
    {DType::f64, "f64", DTypeKind::floating, 8},
    {DType::f32, "f32", DTypeKind::floating, 4},
    {DType::f16, "f16", DTypeKind::floating, 2},
    {DType::bf16, "bf16", DTypeKind::floating, 2},
    {DType::f8e4m3, "f8e4m3", DTypeKind::floating, 1},
    {DType::f8e5m2, "f8e5m2", DTypeKind::floating, 1},
    {DType::i64, "i64", DTypeKind::signed_integer, 8},
    {DType::i32, "i32", DTypeKind::signed_integer, 4},
    {DType::i16, "i16", DTypeKind::signed_integer, 2},
    {DType::i8, "i8", DTypeKind::signed_integer, 1},
    {DType::u64, "u64", DTypeKind::unsigned_integer, 8},
    {DType::u32, "u32", DTypeKind::unsigned_integer, 4},
    {DType::u16, "u16", DTypeKind::unsigned_integer, 2},
    {DType::u8, "u8", DTypeKind::unsigned_integer, 1},
    {DType::boolean, "bool", DTypeKind::boolean, 1},
}};

consteval bool row_k_describes_dtype_k() {
  for (std::size_t k = 0; k < dtype_count; ++k) {
    if (table[k].dtype != static_cast<DType>(k) || all_dtypes[k] != table[k].dtype) return false;
    if (table[k].name.empty()) return false;
  }
  return true;
}
static_assert(row_k_describes_dtype_k(), "the table holds one row a dtype, in the order of the enum");

bool is_signed(DType dtype) {
  return row(dtype).kind == DTypeKind::signed_integer;
}

std::optional<DType> promote_floats(DType a, DType b) {
  if (byte_size(a) == 1 || byte_size(b) == 1) return std::nullopt;
  if (byte_size(a) == 2 && byte_size(b) == 2) return DType::f32;  // f16 with bf16: neither holds the other
  return byte_size(a) > byte_size(b) ? a : b;
}

std::optional<DType> promote_integers(DType a, DType b) {
  if (is_signed(a) && is_signed(b)) return byte_size(a) > byte_size(b) ? a : b;
  if (is_signed(a) && b == DType::u8) return byte_size(a) == 1 ? DType::i16 : a;
  if (is_signed(b) && a == DType::u8) return byte_size(b) == 1 ? DType::i16 : b;
  return std::nullopt;
}

/// Of a float or an integer with an operand of a lesser kind: the float or integer, if PyTorch mixes it with
/// others.
std::optional<DType> unless_isolated(DType dtype) {
  if (is_floating(dtype) && byte_size(dtype) == 1) return std::nullopt;
  const bool wide_unsigned = row(dtype).kind == DTypeKind::unsigned_integer && byte_size(dtype) > 1;
  if (wide_unsigned) return std::nullopt;
  return dtype;
}

}  // namespace

const DTypeRow& row(DType dtype) {
  return table[static_cast<std::size_t>(dtype)];
}

std::optional<DType> dtype_named(std::string_view name) {
  const auto* found = std::find_if(table.begin(), table.end(), [&](const auto& r) { return r.name == name; });
  if (found == table.end()) return std::nullopt;
  return found->dtype;
}

std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << name(dtype);
}

std::optional<DType> promote(DType a, DType b) {
  if (a == b) return a;
  if (is_floating(a) && is_floating(b)) return promote_floats(a, b);
  if (is_floating(a)) return unless_isolated(a);
  if (is_floating(b)) return unless_isolated(b);
  if (is_boolean(a)) return unless_isolated(b);
  if (is_boolean(b)) return unless_isolated(a);
  return promote_integers(a, b);
}

DType accumulated(DType dtype) {
  return is_floating(dtype) ? dtype : DType::i64;
}

DType compute_dtype(DType dtype) {
  return is_floating(dtype) && byte_size(dtype) < 4 ? DType::f32 : dtype;
}

}  // namespace luminal
