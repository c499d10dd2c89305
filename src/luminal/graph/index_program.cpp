#include "luminal/graph/index_program.h"

#include <algorithm>

#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::int64_t exact(std::optional<std::int64_t> value) {
  if (!value) throw Error("index arithmetic leaves 64 bits");
  return *value;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == 0) throw Error("index arithmetic divides by zero");
  if (b == -1) return exact(checked_sub(0, a));
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::int64_t combine(Expr::Kind kind, std::int64_t a, std::int64_t b) {
  switch (kind) {
    case Expr::Kind::add:
      return exact(checked_add(a, b));
    case Expr::Kind::mul:
      return exact(checked_mul(a, b));
    case Expr::Kind::div:
      return floor_div(a, b);
    case Expr::Kind::mod:
      return b == -1 ? 0 : a - floor_div(a, b) * b;
    case Expr::Kind::ceil_div:
      return exact(checked_sub(0, floor_div(exact(checked_sub(0, a)), b)));
    case Expr::Kind::min:
      return std::min(a, b);
    case Expr::Kind::max:
      return std::max(a, b);
    case Expr::Kind::less:
      return a < b ? 1 : 0;
    case Expr::Kind::less_equal:
      return a <= b ? 1 : 0;
    case Expr::Kind::equal:
      return a == b ? 1 : 0;
    case Expr::Kind::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    case Expr::Kind::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
    case Expr::Kind::constant:
    case Expr::Kind::variable:
      break;
  }
  throw InternalError("an Expr operator without operands");
}

}  // namespace

IndexProgram::IndexProgram(const Expr& expression) {
  compile(expression);
}

void IndexProgram::compile(const Expr& expression) {
  if (const auto value = expression.constant_value()) {
    steps_.push_back({Expr::Kind::constant, *value});
    return;
  }
  if (expression.kind() == Expr::Kind::variable) {
    const auto axis = expression.coordinate_axis();
    if (!axis) throw InternalError(cat("the variable '", expression.name(), "' has no value"));
    steps_.push_back({Expr::Kind::variable, static_cast<std::int64_t>(*axis)});
    return;
  }
  const auto operands = expression.operands();
  for (const auto& operand : operands) compile(operand);
  steps_.push_back({expression.kind(), static_cast<std::int64_t>(operands.size())});
}

std::int64_t IndexProgram::run(std::span<const std::int64_t> coordinates) const {
  stack_.clear();
  for (const auto& step : steps_) {
    if (step.kind == Expr::Kind::constant) {
      stack_.push_back(step.argument);
    } else if (step.kind == Expr::Kind::variable) {
      stack_.push_back(coordinates[static_cast<std::size_t>(step.argument)]);
    } else {
      const std::size_t first = stack_.size() - static_cast<std::size_t>(step.argument);
      std::int64_t value = stack_[first];
      for (std::size_t i = first + 1; i < stack_.size(); ++i) value = combine(step.kind, value, stack_[i]);
      stack_.resize(first);
      stack_.push_back(value);
    }
  }
  return stack_.back();
}

}  // namespace luminal
