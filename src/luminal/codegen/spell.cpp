#include "luminal/codegen/spell.h"

#include <cmath>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {
namespace {

bool is_small(DType dtype) {
  return is_floating(dtype) && byte_size(dtype) < 4;
}

std::string call(Helpers& helpers, std::string_view function, DType dtype, int lanes,
                 const std::vector<std::string>& arguments) {
  return cat(helpers.use(function, dtype, lanes), "(", join(arguments), ")");
}

/// To another fundamental type, as C converts.
std::string converted(Helpers& helpers, DType to, const std::string& argument, int lanes) {
  const std::string type = helpers.type(to, lanes);
  if (lanes == 1) return cat("((", type, ")(", argument, "))");
  return cat("__builtin_convertvector(", argument, ", ", type, ")");
}

std::string spell_comparison(Helpers& helpers, std::string_view symbol, DType held,
                             const std::vector<std::string>& a, int lanes) {
  const std::string test = cat("(", a[0], symbol, a[1], ")");
  if (lanes == 1) return cat("((u8)", test, ")");
  return cat(helpers.use("truth", held, lanes), "((", helpers.type(unsigned_of(held), lanes), ")", test, ")");
}

/// Integers wrap: C's arithmetic on unsigned ones does. One lane computes in 64 bits, since C would promote
/// short ones to int.
std::string spell_wrapping(Helpers& helpers, std::string_view symbol, DType held,
                           const std::vector<std::string>& a, int lanes) {
  const std::string wide = lanes == 1 ? "u64" : helpers.type(unsigned_of(held), lanes);
  return cat("((", helpers.type(held, lanes), ")((", wide, ")(", a[0], ")", symbol, "(", wide, ")(", a[1],
             ")))");
}

std::string spell_boolean(Op op, const std::vector<std::string>& a) {
  switch (op) {
    case Op::add:
    case Op::max:
    case Op::bit_or:
      return cat("(", a[0], " | ", a[1], ")");
    case Op::mul:
    case Op::bit_and:
      return cat("(", a[0], " & ", a[1], ")");
    case Op::bit_xor:
      return cat("(", a[0], " ^ ", a[1], ")");
    default:
      throw InternalError(cat("codegen: ", op, " is not an op on bool"));
  }
}

std::string spell_integer(Helpers& helpers, Op op, DType held, const std::vector<std::string>& a, int lanes) {
  switch (op) {
    case Op::add:
      return spell_wrapping(helpers, " + ", held, a, lanes);
    case Op::mul:
      return spell_wrapping(helpers, " * ", held, a, lanes);
    case Op::max:
      return call(helpers, "imax", held, lanes, a);
    case Op::idiv:
      return call(helpers, "idiv", held, lanes, a);
    case Op::mod:
      return call(helpers, "imod", held, lanes, a);
    case Op::pow:
      return call(helpers, "ipow", held, lanes, a);
    case Op::bit_and:
      return spell_wrapping(helpers, " & ", held, a, lanes);
    case Op::bit_or:
      return spell_wrapping(helpers, " | ", held, a, lanes);
    case Op::bit_xor:
      return spell_wrapping(helpers, " ^ ", held, a, lanes);
    case Op::shift_left:
    case Op::shift_right:
      return call(helpers, name(op), held, lanes, a);
    default:
      throw InternalError(cat("codegen: ", op, " is not an op on integers"));
  }
}

std::string spell_float(Helpers& helpers, Op op, DType held, const std::vector<std::string>& a, int lanes) {
  switch (op) {
    case Op::add:
      return cat("(", a[0], " + ", a[1], ")");
    case Op::mul:
      return cat("(", a[0], " * ", a[1], ")");
    case Op::div:
      return cat("(", a[0], " / ", a[1], ")");
    case Op::recip:
      return cat("(", held == DType::f32 ? "1.0f" : "1.0", " / ", a[0], ")");
    case Op::idiv:
      return call(helpers, "trunc", held, lanes, {cat(a[0], " / ", a[1])});
    case Op::mod:
      return call(helpers, "fmod", held, lanes, a);
    default:
      return call(helpers, name(op), held, lanes, a);
  }
}

}  // namespace

std::string spell_constant(const Scalar& value) {
  const DType held = register_dtype(value.dtype);
  if (is_integer(held)) {
    const Scalar wide = is_boolean(value.dtype) ? convert(value, DType::u64) : convert(value, DType::i64);
    return cat("((", type_name(held), ")", wide.bits, "u)");
  }
  const double number = to_double(value);
  const char* suffix = held == DType::f32 ? "f" : "";
  if (std::isnan(number)) return cat("__builtin_nan", suffix, "(\"\")");
  if (std::isinf(number)) return cat("(", number < 0 ? "-" : "", "__builtin_inf", suffix, "())");
  std::string digits = held == DType::f32 ? shortest(static_cast<float>(number)) : shortest(number);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return cat("(", digits, suffix, ")");
}

