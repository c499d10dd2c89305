#include "luminal/codegen/helpers.h"

#include <algorithm>
#include <array>

#include "luminal/codegen/helper_text.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

std::string type_name(DType dtype) {
  const bool is_loop_name = dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32;
  return cat(dtype, is_loop_name ? "_t" : "");
}

namespace {

constexpr std::array fundamental = {DType::f64, DType::f32, DType::i64, DType::i32, DType::i16,
                                    DType::i8,  DType::u64, DType::u32, DType::u16, DType::u8};

std::string suffix(DType dtype, int lanes) {
  return lanes == 1 ? std::string(name(dtype)) : cat(dtype, "x", lanes);
}

std::string vector_types(int lanes) {
  std::string text;
  for (const auto dtype : fundamental) {
    const auto bytes = static_cast<int>(byte_size(dtype)) * lanes;
    text += cat("typedef ", dtype, " ", dtype, "x", lanes, " __attribute__((vector_size(", bytes, ")));\n");
    text += cat("typedef ", dtype, " ", dtype, "x", lanes, "_u __attribute__((vector_size(", bytes,
                "), aligned(", byte_size(dtype), "), may_alias));\n");
  }
  return text;
}

/// Replaces the placeholders of `HelperText`.
std::string instantiate(std::string_view body, DType dtype, int lanes, std::string_view qualifier) {
  std::string text;
  for (std::size_t k = 0; k < body.size(); ++k) {
    if (body[k] != '$' || k + 1 == body.size()) {
      text += body[k];
      continue;
    }
    switch (body[++k]) {
      case 'T':
        text += suffix(dtype, lanes);
        break;
      case 'E':
        text += name(dtype);
        break;
      case 'I':
        text += suffix(signed_of(dtype), lanes);
        break;
      case 'U':
        text += suffix(unsigned_of(dtype), lanes);
        break;
      case 'S':  // the unsigned element
        text += name(unsigned_of(dtype));
        break;
      case 'D':  // f64 of as many lanes
        text += suffix(DType::f64, lanes);
        break;
      case 'B':  // a bool of as many lanes
        text += suffix(DType::u8, lanes);
        break;
      case 'L':
        text += std::to_string(lanes);
        break;
      case 'X':
        text += lanes == 1 ? "" : cat("x", lanes);
        break;
      case 'C':
        text += lanes == 1 ? "CONVERT_1" : "__builtin_convertvector";
        break;
      case 'R':
        for (int lane = 0; lane < lanes; ++lane) text += lane == 0 ? "x" : ", x";
        break;
      case 'Q':
        text += qualifier;
        break;
      case 'W':  // the builtins' suffix
        text += dtype == DType::f32 ? "f" : "";
        break;
      default:
        throw InternalError(cat("helpers: $", body[k], " is not a placeholder"));
    }
  }
  return text;
}

}  // namespace

DType register_dtype(DType dtype) {
  if (is_boolean(dtype)) return DType::u8;
  return compute_dtype(dtype);
}

DType storage_dtype(DType dtype) {
  if (is_boolean(dtype)) return DType::u8;
  if (!is_floating(dtype) || byte_size(dtype) >= 4) return dtype;
  return byte_size(dtype) == 2 ? DType::u16 : DType::u8;
}

DType signed_of(DType dtype) {
  constexpr std::array by_size = {DType::i8,  DType::i8,  DType::i16, DType::i32, DType::i32,
                                  DType::i32, DType::i32, DType::i32, DType::i64};
  return by_size[byte_size(dtype)];
}

DType unsigned_of(DType dtype) {
  constexpr std::array by_size = {DType::u8,  DType::u8,  DType::u16, DType::u32, DType::u32,
                                  DType::u32, DType::u32, DType::u32, DType::u64};
  return by_size[byte_size(dtype)];
}

std::string Helpers::type(DType dtype, int lanes) {
  if (lanes == 1) return type_name(dtype);
  widths_.insert(lanes);
  return suffix(dtype, lanes);
}

std::string Helpers::use(std::string_view base, DType dtype, int lanes) {
  if (lanes > 1) widths_.insert(lanes);
  std::string function = cat(base, "_", suffix(dtype, lanes));
  if (done_.count(function) != 0) return function;
  const HelperText& helper = helper_named(base, dtype, lanes);
  for (std::string_view rest = helper.needs; !rest.empty();) {
    const auto space = rest.find(' ');
    std::string_view callee = rest.substr(0, space);
    rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
    const bool scalar = callee.starts_with('.');  // ".sin": the same function on one lane
    if (scalar) callee.remove_prefix(1);
    if (callee.starts_with("luminal_")) {
      use(callee);
    } else if (const auto colon = callee.find(':'); colon != std::string_view::npos) {
      use(callee.substr(0, colon), *dtype_named(callee.substr(colon + 1)), scalar ? 1 : lanes);
    } else {
      use(callee, dtype, scalar ? 1 : lanes);
    }
  }
  add(function, helper.body, dtype, lanes);
  return function;
}

std::string Helpers::use(std::string_view function) {
  if (done_.count(std::string(function)) == 0)
    add(std::string(function), helper_named(function, DType::f32, 1).body, DType::f32, 1);
  return std::string(function);
}

void Helpers::add(const std::string& function, std::string_view body, DType dtype, int lanes) {
  done_.insert(function);
  texts_.emplace_back(function, instantiate(body, dtype, lanes, dialect_.helper_qualifier));
}

void Helpers::call(Function function) {
  if (std::none_of(functions_.begin(), functions_.end(),
                   [&](const Function& known) { return known.head == function.head; }))
    functions_.push_back(std::move(function));
}

void Helpers::merge(const Helpers& other) {
  widths_.insert(other.widths_.begin(), other.widths_.end());
  for (const auto& [name, text] : other.texts_)
    if (done_.insert(name).second) texts_.emplace_back(name, text);
}

std::string Helpers::preamble() const {
  std::string text(dialect_.prologue);
  for (const auto dtype : fundamental) {
    text += cat("typedef ", dialect_.type(dtype), " ", dtype, ";\n");
    if (type_name(dtype) != name(dtype)) text += cat("typedef ", dtype, " ", type_name(dtype), ";\n");
  }
  for (const int lanes : widths_) text += vector_types(lanes);
  for (const auto& [name, helper] : texts_) text += helper;
  return text;
}

namespace {

/// Each function once, callees first.
template <typename F>
void visit(const Function& function, std::set<std::string>& seen, F&& found) {
  if (!seen.insert(function.head).second) return;
  for (const auto& callee : function.calls->functions()) visit(callee, seen, found);
  found(function);
}

}  // namespace

std::string program(const Function& entry, const Dialect& dialect) {
  Helpers helpers(dialect);
  std::string functions;
  std::set<std::string> seen;
  visit(entry, seen, [&](const Function& function) {
    helpers.merge(*function.calls);
    if (function.head != entry.head) functions += cat(dialect.function_qualifier, " ");
    functions += cat(function.head, " ", function.body);
  });
  return helpers.preamble() + functions;
}

std::vector<std::string> units(const Function& entry) {
  std::vector<std::string> result;
  std::set<std::string> seen;
  visit(entry, seen, [&](const Function& function) {
    std::string text = function.calls->preamble();
    for (const auto& callee : function.calls->functions()) text += cat(callee.head, ";\n");
    result.push_back(cat(text, function.head, " ", function.body));
  });
  return result;
}

}  // namespace luminal::codegen
