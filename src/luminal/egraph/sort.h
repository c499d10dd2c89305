#pragma once
#include <functional>
#include <string>
#include <vector>

#include "luminal/egraph/types.h"

namespace luminal::egraph {

enum class SortKind : std::uint8_t {
  classes,  // values are e-classes, and can be united
  unit,
  boolean,
  integer,
  real,
  text,
  big,
  rational,
  opaque,  // numbers whose meaning only their owner knows
  vec,
  set,
  multiset,
  map,
  pair,
  function,  // what is called, then the arguments that it was given already
};

/// What the cells of a column mean.
struct Sort {
  std::string name;
  SortKind kind = SortKind::classes;
  /// Of a container: the sorts of its elements (a map's are key and value; a function's are what it still
  /// takes and what it gives, and `Database::element_sort` tells the sorts of what it holds).
  std::vector<SortId> elements;
  /// False for the sort behind a relation.
  bool unionable = true;
  /// E-classes, or a container with e-classes somewhere inside: joining classes can change its values.
  bool holds_classes = true;
  /// Of classes: the table that says which class is extracted in the place of another; empty if there is
  /// none.
  std::string representatives;
  /// Of an opaque sort: how a value is printed.
  std::function<std::string(Value)> print;

  bool is_classes() const { return kind == SortKind::classes; }
  bool is_container() const { return kind >= SortKind::vec; }
};

}  // namespace luminal::egraph
