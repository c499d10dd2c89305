// Intervals that contain every value of a node, from its operands' intervals.
#include <algorithm>
#include <limits>

#include "luminal/shape/expr_node.h"

namespace luminal::detail {
namespace {

/// An end of an interval in arithmetic that cannot overflow: finite values fit 64 bits, beyond is infinite.
struct End {
  int infinite = 0;  // -1, 0 or 1
  Int128 value = 0;
};

constexpr Int128 int64_max = std::numeric_limits<std::int64_t>::max();
constexpr Int128 int64_min = std::numeric_limits<std::int64_t>::min();

End finite(Int128 value) {
  return {0, value};
}
bool operator<(const End& a, const End& b) {
  return a.infinite != b.infinite ? a.infinite < b.infinite : (a.infinite == 0 && a.value < b.value);
}
int sign(const End& a) {
  return a.infinite != 0 ? a.infinite : (a.value > 0) - (a.value < 0);
}
End negate(const End& a) {
  return {-a.infinite, -a.value};
}

struct Range {
  End low{-1, 0};
  End high{1, 0};
};

Range range_of(const Interval& interval) {
  Range range;
  if (interval.low) range.low = finite(*interval.low);
  if (interval.high) range.high = finite(*interval.high);
  return range;
}
Range range_of(const Expr& e) {
  return range_of(e.node().bounds);
}

Interval interval_of(const Range& range) {
  Interval interval;
  if (range.low.infinite == 0 && range.low.value >= int64_min) {
    // A low end above every 64-bit value: the value cannot exist, and any interval contains it.
    interval.low = static_cast<std::int64_t>(std::min(range.low.value, int64_max));
  }
  if (range.high.infinite == 0 && range.high.value <= int64_max) {
    interval.high = static_cast<std::int64_t>(std::max(range.high.value, int64_min));
  }
  return interval;
}

/// Ends stay within about 2^120, far from overflow, by turning infinite beyond.
End clamp(Int128 value) {
  constexpr Int128 limit = Int128{1} << 120;
  if (value > limit) return {1, 0};
  if (value < -limit) return {-1, 0};
  return finite(value);
}

End add(const End& a, const End& b) {
  if (a.infinite != 0) return a;
  if (b.infinite != 0) return b;
  return clamp(a.value + b.value);
}

End multiply(const End& a, const End& b) {
  const int s = sign(a) * sign(b);
  if (s == 0) return finite(0);
  if (a.infinite != 0 || b.infinite != 0) return {s, 0};
  Int128 product = 0;
  if (__builtin_mul_overflow(a.value, b.value, &product)) return {s, 0};
  return clamp(product);
}

Range hull(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Range multiply(const Range& a, const Range& b) {
  const End corners[] = {multiply(a.low, b.low), multiply(a.low, b.high), multiply(a.high, b.low),
                         multiply(a.high, b.high)};
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return {*low, *high};
}

Range power(const Range& base, std::size_t exponent) {
  Range result = base;
  for (std::size_t i = 1; i < exponent; ++i) result = multiply(result, base);
  if (exponent % 2 == 0 && sign(result.low) < 0) result.low = finite(0);
  return result;
}

Range product_range(const Expr::Node& node) {
  Range result{finite(node.value), finite(node.value)};
  for (std::size_t i = 0; i < node.children.size();) {
    std::size_t next = i + 1;
    while (next < node.children.size() && node.children[next] == node.children[i]) ++next;
    result = multiply(result, power(range_of(node.children[i]), next - i));
    i = next;
  }
  return result;
}

Range sum_range(const Expr::Node& node) {
  Range result{finite(node.value), finite(node.value)};
  for (const auto& child : node.children) {
    const auto range = range_of(child);
    result = {add(result.low, range.low), add(result.high, range.high)};
  }
  return result;
}

End floor_quotient(const End& a, const End& positive) {
  if (a.infinite != 0) return a;
  if (positive.infinite != 0) return finite(a.value < 0 ? -1 : 0);
  const auto quotient = a.value / positive.value;
  return finite(a.value % positive.value < 0 ? quotient - 1 : quotient);
}

Range quotient_by_positive(const Range& a, const Range& b) {
  const End corners[] = {floor_quotient(a.low, b.low), floor_quotient(a.low, b.high),
                         floor_quotient(a.high, b.low), floor_quotient(a.high, b.high)};
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return {*low, *high};
}

/// Divisors of 0 have no value, so they count neither way.
Range quotient_range(const Range& a, const Range& b) {
  std::optional<Range> result;
  if (sign(b.high) > 0) result = quotient_by_positive(a, {std::max(b.low, finite(1)), b.high});
  if (sign(b.low) < 0) {
    const Range positive{std::max(negate(b.high), finite(1)), negate(b.low)};
    const auto negative = quotient_by_positive({negate(a.high), negate(a.low)}, positive);
    result = result ? hull(*result, negative) : negative;
  }
  return result.value_or(Range{});
}

Range remainder_range(const Range& a, const Range& b) {
  Range result{finite(0), finite(0)};
  if (sign(b.high) > 0) {
    result.high = add(b.high, finite(-1));
    if (sign(a.low) >= 0 && sign(b.low) >= 0) result.high = std::min(result.high, a.high);
  }
  if (sign(b.low) < 0) {
    result.low = add(b.low, finite(1));
    if (sign(a.high) <= 0 && sign(b.high) <= 0) result.low = std::max(result.low, a.low);
  }
  if (result.high < result.low) result.high = result.low;
  return result;
}

Range variable_range(const Expr::Node& node) {
  if (!node.is_coordinate) {
    Range result{finite(node.value), End{1, 0}};
    if (node.declared_high) result.high = finite(*node.declared_high);
    return result;
  }
  const auto extent = range_of(node.children[0]);
  return {finite(0), std::max(add(extent.high, finite(-1)), finite(0))};
}

Range range_of(const Expr::Node& node) {
  const auto operand = [&](std::size_t i) { return range_of(node.children[i]); };
  switch (node.kind) {
    case Expr::Kind::constant:
      return {finite(node.value), finite(node.value)};
    case Expr::Kind::variable:
      return variable_range(node);
    case Expr::Kind::add:
      return sum_range(node);
    case Expr::Kind::mul:
      return product_range(node);
    case Expr::Kind::div:
      return quotient_range(operand(0), operand(1));
    case Expr::Kind::mod:
      return remainder_range(operand(0), operand(1));
    case Expr::Kind::min: {
      const auto a = operand(0);
      const auto b = operand(1);
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    }
    case Expr::Kind::max: {
      const auto a = operand(0);
      const auto b = operand(1);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case Expr::Kind::ceil_div:
      return {};
    default:
      return {finite(0), finite(1)};
  }
}

}  // namespace

Interval bounds_of(const Expr::Node& node) {
  return interval_of(range_of(node));
}

}  // namespace luminal::detail
