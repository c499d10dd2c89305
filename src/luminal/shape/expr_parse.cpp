// Infix text to expressions, by precedence climbing.
#include <charconv>
#include <limits>

#include "luminal/shape/expr_node.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace detail {
namespace {

using Declared = std::map<std::string, Expr, std::less<>>;
using Build = Expr (*)(const Expr&, const Expr&);

struct Infix {
  std::string_view symbol;
  int strength;
  Build build;
};

// Longer symbols before their prefixes.
const Infix infixes[] = {
    {"||", 1, [](const Expr& a, const Expr& b) { return Expr::logical_or(a, b); }},
    {"&&", 2, [](const Expr& a, const Expr& b) { return Expr::logical_and(a, b); }},
    {"<=", 3, [](const Expr& a, const Expr& b) { return Expr::less_equal(a, b); }},
    {">=", 3, [](const Expr& a, const Expr& b) { return Expr::less_equal(b, a); }},
    {"==", 3, [](const Expr& a, const Expr& b) { return Expr::equal(a, b); }},
    {"!=", 3, [](const Expr& a, const Expr& b) { return Expr::logical_not(Expr::equal(a, b)); }},
    {"<", 3, [](const Expr& a, const Expr& b) { return Expr::less(a, b); }},
    {">", 3, [](const Expr& a, const Expr& b) { return Expr::less(b, a); }},
    {"+", 4, [](const Expr& a, const Expr& b) { return a + b; }},
    {"-", 4, [](const Expr& a, const Expr& b) { return a - b; }},
    {"*", 5, [](const Expr& a, const Expr& b) { return a * b; }},
    {"/", 5, [](const Expr& a, const Expr& b) { return a / b; }},
    {"%", 5, [](const Expr& a, const Expr& b) { return a % b; }},
};

struct Function {
  std::string_view name;
  Build build;
};

const Function functions[] = {
    {"min", [](const Expr& a, const Expr& b) { return Expr::min(a, b); }},
    {"max", [](const Expr& a, const Expr& b) { return Expr::max(a, b); }},
    {"ceil_div", [](const Expr& a, const Expr& b) { return Expr::ceil_div(a, b); }},
};

class Parser {
 public:
  Parser(std::string_view text, const Declared& declared) : text_(text), declared_(declared) {}

  Expr parse() {
    auto result = expression(1);
    skip_spaces();
    if (position_ != text_.size()) fail(cat("unexpected ", in_quotes(text_.substr(position_, 1))));
    return result;
  }

 private:
  std::string_view text_;
  const Declared& declared_;
  std::size_t position_ = 0;
  int nesting_ = 0;

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(cat("parse_expr: ", why, " at position ", position_, " of ", in_quotes(text_.substr(0, 80))));
  }

  void skip_spaces() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
  }

  bool accept(std::string_view symbol) {
    skip_spaces();
    if (!text_.substr(position_).starts_with(symbol)) return false;
    position_ += symbol.size();
    return true;
  }

  void expect(std::string_view symbol) {
    if (!accept(symbol)) fail(cat("expected ", in_quotes(symbol)));
  }

  const Infix* peek_infix() {
    skip_spaces();
    for (const auto& each : infixes) {
      if (text_.substr(position_).starts_with(each.symbol)) return &each;
    }
    return nullptr;
  }

  /// Building may refuse (a constant that leaves 64 bits): such errors get a position as well.
  Expr built(Build build, const Expr& a, const Expr& b) const {
    try {
      return build(a, b);
    } catch (const Error& error) {
      fail(error.problem());
    }
  }

  Expr expression(int weakest) {
    constexpr int max_nesting = 600;
    if (++nesting_ > max_nesting) fail(cat("nested more than ", max_nesting, " deep"));
    auto left = unary();
    while (const auto* infix = peek_infix()) {
      if (infix->strength < weakest) break;
      position_ += infix->symbol.size();
      left = built(infix->build, left, expression(infix->strength + 1));
    }
    --nesting_;
    return left;
  }

  /// A chain of signs is read in a loop: its length is the text's, not a depth.
  Expr unary() {
    skip_spaces();
    std::string signs;
    while (position_ < text_.size() && (text_[position_] == '-' || text_[position_] == '!')) {
      signs += text_[position_++];
      skip_spaces();
    }
    const bool negative_number =
        signs.ends_with('-') && position_ < text_.size() && is_digit(text_[position_]);
    if (negative_number) signs.pop_back();
    auto result = negative_number ? number("-") : primary();
    for (; !signs.empty(); signs.pop_back()) {
      result = signs.back() == '!' ? Expr::logical_not(result)
                                   : built([](const Expr& a, const Expr&) { return -a; }, result, 0);
    }
    return result;
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

  Expr number(const std::string& sign) {
    const auto start = position_;
    while (position_ < text_.size() && is_digit(text_[position_])) ++position_;
    const auto digits = sign + std::string(text_.substr(start, position_ - start));
    std::int64_t value = 0;
    const auto code = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec;
    if (code != std::errc{}) {
      position_ = start;
      fail("a number that leaves 64 bits");
    }
    return value;
  }

  Expr primary() {
    skip_spaces();
    if (position_ == text_.size()) fail("unexpected end");
    if (accept("(")) {
      auto inner = expression(1);
      expect(")");
      return inner;
    }
    if (is_digit(text_[position_])) return number("");
    if (is_letter(text_[position_])) return name();
    fail(cat("unexpected ", in_quotes(text_.substr(position_, 1))));
  }

  Expr name() {
    const auto start = position_;
    while (position_ < text_.size() && (is_letter(text_[position_]) || is_digit(text_[position_])))
      ++position_;
    const auto word = text_.substr(start, position_ - start);
    for (const auto& function : functions) {
      if (word == function.name && accept("(")) return call(function);
    }
    if (const auto found = declared_.find(word); found != declared_.end()) return found->second;
    if (word.size() > 1 && word[0] == 'i' &&
        word.find_first_not_of("0123456789", 1) == std::string_view::npos) {
      return coordinate(word, start);
    }
    return Expr::variable(word, 0, {}, {});
  }

  /// A coordinate that was not declared has an extent that nothing is known of.
  Expr coordinate(std::string_view word, std::size_t start) {
    std::size_t axis = 0;
    const auto code = std::from_chars(word.data() + 1, word.data() + word.size(), axis).ec;
    if (code != std::errc{}) {
      position_ = start;
      fail("an axis that leaves 64 bits");
    }
    return Expr::coordinate(axis, std::numeric_limits<std::int64_t>::max());
  }

  Expr call(const Function& function) {
    const auto a = expression(1);
    expect(",");
    const auto b = expression(1);
    expect(")");
    return built(function.build, a, b);
  }
};

}  // namespace
}  // namespace detail

Expr parse_expr(std::string_view text, const std::map<std::string, Expr, std::less<>>& declared) {
  return detail::Parser(text, declared).parse();
}

}  // namespace luminal
