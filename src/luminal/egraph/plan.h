#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "luminal/egraph/database.h"
#include "luminal/egraph/query.h"

namespace luminal::egraph {

/// Which rows of an atom a step may use, by the time they were written.
enum class Age : std::uint8_t { any, old, fresh };

/// One step of a join. Registers hold the query's variables, then its constants.
struct Step {
  enum class Kind : std::uint8_t {
    lookup,   // the whole key is known: at most one row
    chain,    // some column is known: the rows that hold its value, through the index with the shortest chain
    scan,     // nothing is known: all rows of the right age
    compute,  // a primitive
  };
  struct Cell {
    std::uint32_t column;
    std::uint32_t reg;
  };
  Kind kind = Kind::scan;
  Age age = Age::any;
  FunctionId function;
  PrimitiveId primitive;
  /// Of a lookup or computation: where its inputs are.
  std::vector<std::uint32_t> inputs;
  /// Of a chain: the columns with an index to choose from.
  std::vector<Cell> chains;
  std::vector<Cell> checks;
  std::vector<Cell> binds;
  /// Pairs of columns that must hold the same value.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> equal_columns;
  /// Of a computation: the result's register, and whether it is known already.
  std::uint32_t result = 0;
  bool check_result = false;
};

struct Plan {
  std::vector<Step> steps;
  /// Values of the registers after the variables.
  std::vector<Value> constants;
};

/// An order of evaluation: greedily the part with the fewest expected rows, where a whole key counts as one
/// row and computations run as soon as their inputs are known. If `delta` is given, that atom sees rows
/// written at `since` or later, atoms before it older rows only, and atoms after it all rows.
Plan make_plan(Database& database, const Query& query, std::optional<std::size_t> delta, Stamp since);

}  // namespace luminal::egraph