std::string spell_round(Helpers& helpers, DType dtype, const std::string& argument, int lanes) {
  if (!is_small(dtype)) return argument;
  return call(helpers, cat("round_", dtype), DType::f32, lanes, {argument});
}

std::string spell_op(Helpers& helpers, Op op, DType dtype, const std::vector<std::string>& arguments,
                     int lanes) {
  const DType held = register_dtype(dtype);
  if (op == Op::select) return call(helpers, "select", held, lanes, arguments);
  if (op == Op::less) return spell_comparison(helpers, " < ", held, arguments, lanes);
  if (op == Op::equal) return spell_comparison(helpers, " == ", held, arguments, lanes);
  if (is_boolean(dtype)) return spell_boolean(op, arguments);
  if (is_integer(dtype)) return spell_integer(helpers, op, held, arguments, lanes);
  const std::string text = spell_float(helpers, op, held, arguments, lanes);
  const bool exact = op == Op::max || op == Op::floor || op == Op::round;
  return exact ? text : spell_round(helpers, dtype, text, lanes);
}

std::string spell_cast(Helpers& helpers, DType from, DType to, const std::string& argument, int lanes) {
  if (from == to) return argument;
  const DType held = register_dtype(from);
  if (is_boolean(to)) {
    const std::string zero = lanes == 1 ? "0" : cat("(", helpers.type(held, lanes), "){0}");
    return spell_comparison(helpers, " != ", held, {argument, zero}, lanes);
  }
  if (is_floating(from)) {
    if (to == DType::f64 || (to == DType::f32 && from == DType::f64))
      return converted(helpers, to, argument, lanes);
    if (is_floating(to)) {
      if (from == DType::f64)
        return spell_round(helpers, to, call(helpers, "odd_f64", DType::f32, lanes, {argument}), lanes);
      return spell_round(helpers, to, argument, lanes);
    }
    const std::string wide = from == DType::f64 ? argument : converted(helpers, DType::f64, argument, lanes);
    return call(helpers, "from_f64", to, lanes, {wide});
  }
  if (is_small(to) && byte_size(from) >= 4) {
    const std::string wide = byte_size(from) == 4
                                 ? converted(helpers, DType::f64, argument, lanes)
                                 : call(helpers, cat("odd_", from), DType::f64, lanes, {argument});
    return spell_round(helpers, to, call(helpers, "odd_f64", DType::f32, lanes, {wide}), lanes);
  }
  return spell_round(helpers, to, converted(helpers, register_dtype(to), argument, lanes), lanes);
}

std::string spell_unpack(Helpers& helpers, DType dtype, const std::string& stored, int lanes) {
  if (is_boolean(dtype)) return spell_cast(helpers, DType::u8, DType::boolean, stored, lanes);
  if (!is_small(dtype)) return stored;
  return call(helpers, cat("unpack_", dtype), DType::f32, lanes, {stored});
}

std::string spell_pack(Helpers& helpers, DType dtype, const std::string& value, int lanes) {
  if (!is_small(dtype)) return value;
  return call(helpers, cat("pack_", dtype), DType::f32, lanes, {value});
}

std::string spell_bitcast(Helpers& helpers, DType from, DType to, const std::string& argument, int lanes) {
  if (from == to) return argument;
  std::string bits = spell_pack(helpers, from, argument, lanes);
  const DType stored = storage_dtype(from);
  if (is_floating(stored)) {
    helpers.use("core", stored, lanes);
    bits = cat("bits_", helpers.type(stored, lanes), "(", bits, ")");
  }
  const DType target = storage_dtype(to);
  if (is_floating(target)) {
    helpers.use("core", target, lanes);
    return cat("real_", helpers.type(target, lanes), "((", helpers.type(unsigned_of(target), lanes), ")",
               bits, ")");
  }
  return spell_unpack(helpers, to, cat("((", helpers.type(target, lanes), ")", bits, ")"), lanes);
}

std::string spell_combine(Helpers& helpers, kernel::Monoid monoid, DType dtype, const std::string& a,
                          const std::string& b, int lanes) {
  const DType held = is_boolean(dtype) ? dtype : compute_dtype(dtype);
  const Op op = monoid == kernel::Monoid::max ? Op::max : monoid == kernel::Monoid::prod ? Op::mul : Op::add;
  return spell_op(helpers, op, held, {a, b}, lanes);
}

Scalar neutral_of(kernel::Monoid monoid, DType dtype) {
  const DType held = is_boolean(dtype) ? dtype : compute_dtype(dtype);
  if (monoid == kernel::Monoid::max) return convert(neutral(Op::reduce_max, dtype), held);
  return neutral(monoid == kernel::Monoid::prod ? Op::reduce_prod : Op::reduce_sum, held);
}

}  // namespace luminal::codegen
