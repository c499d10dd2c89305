// Postfix text: exact, with the variables' bounds, for files and keys.
#include <charconv>

#include "luminal/shape/expr_node.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace detail {
namespace {

struct Operator {
  std::string_view token;
  Expr::Kind kind;
};

constexpr Operator operators[] = {
    {"+", Expr::Kind::add},
    {"*", Expr::Kind::mul},
    {"/", Expr::Kind::div},
    {"%", Expr::Kind::mod},
    {"ceil_div", Expr::Kind::ceil_div},
    {"min", Expr::Kind::min},
    {"max", Expr::Kind::max},
    {"<", Expr::Kind::less},
    {"<=", Expr::Kind::less_equal},
    {"==", Expr::Kind::equal},
    {"&&", Expr::Kind::logical_and},
    {"||", Expr::Kind::logical_or},
};

std::string_view token_of(Expr::Kind kind) {
  for (const auto& each : operators) {
    if (each.kind == kind) return each.token;
  }
  return "";
}

Expr apply(Expr::Kind kind, const Expr& a, const Expr& b) {
  switch (kind) {
    case Expr::Kind::add:
      return a + b;
    case Expr::Kind::mul:
      return a * b;
    case Expr::Kind::div:
      return Expr::div(a, b);
    case Expr::Kind::mod:
      return Expr::mod(a, b);
    case Expr::Kind::ceil_div:
      return Expr::ceil_div(a, b);
    case Expr::Kind::min:
      return Expr::min(a, b);
    case Expr::Kind::max:
      return Expr::max(a, b);
    case Expr::Kind::less:
      return Expr::less(a, b);
    case Expr::Kind::less_equal:
      return Expr::less_equal(a, b);
    case Expr::Kind::equal:
      return Expr::equal(a, b);
    case Expr::Kind::logical_and:
      return Expr::logical_and(a, b);
    default:
      return Expr::logical_or(a, b);
  }
}

void write(const Expr& e, std::string& out) {
  const auto& node = e.node();
  const auto put = [&](std::string_view token) { out.append(out.empty() ? "" : " ").append(token); };
  if (node.kind == Expr::Kind::constant) return put(std::to_string(node.value));
  if (node.is_coordinate) {
    write(node.children[0], out);
    return put(node.name + "@");
  }
  if (node.kind == Expr::Kind::variable) {
    return put(
        cat(node.name, ":", node.value, ":", node.declared_high ? std::to_string(*node.declared_high) : ""));
  }
  bool first = true;
  for (const auto& operand : e.operands()) {
    write(operand, out);
    if (!first) put(token_of(node.kind));
    first = false;
  }
}

/// Reads the tokens from left to right with a stack of finished operands.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Expr read() {
    while (next_token()) take();
    if (stack_.size() != 1) fail(cat("expected one expression, got ", stack_.size()));
    return stack_[0];
  }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t start_ = 0;
  std::string_view token_;
  std::vector<Expr> stack_;

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(cat("from_rpn: ", why, " at position ", start_));
  }

  bool next_token() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
    start_ = position_;
    while (position_ < text_.size() && text_[position_] != ' ') ++position_;
    token_ = text_.substr(start_, position_ - start_);
    return !token_.empty();
  }

  Expr pop() {
    if (stack_.empty()) fail(cat("no operand for ", in_quotes(token_)));
    auto top = stack_.back();
    stack_.pop_back();
    return top;
  }

  std::int64_t number(std::string_view digits) const {
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code != std::errc{} || end != digits.data() + digits.size())
      fail(cat("bad number ", in_quotes(digits)));
    return value;
  }

  void take() {
    try {
      take_token();
    } catch (const Error& error) {
      if (error.problem().starts_with("from_rpn")) throw;
      fail(error.problem());
    }
  }

  void take_token() {
    for (const auto& each : operators) {
      if (each.token != token_) continue;
      const auto b = pop();
      const auto a = pop();
      stack_.push_back(apply(each.kind, a, b));
      return;
    }
    if (token_.back() == '@') return take_coordinate();
    if (token_.find(':') != std::string_view::npos) return take_variable();
    stack_.emplace_back(number(token_));
  }

  void take_coordinate() {
    const auto extent = pop();
    if (token_.size() < 3 || token_[0] != 'i') fail(cat("bad coordinate ", in_quotes(token_)));
    const auto axis = number(token_.substr(1, token_.size() - 2));
    if (axis < 0) fail(cat("bad coordinate ", in_quotes(token_)));
    stack_.push_back(Expr::coordinate(static_cast<std::size_t>(axis), extent));
  }

  void take_variable() {
    const auto first = token_.find(':');
    const auto second = token_.find(':', first + 1);
    if (second == std::string_view::npos) fail(cat("expected name:low:high, got ", in_quotes(token_)));
    const auto low = number(token_.substr(first + 1, second - first - 1));
    const auto digits = token_.substr(second + 1);
    std::optional<std::int64_t> high;
    if (!digits.empty()) high = number(digits);
    stack_.push_back(Expr::variable(token_.substr(0, first), low, high, {}));
  }
};

}  // namespace
}  // namespace detail

std::string Expr::rpn() const {
  std::string out;
  detail::write(*this, out);
  return out;
}

Expr Expr::from_rpn(std::string_view text) {
  return detail::Reader(text).read();
}

}  // namespace luminal
