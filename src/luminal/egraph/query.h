#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "luminal/egraph/types.h"

namespace luminal::egraph {

/// A place in a pattern: a variable, or a constant.
struct Term {
  bool variable = true;
  std::uint32_t number = 0;  // the variable's number, or the constant's value
  friend bool operator==(const Term&, const Term&) = default;
};

/// "There is a row of this function whose cells are these": inputs, then the output.
struct Atom {
  FunctionId function;
  std::vector<Term> terms;
};

/// "This primitive, of these inputs, has this result."
struct Computation {
  PrimitiveId primitive;
  std::vector<Term> inputs;
  Term output;
};

/// A conjunction. A match gives every variable a value such that all parts hold.
struct Query {
  std::vector<Atom> atoms;
  std::vector<Computation> computations;
  std::uint32_t variables = 0;
  /// Two different constants were equated: nothing matches.
  bool impossible = false;
  /// Also see rows that were subsumed (as `check` does).
  bool see_subsumed = false;
  /// What the primitives in it may do.
  Access access = Access::none;

  /// Equal text means equal queries.
  std::string signature() const;
};

}  // namespace luminal::egraph
