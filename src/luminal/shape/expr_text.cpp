// Expressions as text: for people, and for C compilers.
#include <limits>

#include "luminal/shape/expr_node.h"
#include "luminal/support/text.h"

namespace luminal {
namespace detail {
namespace {

/// How tightly an operator binds; a looser operand needs parentheses.
enum Strength : std::uint8_t { any, conjunct, comparison, summand, factor, primary };

Strength strength_of(const Expr& e) {
  switch (e.kind()) {
    case Expr::Kind::constant:
      return e.node().value < 0 ? factor : primary;
    case Expr::Kind::add:
      return summand;
    case Expr::Kind::mul:
    case Expr::Kind::div:
    case Expr::Kind::mod:
      return factor;
    case Expr::Kind::less:
    case Expr::Kind::less_equal:
    case Expr::Kind::equal:
      return comparison;
    case Expr::Kind::logical_and:
      return conjunct;
    case Expr::Kind::logical_or:
      return any;
    default:
      return primary;
  }
}

std::string_view symbol(Expr::Kind kind) {
  switch (kind) {
    case Expr::Kind::div:
      return " / ";
    case Expr::Kind::mod:
      return " % ";
    case Expr::Kind::less:
      return " < ";
    case Expr::Kind::less_equal:
      return " <= ";
    case Expr::Kind::equal:
      return " == ";
    case Expr::Kind::logical_and:
      return " && ";
    default:
      return " || ";
  }
}

/// Prints with `language` deciding what is spelled differently in C.
class Printer {
 public:
  explicit Printer(bool c) : c_(c) {}

  std::string print(const Expr& e, Strength needed = any) const {
    auto text = bare(e);
    return strength_of(e) < needed ? "(" + text + ")" : text;
  }

 private:
  bool c_;

  std::string bare(const Expr& e) const {
    switch (e.kind()) {
      case Expr::Kind::constant:
        return constant(e.node().value);
      case Expr::Kind::variable:
        return std::string(e.name());
      case Expr::Kind::add:
        return sum(e);
      case Expr::Kind::mul:
        return product(e);
      case Expr::Kind::div:
      case Expr::Kind::mod:
        return c_ ? c_division(e) : infix(e, factor, primary);
      case Expr::Kind::min:
      case Expr::Kind::max:
        return c_ ? c_extremum(e) : call(e.kind() == Expr::Kind::min ? "min" : "max", e);
      case Expr::Kind::logical_and:
        return infix(e, conjunct, conjunct);
      case Expr::Kind::logical_or:
        return infix(e, any, any);
      default:
        return infix(e, summand, summand);
    }
  }

  std::string constant(std::int64_t value) const {
    if (c_ && value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807 - 1)";
    return std::to_string(value);
  }

  std::string infix(const Expr& e, Strength left, Strength right) const {
    const auto& operands = e.node().children;
    return cat(print(operands[0], left), symbol(e.kind()), print(operands[1], right));
  }

  std::string call(std::string_view function, const Expr& e) const {
    return cat(function, "(", print(e.node().children[0]), ", ", print(e.node().children[1]), ")");
  }

  std::string product(const Expr& e) const {
    std::string text;
    const auto coefficient = e.node().value;
    if (coefficient == -1) {
      text = "-";
    } else if (coefficient != 1) {
      text = constant(coefficient) + "*";
    }
    for (std::size_t i = 0; i < e.node().children.size(); ++i) {
      text += (i == 0 ? "" : "*") + print(e.node().children[i], primary);
    }
    return text;
  }

  /// Whether "+ -4*n" may be written "- 4*n". Not so for "-3 / n", since −(3/n) is another number, nor for
  /// the least number, whose magnitude cannot be written.
  static bool sign_joins(const Expr& operand) {
    if (operand.kind() != Expr::Kind::mul && !operand.is_constant()) return false;
    const auto value = operand.node().value;
    return value < 0 && value != std::numeric_limits<std::int64_t>::min();
  }

  std::string sum(const Expr& e) const {
    std::string text;
    for (const auto& operand : e.operands()) {
      const auto next = print(operand, factor);
      if (text.empty()) {
        text = next;
      } else if (sign_joins(operand)) {
        text += " - " + next.substr(1);
      } else {
        text += " + " + next;
      }
    }
    return text;
  }

  /// C rounds towards 0, which is the floor where nothing is negative. A dividend that is bounded below is
  /// moved up by a multiple of a constant divisor to get there.
  std::string c_division(const Expr& e) const {
    const auto& a = e.node().children[0];
    const auto& b = e.node().children[1];
    const bool quotient = e.kind() == Expr::Kind::div;
    if (at_least(b, 0) && proved_not_negative(a, Effort::thorough)) return infix(e, factor, primary);
    const auto low = a.bounds().low;
    constexpr std::int64_t small = std::int64_t{1} << 31;
    if (b.is_constant() && b.node().value > 0 && b.node().value < small && low && *low > -small) {
      const auto times = floor_div(*low, b.node().value);
      const auto moved = print(a - Expr(times) * b, factor);
      if (!quotient) return cat(moved, " % ", b);
      return cat("(", moved, " / ", b, " - ", -times, ")");
    }
    return call(quotient ? "luminal_floor_div" : "luminal_floor_mod", e);
  }

  std::string c_extremum(const Expr& e) const {
    const auto a = print(e.node().children[0], summand);
    const auto b = print(e.node().children[1], summand);
    return cat("(", a, e.kind() == Expr::Kind::min ? " < " : " > ", b, " ? ", a, " : ", b, ")");
  }
};

}  // namespace
}  // namespace detail

std::string Expr::text() const {
  return detail::Printer(false).print(*this);
}
std::string Expr::c_text() const {
  return detail::Printer(true).print(*this);
}

}  // namespace luminal
