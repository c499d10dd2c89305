#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "luminal/egraph/ast.h"
#include "luminal/egraph/builtin.h"
#include "luminal/egraph/builtin_helpers.h"
#include "luminal/support/checked.h"

namespace luminal::egraph {
namespace {
using builtin::add;
using builtin::Holds;
using Int = std::int64_t;

bool divides_badly(Int a, Int b) {
  return b == 0 || (a == std::numeric_limits<Int>::min() && b == -1);
}

// Rust's cast: towards zero, clamped, NaN is 0.
Int truncated(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9223372036854775808.0) return std::numeric_limits<Int>::max();
  if (value < -9223372036854775808.0) return std::numeric_limits<Int>::min();
  return static_cast<Int>(value);
}

// A total order: NaN equals itself and is greater than everything else.
bool real_less(double a, double b) {
  return std::isnan(b) ? !std::isnan(a) : a < b;
}

Int count_matches(const std::string& text, const std::string& part) {
  if (part.empty()) {  // once before every character, and once at the end
    Int characters = 1;
    for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
    return characters;
  }
  Int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  if (from.empty()) {
    std::string result = to;
    for (std::size_t i = 0; i < text.size(); ++i) {
      result.push_back(text[i]);
      const bool boundary = i + 1 == text.size() || (static_cast<unsigned char>(text[i + 1]) & 0xC0) != 0x80;
      if (boundary) result += to;
    }
    return result;
  }
  std::string result;
  std::size_t start = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, start)) {
    result.append(text, start, at - start).append(to);
    start = at + from.size();
  }
  return result.append(text, start);
}

void add_bit_primitives(Database& database) {
  add<Int, Int>(database, "&", [](Int a, Int b) { return a & b; });
  add<Int, Int>(database, "|", [](Int a, Int b) { return a | b; });
  add<Int, Int>(database, "^", [](Int a, Int b) { return a ^ b; });
  add<Int, Int>(database, "<<", [](Int a, Int b) -> std::optional<Int> {
    if (b < 0 || b >= 64) return std::nullopt;
    return static_cast<Int>(static_cast<std::uint64_t>(a) << b);
  });
  add<Int, Int>(database, ">>", [](Int a, Int b) -> std::optional<Int> {
    if (b < 0 || b >= 64) return std::nullopt;
    return a >> b;
  });
  add<Int>(database, "not-i64", [](Int a) { return ~a; });
  add<Int>(database, "log2", [](Int a) -> std::optional<Int> {
    if (a <= 0) return std::nullopt;
    return static_cast<Int>(std::bit_width(static_cast<std::uint64_t>(a))) - 1;
  });
}

}  // namespace

void add_integer_primitives(Database& database) {
  add<Int, Int>(database, "+", checked_add);
  add<Int, Int>(database, "-", checked_sub);
  add<Int, Int>(database, "*", checked_mul);
  add<Int, Int>(database, "/", [](Int a, Int b) -> std::optional<Int> {
    if (divides_badly(a, b)) return std::nullopt;
    return a / b;
  });
  add<Int, Int>(database, "%", [](Int a, Int b) -> std::optional<Int> {
    if (divides_badly(a, b)) return std::nullopt;
    return a % b;
  });
  add_bit_primitives(database);
  add<Int>(database, "abs", [](Int a) -> std::optional<Int> {
    if (a == std::numeric_limits<Int>::min()) return std::nullopt;
    return std::abs(a);
  });
  builtin::add_comparisons<Int>(database);
  builtin::add_boolean_comparisons<Int>(database);
  builtin::add_extremes<Int>(database);
  add<Int>(database, "to-string", [](Int a) { return std::to_string(a); });
  add<Int>(database, "to-f64", [](Int a) { return static_cast<double>(a); });
  add<std::string, std::string>(database, "count-matches", count_matches);
}

