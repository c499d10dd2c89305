#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "luminal/rewrite/terms.h"

namespace luminal::rewriting {

struct Body;
using BodyRef = std::shared_ptr<const Body>;

/// A choice of terms for one kernel: a tree whose leaves are classes that exist in memory. Shared parts are
/// shared objects.
struct Body {
  ClassId owner;
  /// Null: the class is read from memory.
  const Term* term = nullptr;
  std::vector<BodyRef> children;
};

/// What must hold of the dims' values for a kernel to stay inside its arrays; tested before a run.
struct RangeCheck {
  Expr index;  // `low` and `high` are its smallest and largest value
  Expr low;
  Expr high;
  Expr length;
  Expr points;  // how many there are; with none, nothing is asked
};

/// A kernel, and what its arrays are.
struct Lowered {
  kernel::Kernel kernel;
  std::vector<ClassId> inputs;   // the class of each input
  std::vector<ClassId> outputs;  // the class of each output
  /// By output: the class whose elements it holds before the kernel runs (scatter). None for most.
  std::vector<std::optional<ClassId>> bases;
  std::vector<RangeCheck> checks;
};

/// Makes one kernel of bodies: inlining is composing index functions. In normal form: equal values are one;
/// products under a sum are grouped by the loops they vary with; a sum of a guarded sum is one sum. A body
/// may read another body's class at equal coordinates: then the value is passed on in registers.
Lowered lower(const Terms& terms, const std::vector<BodyRef>& bodies);

}  // namespace luminal::rewriting
