#pragma once
#include <string>
#include <vector>

#include "luminal/egraph/engine.h"

namespace luminal::egraph {

/// One joining of two classes on the way from one term to another.
struct ExplanationStep {
  enum class Kind : std::uint8_t { rule, asserted, congruence };
  Kind kind = Kind::asserted;
  /// The rule's name, or the function whose arguments became equal.
  std::string name;
  Value left;
  Value right;
  /// How many congruences this step is inside of: it explains why arguments of an outer step are equal.
  int depth = 0;
};

/// Why two ids, as given when their terms were made, are in one class: which rules joined them, in order from
/// the first to the second; a step whose ids are the same made a term in its class. A rule joins classes: the
/// term it matched may be any that was in the class by then. Empty if they are the same id or not equal.
/// Needs `Database::track_reasons` from the start.
std::vector<ExplanationStep> explain(const Engine& engine, Value left, Value right);

}  // namespace luminal::egraph
