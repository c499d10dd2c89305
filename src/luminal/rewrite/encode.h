#pragma once
#include <map>
#include <vector>

#include "luminal/graph/dag.h"
#include "luminal/graph/interpreter.h"
#include "luminal/rewrite/language.h"

namespace luminal::rewriting {

/// A value that a region takes from outside: an input, a state, or what a boundary op gave.
struct Source {
  OutputId place;
  /// Does not change from run to run: what is made of such values alone is computed when they are set.
  bool is_static = false;
};

/// Which values a region computes, and from what.
struct Region {
  std::vector<Source> sources;
  /// What others need of it, each read whole or through a view.
  std::vector<Value> wanted;
};

/// Ops that stand between regions: nothing is rewritten or fused across them.
bool is_boundary(Op op);

/// Who read whom in the graph as it was given.
struct Read {
  egraph::Value read;
  egraph::Value reader;
  /// At the same coordinates, element by element.
  bool in_place = false;
};

struct Encoded {
  /// The classes of what is wanted, in order.
  std::vector<egraph::Value> wanted;
  std::vector<Read> reads;
};

/// Writes a region's nodes into the e-graph; source k is `Leaf k`.
Encoded encode(const Dag& dag, const Region& region, Language& language);

}  // namespace luminal::rewriting
