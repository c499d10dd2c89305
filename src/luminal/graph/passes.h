#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "luminal/graph/dag.h"
#include "luminal/support/sink.h"

namespace luminal {

/// A named change of a graph. `run` returns whether it changed anything; node ids that survive keep their
/// meaning.
struct Pass {
  std::string name;
  std::function<bool(Dag&)> run;
};

/// One pass after the other.
Pass sequence(std::string name, std::vector<Pass> passes);
/// Again and again until nothing changes, at most `limit` times (then `InternalError`: such a pass never
/// ends).
Pass fixpoint(Pass pass, int limit = 1000);
/// Writes to the sink how long each run took.
Pass timed(Pass pass, Sink sink);
/// Verifies the graph after each run, and names the pass that broke it.
Pass verified(Pass pass);

/// Removes nodes that nothing wanted needs.
Pass dead_code();

/// A shape of graph to look for: an op over sub-patterns, or anything. A pattern matches a node only where
/// the edges between its nodes are unmoved (identity views), so that positions mean the same on both sides.
class Pattern {
 public:
  /// Any value; the same name twice must be the same value.
  static Pattern any(std::string name);
  static Pattern op(Op op, std::vector<Pattern> inputs, std::string name = "");

  const std::string& name() const { return name_; }

 private:
  friend class Matcher;
  bool is_any_ = false;
  Op op_ = Op::input;
  std::vector<Pattern> inputs_;
  std::string name_;
};

/// What a pattern's names stand for.
using Match = std::map<std::string, Value, std::less<>>;

/// Finds `pattern` anywhere, smallest node first, and lets readers of its root read what `replace` returns
/// instead, in a graph that `replace` may add to. `guard` decides, from the match, whether to. Nodes left
/// without readers stay until `dead_code`.
Pass rewrite(std::string name, Pattern pattern, std::function<bool(const Dag&, const Match&)> guard,
             std::function<Value(Dag&, const Match&)> replace);

}  // namespace luminal
