#pragma once
#include <string>
#include <vector>

#include "luminal/egraph/code.h"
#include "luminal/egraph/table.h"
#include "luminal/egraph/types.h"

namespace luminal::egraph {

enum class FunctionKind : std::uint8_t {
  constructor,  // a term of a sort of classes, created on demand
  relation,     // a constructor of a sort of its own whose values are never united
  function,     // partial, written by `set`
  global,       // the values of top-level `let`s of one sort, not listed among the tables
};

enum class MergeKind : std::uint8_t { unite, refuse, compute };

/// A declared function, and its table.
struct Function {
  std::string name;
  FunctionKind kind = FunctionKind::constructor;
  std::vector<SortId> inputs;
  SortId output;
  std::uint64_t cost = 1;
  bool extractable = true;
  /// Not listed among the tables.
  bool hidden = false;
  MergeKind merge = MergeKind::unite;
  MergeCode merge_code;
  Table table;
  /// The columns whose sort is one of classes, and those whose containers hold classes.
  std::vector<std::uint32_t> class_columns;
  std::vector<std::uint32_t> container_columns;

  bool constructs() const { return kind == FunctionKind::constructor || kind == FunctionKind::relation; }
  SortId column(std::size_t i) const { return i < inputs.size() ? inputs[i] : output; }
};

}  // namespace luminal::egraph
