#pragma once
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "luminal/egraph/ast.h"

/// Patterns, facts and actions written in C++ instead of text:
/// `add_rule("commute", {eq(var("e"), call("Add", {var("a"), var("b")}))},
///           {unite(var("e"), call("Add", {var("b"), var("a")}))})`.
namespace luminal::egraph::build {

inline Expr var(std::string name) {
  Expr expr;
  expr.kind = Expr::Kind::variable;
  expr.name = std::move(name);
  return expr;
}
inline Expr lit(Literal literal) {
  Expr expr;
  expr.literal = std::move(literal);
  return expr;
}
inline Expr integer(std::int64_t value) {
  return lit(Literal(value));
}
/// A value of a sort that is not one of classes, as interned by its owner.
inline Expr constant(SortId sort, Value value) {
  Expr expr;
  expr.kind = Expr::Kind::constant;
  expr.sort = sort;
  expr.value = value;
  return expr;
}
inline Expr call(std::string name, std::vector<Expr> arguments = {}) {
  Expr expr;
  expr.kind = Expr::Kind::call;
  expr.name = std::move(name);
  expr.arguments = std::move(arguments);
  return expr;
}

inline Fact eq(Expr left, Expr right) {
  return {{}, std::move(left), std::move(right)};
}
inline Fact holds(Expr expr) {
  return {{}, std::move(expr), std::nullopt};
}

inline Action let(std::string name, Expr value) {
  return {Action::Kind::let, {}, std::move(name), {std::move(value)}};
}
inline Action set(Expr place, Expr value) {
  return {Action::Kind::set, {}, "", {std::move(place), std::move(value)}};
}
inline Action unite(Expr left, Expr right) {
  return {Action::Kind::unite, {}, "", {std::move(left), std::move(right)}};
}
inline Action remove(Expr place) {
  return {Action::Kind::remove, {}, "", {std::move(place)}};
}
inline Action subsume(Expr place) {
  return {Action::Kind::subsume, {}, "", {std::move(place)}};
}
inline Action evaluate(Expr expr) {
  return {Action::Kind::evaluate, {}, "", {std::move(expr)}};
}

}  // namespace luminal::egraph::build