void add_real_primitives(Database& database) {
  add<double, double>(database, "+", [](double a, double b) { return a + b; });
  add<double, double>(database, "-", [](double a, double b) { return a - b; });
  add<double, double>(database, "*", [](double a, double b) { return a * b; });
  add<double, double>(database, "/", [](double a, double b) -> std::optional<double> {
    if (b == 0.0) return std::nullopt;
    return a / b;
  });
  add<double, double>(database, "%", [](double a, double b) -> std::optional<double> {
    if (b == 0.0) return std::nullopt;
    return std::fmod(a, b);
  });
  add<double, double>(database, "^", [](double a, double b) { return std::pow(a, b); });
  add<double>(database, "neg", [](double a) { return -a; });
  add<double>(database, "abs", [](double a) { return std::fabs(a); });
  add<double>(database, "exp", [](double a) { return std::exp(a); });
  add<double>(database, "log", [](double a) { return std::log(a); });
  add<double>(database, "sqrt", [](double a) { return std::sqrt(a); });
  add<double, double>(database, "<", [](double a, double b) { return Holds{real_less(a, b)}; });
  add<double, double>(database, ">", [](double a, double b) { return Holds{real_less(b, a)}; });
  add<double, double>(database, "<=", [](double a, double b) { return Holds{!real_less(b, a)}; });
  add<double, double>(database, ">=", [](double a, double b) { return Holds{!real_less(a, b)}; });
  add<double, double>(database, "min", [](double a, double b) { return real_less(b, a) ? b : a; });
  add<double, double>(database, "max", [](double a, double b) { return real_less(b, a) ? a : b; });
  add<double>(database, "to-i64", truncated);
  add<double>(database, "to-string", print_real);
}

void add_text_primitives(Database& database) {
  Primitive concatenate;
  concatenate.name = "+";
  concatenate.inputs = {*database.find_sort("String")};
  concatenate.output = concatenate.inputs[0];
  concatenate.repeated = 1;
  concatenate.body = [](Atoms& atoms, std::span<const Value> arguments) -> std::optional<Value> {
    std::string result;
    for (const Value argument : arguments) result += atoms.text_of(argument);
    return atoms.text(std::move(result));
  };
  database.add_primitive(std::move(concatenate));
  add<std::string, std::string, std::string>(database, "replace", replaced);
}

void add_boolean_primitives(Database& database) {
  add<bool>(database, "not", [](bool a) { return !a; });
  add<bool, bool>(database, "xor", [](bool a, bool b) { return a != b; });
  add<bool, bool>(database, "=>", [](bool a, bool b) { return !a || b; });
  for (const char* name : {"guard", "filter"}) add<bool>(database, name, [](bool a) { return Holds{a}; });
  add<bool, bool>(database, "and", [](bool a, bool b) { return a && b; });
  Primitive any;
  any.name = "or";
  any.inputs = {*database.find_sort("bool")};
  any.output = any.inputs[0];
  any.repeated = 1;
  any.body = [](Atoms& atoms, std::span<const Value> arguments) -> std::optional<Value> {
    return atoms.boolean(std::any_of(arguments.begin(), arguments.end(), [](Value a) { return a != 0; }));
  };
  database.add_primitive(std::move(any));
}

void add_generic_primitives(Database& database) {
  const auto add_any = [&](const char* name, SortId output, auto function) {
    Primitive primitive;
    primitive.name = name;
    primitive.inputs = {any_sort, any_sort};
    primitive.output = output;
    primitive.body = [function](Atoms&, std::span<const Value> arguments) -> std::optional<Value> {
      return function(arguments[0], arguments[1]);
    };
    database.add_primitive(std::move(primitive));
  };
  const SortId unit = *database.find_sort("Unit");
  const auto when = [](bool holds) { return holds ? std::optional<Value>(0) : std::nullopt; };
  add_any("!=", unit, [when](Value a, Value b) { return when(a != b); });
  add_any("value-eq", unit, [when](Value a, Value b) { return when(a == b); });
  add_any("bool-!=", *database.find_sort("bool"), [](Value a, Value b) { return Value{a != b ? 1U : 0U}; });
  add_any("ordering-min", any_sort, [](Value a, Value b) { return std::min(a, b); });
  add_any("ordering-max", any_sort, [](Value a, Value b) { return std::max(a, b); });
}

}  // namespace luminal::egraph
