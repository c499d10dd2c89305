#include <limits>

#include "luminal/shape/expr_node.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace detail {
namespace {

/// Evaluates in 128 bits, so that the normal form's intermediate values may leave 64 where the value itself
/// does not.
class Evaluation {
 public:
  explicit Evaluation(const DimMap& values) : values_(values) {}

  std::optional<Int128> operator()(const Expr& e) {
    const auto& node = e.node();
    switch (node.kind) {
      case Expr::Kind::constant:
        return node.value;
      case Expr::Kind::variable:
        return variable(node);
      case Expr::Kind::add:
        return sum(node);
      case Expr::Kind::mul:
        return product(node);
      case Expr::Kind::logical_and:
      case Expr::Kind::logical_or:
        return logic(node);
      default:
        return binary(e);
    }
  }

  /// What stopped the evaluation.
  std::string problem;

 private:
  const DimMap& values_;

  std::nullopt_t fail(std::string why) {
    problem = std::move(why);
    return std::nullopt;
  }

  std::optional<Int128> variable(const Expr::Node& node) {
    const auto found = values_.find(node.name);
    if (found == values_.end()) return fail("no value for " + node.name);
    return found->second;
  }

  std::optional<Int128> sum(const Expr::Node& node) {
    Int128 total = node.value;
    for (const auto& child : node.children) {
      const auto value = (*this)(child);
      if (!value) return std::nullopt;
      if (__builtin_add_overflow(total, *value, &total)) return fail("the value leaves 64 bits");
    }
    return total;
  }

  /// A factor of 0 is looked for first: without one, no partial product exceeds the whole.
  std::optional<Int128> product(const Expr::Node& node) {
    std::vector<Int128> factors;
    bool zero = false;
    for (const auto& child : node.children) {
      const auto value = (*this)(child);
      if (!value) return std::nullopt;
      zero = zero || *value == 0;
      factors.push_back(*value);
    }
    if (zero) return 0;
    Int128 total = node.value;
    for (const auto factor : factors) {
      if (__builtin_mul_overflow(total, factor, &total)) return fail("the value leaves 64 bits");
    }
    return total;
  }

  /// Operands were reordered, so one that decides does so even if the other has no value.
  std::optional<Int128> logic(const Expr::Node& node) {
    const bool decisive = node.kind == Expr::Kind::logical_or;
    const auto a = (*this)(node.children[0]);
    if (a && (*a != 0) == decisive) return decisive ? 1 : 0;
    const auto b = (*this)(node.children[1]);
    if (b && (*b != 0) == decisive) return decisive ? 1 : 0;
    if (!a || !b) return std::nullopt;
    return decisive ? 0 : 1;
  }

  std::optional<Int128> binary(const Expr& e) {
    const auto a = (*this)(e.node().children[0]);
    const auto b = (*this)(e.node().children[1]);
    if (!a || !b) return std::nullopt;
    switch (e.kind()) {
      case Expr::Kind::div:
      case Expr::Kind::mod:
        return divide(e, *a, *b);
      case Expr::Kind::min:
        return std::min(*a, *b);
      case Expr::Kind::max:
        return std::max(*a, *b);
      case Expr::Kind::less:
        return *a < *b ? 1 : 0;
      case Expr::Kind::less_equal:
        return *a <= *b ? 1 : 0;
      default:
        return *a == *b ? 1 : 0;
    }
  }

  std::optional<Int128> divide(const Expr& e, Int128 a, Int128 b) {
    constexpr Int128 least = -(Int128{1} << 126) * 2;
    if (b == 0) return fail(cat("division by zero in ", e));
    if (b == -1 && a == least) return fail("the value leaves 64 bits");
    const bool adjust = a % b != 0 && (a < 0) != (b < 0);
    if (e.kind() == Expr::Kind::div) return a / b - (adjust ? 1 : 0);
    return a % b + (adjust ? b : 0);
  }
};

bool fits(Int128 value) {
  return value >= std::numeric_limits<std::int64_t>::min() &&
         value <= std::numeric_limits<std::int64_t>::max();
}

}  // namespace
}  // namespace detail

std::int64_t Expr::eval(const DimMap& values) const {
  detail::Evaluation evaluation(values);
  const auto value = evaluation(*this);
  if (!value) throw Error(cat("eval of ", *this, ": ", evaluation.problem));
  if (!detail::fits(*value)) throw Error(cat("eval of ", *this, ": the value leaves 64 bits"));
  return static_cast<std::int64_t>(*value);
}

std::optional<std::int64_t> Expr::try_eval(const DimMap& values) const {
  const auto value = detail::Evaluation(values)(*this);
  if (!value || !detail::fits(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace luminal
