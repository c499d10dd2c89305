#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "luminal/egraph/ast.h"
#include "luminal/support/text.h"

namespace luminal::egraph {

std::string print_real(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  static_cast<void>(error);
  std::string text(buffer.data(), end);
  const std::size_t mark = text.find('e');
  const int exponent = std::atoi(text.c_str() + mark + 1);
  const bool minus = text[0] == '-';
  std::string digits;
  for (const char c : text.substr(0, mark)) {
    if (c >= '0' && c <= '9') digits.push_back(c);
  }
  const int point = exponent + 1;  // where the decimal point stands among the digits
  std::string result;
  if (point <= 0) {
    result = "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  } else if (static_cast<std::size_t>(point) < digits.size()) {
    result = digits.substr(0, static_cast<std::size_t>(point)) + "." +
             digits.substr(static_cast<std::size_t>(point));
  } else {
    result = digits + std::string(static_cast<std::size_t>(point) - digits.size(), '0');
    // Numbers beyond 64-bit integers are unmistakable without a fraction.
    if (std::abs(value) < 9223372036854775808.0) result += ".0";
  }
  return minus ? "-" + result : result;
}

std::string print_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result.push_back('\\');
    result.push_back(c);
  }
  return result + "\"";
}

std::string print_literal(const Literal& literal) {
  if (std::holds_alternative<bool>(literal)) return std::get<bool>(literal) ? "true" : "false";
  if (std::holds_alternative<std::int64_t>(literal)) return std::to_string(std::get<std::int64_t>(literal));
  if (std::holds_alternative<double>(literal)) return print_real(std::get<double>(literal));
  if (std::holds_alternative<std::string>(literal)) return print_text(std::get<std::string>(literal));
  return "()";
}

std::string print_expr(const Expr& expr) {
  if (expr.kind == Expr::Kind::literal) return print_literal(expr.literal);
  if (expr.kind == Expr::Kind::variable) return expr.name;
  if (expr.kind == Expr::Kind::constant) return cat("#", expr.value);
  std::string text = "(" + expr.name;
  for (const Expr& argument : expr.arguments) text += " " + print_expr(argument);
  return text + ")";
}

std::string print_fact(const Fact& fact) {
  if (!fact.right) return print_expr(fact.left);
  return cat("(= ", print_expr(fact.left), " ", print_expr(*fact.right), ")");
}

}  // namespace luminal::egraph
