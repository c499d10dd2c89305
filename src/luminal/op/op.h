#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

#include "luminal/op/dtype.h"

namespace luminal {

/// The whole vocabulary. What each means is in op_table.h, in words, and in apply.cpp, executable.
enum class Op : std::uint8_t {
  // clang-format off: one line a family
  // sources
  input, state, constant, iota, random,
  // unary, element by element
  exp2, log2, sin, cos, atan, erf, log1p, expm1, sqrt, recip, floor, round,
  // binary, element by element
  add, mul, div, idiv, mod, pow, max, less, equal, bit_and, bit_or, bit_xor, shift_left, shift_right,
  // other element-wise
  select, cast, bitcast,
  // reductions over the last axes
  reduce_sum, reduce_max, reduce_prod,
  // data-dependent movement, and scans
  gather, scatter, scatter_add, scan_sum, scan_max, scan_prod, sort,
  // structure
  contiguous, barrier, stop_gradient, print, diff, custom,
  // clang-format on
};
inline constexpr std::size_t op_count = static_cast<std::size_t>(Op::custom) + 1;

enum class OpKind : std::uint8_t {
  source,
  unary,
  binary,
  select,
  convert,
  reduce,
  gather,
  scatter,
  scan,
  sort,
  structure
};

/// Which dtypes an op takes.
enum class Domain : std::uint8_t { any, floating, number, integer, integer_or_bool };

struct OpRow {
  Op op;
  std::string_view name;  // as in the text format: "reduce_sum"
  OpKind kind;
  std::int8_t arity;    // number of data inputs; −1: any
  Domain domain;        // of its (data) inputs
  bool boolean_result;  // less, equal
  bool commutative;
  std::string_view meaning;  // one sentence, printed in docs
};

const OpRow& row(Op op);
inline std::string_view name(Op op) {
  return row(op).name;
}
inline OpKind kind(Op op) {
  return row(op).kind;
}
std::optional<Op> op_named(std::string_view name);
std::ostream& operator<<(std::ostream& out, Op op);
/// Whether `op` is defined on inputs of this dtype.
bool accepts(Op op, DType dtype);
/// "floating-point", "integer" …: for error messages.
std::string_view describe(Domain domain);

}  // namespace luminal
