#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/support/location.h"

namespace luminal {

/// Values of named variables.
using DimMap = std::map<std::string, std::int64_t, std::less<>>;

/// A closed range of integers; an absent end is unbounded.
struct Interval {
  std::optional<std::int64_t> low;
  std::optional<std::int64_t> high;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A symbolic whole number: dims, strides, offsets and index arithmetic are made of it. An immutable value,
/// brought to a normal form as it is built, so equal text means equal meaning and most identities hold by
/// `==`.
///
/// Arithmetic is exact over the integers; `/` and `%` are *floor* division and its remainder (the remainder
/// has the divisor's sign, (a/b)*b + a%b = a always), `ceil_div` rounds up. Comparisons give 0 or 1;
/// `&&`/`||` take any value other than 0 as true. Evaluating throws `Error` for a division by zero, a missing
/// variable, and a value that leaves 64 bits. Rewriting may remove such a failure (0*(x/0) is 0) but never
/// changes a value that exists.
class Expr {
 public:
  enum class Kind : std::uint8_t {
    constant,
    variable,
    add,
    mul,
    div,
    mod,
    ceil_div,
    min,
    max,
    less,
    less_equal,
    equal,
    logical_and,
    logical_or
  };

  Expr() : Expr(std::int64_t{0}) {}
  Expr(std::int64_t value);
  template <std::signed_integral T>
  Expr(T value) : Expr(std::int64_t{value}) {}
  /// `Error` for what leaves 63 bits.
  template <std::unsigned_integral T>
  Expr(T value) : Expr(of_natural(value)) {}
  /// A dim's name: a variable of any value ≥ 0, as `variable(name, 0)`.
  Expr(const char* name, Location where = Location::current()) : Expr(variable(name, 0, {}, where)) {}
  Expr(std::string_view name, Location where = Location::current()) : Expr(variable(name, 0, {}, where)) {}
  Expr(const std::string& name, Location where = Location::current()) : Expr(variable(name, 0, {}, where)) {}

  /// A named variable in [low, high]. The same name with other bounds is another variable. Names are
  /// [A-Za-z_][A-Za-z0-9_]*, and those of the form i0, i1 … are coordinates: `Error` otherwise.
  static Expr variable(std::string_view name, std::int64_t low = 0,
                       std::optional<std::int64_t> high = std::nullopt, Location where = Location::current());
  /// The coordinate of axis `axis` of an array: the variable named "i<axis>" in [0, extent − 1]. The extent
  /// may be symbolic, and is used in proofs: i0 < n is then known.
  static Expr coordinate(std::size_t axis, const Expr& extent);

  static Expr div(const Expr& a, const Expr& b);
  static Expr mod(const Expr& a, const Expr& b);
  static Expr ceil_div(const Expr& a, const Expr& b);
  static Expr min(const Expr& a, const Expr& b);
  static Expr max(const Expr& a, const Expr& b);
  static Expr less(const Expr& a, const Expr& b);
  static Expr less_equal(const Expr& a, const Expr& b);
  static Expr equal(const Expr& a, const Expr& b);
  static Expr logical_and(const Expr& a, const Expr& b);
  static Expr logical_or(const Expr& a, const Expr& b);
  static Expr logical_not(const Expr& a);

  Kind kind() const;
  bool is_constant() const { return kind() == Kind::constant; }
  /// The value if this is a constant.
  std::optional<std::int64_t> constant_value() const;
  /// The name if this is a variable; empty otherwise.
  std::string_view name() const;
  /// The declared bounds if this is a variable (a coordinate's follow from its extent).
  Interval declared_bounds() const;
  /// The axis if this is a coordinate.
  std::optional<std::size_t> coordinate_axis() const;
  /// The extent if this is a coordinate.
  Expr coordinate_extent() const;
  /// Direct operands in normal-form order. `add` and `mul` are n-ary; a constant term or factor is the last
  /// operand.
  std::vector<Expr> operands() const;

  /// Every distinct variable below, in order of name; also those inside coordinates' extents.
  std::vector<Expr> variables() const;
  bool depends_on(std::string_view variable_name) const;

  /// Spends more effort than construction does (bounds are proved rather than looked up). Idempotent.
  Expr simplify() const;
  /// Replaces variables by name, simultaneously.
  Expr substitute(const std::map<std::string, Expr, std::less<>>& replacements) const;
  /// Replaces coordinate i<k> by coordinates[k]: how index maps compose.
  Expr substitute_coordinates(std::span<const Expr> coordinates) const;
  Expr substitute(const DimMap& values) const;

  std::int64_t eval(const DimMap& values) const;
  /// The value if every variable has one and the evaluation succeeds.
  std::optional<std::int64_t> try_eval(const DimMap& values) const;
  /// An interval that contains every value this can take within its variables' bounds.
  Interval bounds() const;

  std::uint64_t hash() const;
  /// Structural, on the normal form.
  friend bool operator==(const Expr& a, const Expr& b) { return a.hash() == b.hash() && a.compare(b) == 0; }
  friend bool operator<(const Expr& a, const Expr& b) { return a.compare(b) < 0; }
  /// A total order that is the same in every process.
  int compare(const Expr& other) const;

  /// "4*batch + i0 % 3", minimal parentheses; `parse_expr` reads it back.
  std::string text() const;
  /// C spelling with 64-bit arithmetic: plain `/` and `%` where operands are proved not negative and the
  /// divisor positive, the helper names luminal_floor_div, luminal_floor_mod, luminal_ceil_div elsewhere.
  std::string c_text() const;
  /// Postfix tokens separated by spaces, variables with their bounds: "batch:0: 4 * 1 +". `from_rpn` reads it
  /// back.
  std::string rpn() const;
  static Expr from_rpn(std::string_view text);

  friend std::ostream& operator<<(std::ostream& out, const Expr& e) { return out << e.text(); }

  struct Node;
  explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  const Node& node() const { return *node_; }

 private:
  static std::int64_t of_natural(std::uint64_t value);
  std::shared_ptr<const Node> node_;
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator*(const Expr& a, const Expr& b);
inline Expr operator/(const Expr& a, const Expr& b) {
  return Expr::div(a, b);
}
inline Expr operator%(const Expr& a, const Expr& b) {
  return Expr::mod(a, b);
}

/// Whether the claim holds for *every* value of the variables within their bounds. `false` means "not
/// proved".
bool prove_eq(const Expr& a, const Expr& b);
bool prove_lt(const Expr& a, const Expr& b);
bool prove_le(const Expr& a, const Expr& b);
/// divisor ≠ 0 and divisor | a.
bool prove_divides(const Expr& divisor, const Expr& a);

/// Reads what `text` wrote; variables take their bounds from `declared` (by name), else [0, ∞).
Expr parse_expr(std::string_view text, const std::map<std::string, Expr, std::less<>>& declared = {});

}  // namespace luminal

template <>
struct std::hash<luminal::Expr> {
  std::size_t operator()(const luminal::Expr& e) const noexcept { return e.hash(); }
};
