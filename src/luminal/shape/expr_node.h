#pragma once
// What the files that implement Expr share. Not for other layers.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/shape/expr.h"

namespace luminal {

/// One node of the normal form. A sum is constant + Σ terms, a term coefficient × Π atoms, and an atom
/// whatever is neither a constant nor a sum nor a product (except a sum that is a factor of a product too
/// large to expand).
struct Expr::Node {
  Kind kind = Kind::constant;
  bool is_coordinate = false;
  bool has_mod = false;     // a remainder is a factor here: sums look for its quotient
  std::uint16_t depth = 0;  // nodes on the longest way down
  std::uint32_t size = 1;   // nodes below, shared ones counted every time
  std::int64_t value =
      0;  // constant, mul's coefficient, add's constant term, variable's low, coordinate's axis
  std::uint64_t hash = 0;  //
  Interval bounds;         //
  std::vector<Expr>
      children;  // add: terms; mul: atoms; mod: numerator, divisor, quotient; coordinate: extent
  std::optional<std::int64_t> declared_high;
  std::string name;
};

namespace detail {

__extension__ using Int128 = __int128;

/// How hard to look for a proof. Building an expression may try a little, `simplify` and `prove_*` more.
enum class Effort : std::uint8_t { build, thorough };

inline constexpr std::uint16_t max_depth = 256;
inline constexpr std::uint32_t max_size = 1U << 20;
inline constexpr std::size_t max_degree = 256;

// --- Nodes (expr_node.cpp). These make exactly what they are told: callers normalise.
Expr make_node(Expr::Node&& node);
Expr make_binary(Expr::Kind kind, const Expr& a, const Expr& b);
/// Operands of an operator that associates, as a shallow tree.
Expr make_nest(Expr::Kind kind, std::span<const Expr> operands);
/// A variable whose name need not be one that a user may choose.
Expr make_variable(std::string name, std::int64_t low, std::optional<std::int64_t> high);

// --- Terms (expr_sum.cpp).
/// A term as coefficient × atoms; refers into the Expr it is made from.
struct Term {
  std::int64_t coefficient;
  std::span<const Expr> atoms;
};
Term term_of(const Expr& term);
Expr make_term(std::int64_t coefficient, std::vector<Expr> sorted_atoms);
/// The terms and the constant of a sum; refers into the Expr.
std::span<const Expr> terms_of(const Expr& sum);
std::int64_t constant_of(const Expr& sum);
/// The parts added up, as `+` does but all at once.
Expr sum_of(std::span<const Expr> parts);
/// Higher degrees first, then in order of the atoms: an order that multiplication keeps.
int compare_monomials(std::span<const Expr> a, std::span<const Expr> b);
/// a / b where b's atoms all occur in a and the coefficient divides; nullopt otherwise.
std::optional<Expr> divide_term(const Expr& a, const Expr& b);
/// Every term of `sum` divided; nullopt unless all divide.
std::optional<Expr> divide_exactly(const Expr& sum, const Expr& term);
/// The greatest term that divides both (coefficient positive).
Expr common_factor(const Expr& a, const Expr& b);
/// The greatest term that divides every term of a sum and its constant.
Expr content(const Expr& sum);
/// `sum` = coefficient·atom + rest with no other `atom` in either; nullopt if the atom occurs in a higher
/// power.
struct Linear {
  Expr coefficient;
  Expr rest;
};
std::optional<Linear> linear_in(const Expr& sum, const Expr& atom);

// --- Intervals (expr_bounds.cpp).
Interval bounds_of(const Expr::Node& node);
inline bool at_least(const Expr& e, std::int64_t value) {
  return e.node().bounds.low && *e.node().bounds.low >= value;
}
inline bool at_most(const Expr& e, std::int64_t value) {
  return e.node().bounds.high && *e.node().bounds.high <= value;
}
inline bool is_boolean(const Expr& e) {
  return at_least(e, 0) && at_most(e, 1);
}

// --- Numbers.
std::int64_t floor_div(std::int64_t a, std::int64_t b);
std::int64_t floor_mod(std::int64_t a, std::int64_t b);
std::int64_t add_or_throw(std::int64_t a, std::int64_t b);
std::int64_t mul_or_throw(std::int64_t a, std::int64_t b);

// --- Constructors with an effort.
Expr divide(const Expr& a, const Expr& b, Effort effort);
Expr remainder(const Expr& a, const Expr& b, Effort effort);
Expr extremum(Expr::Kind kind, const Expr& a, const Expr& b, Effort effort);
/// 1 where gap ≥ 0.
Expr not_negative(const Expr& gap, Effort effort);
/// 1 where difference = 0.
Expr is_zero(const Expr& difference);
/// All operands joined by `logical_and` or `logical_or`.
Expr joined(Expr::Kind kind, std::span<const Expr> operands);
/// Whether truth value `a` provably implies `b`, looking at them as wholes.
bool implies(const Expr& a, const Expr& b);
/// The operands of nested `kind`s.
std::vector<Expr> flattened(Expr::Kind kind, const Expr& e);
/// gap ≥ 0 is what a comparison (`less` or `less_equal`) says; nullopt for anything else.
std::optional<Expr> gap_of(const Expr& comparison);

/// What a proof may take for granted beside the claim: that the expressions in `mentioned` have values (so
/// extents of their coordinates are positive), and that those in `positive` are at least 1 if they are not
/// negative.
struct Given {
  std::span<const Expr> mentioned = {};
  std::span<const Expr> positive = {};
};
/// Whether e ≥ 0 for every value within bounds (expr_prove.cpp). Never throws.
bool proved_not_negative(const Expr& e, Effort effort, const Given& given = {});
/// Every remainder among the factors written as numerator − divisor·quotient.
Expr expand_remainders(const Expr& e);

}  // namespace detail
}  // namespace luminal
