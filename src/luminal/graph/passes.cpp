#include "luminal/graph/passes.h"

#include <chrono>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

Pass sequence(std::string name, std::vector<Pass> passes) {
  return {std::move(name), [passes = std::move(passes)](Dag& dag) {
            bool changed = false;
            for (const auto& pass : passes) changed = pass.run(dag) || changed;
            return changed;
          }};
}

Pass fixpoint(Pass pass, int limit) {
  std::string name = pass.name + " to a fixpoint";
  return {
      std::move(name), [pass = std::move(pass), limit](Dag& dag) {
        for (int round = 0; round < limit; ++round)
          if (!pass.run(dag)) return round > 0;
        throw InternalError(cat("pass '", pass.name, "' still changes the graph after ", limit, " rounds"));
      }};
}

Pass timed(Pass pass, Sink sink) {
  std::string name = pass.name;
  return {std::move(name), [pass = std::move(pass), sink = std::move(sink)](Dag& dag) {
            const auto start = std::chrono::steady_clock::now();
            const bool changed = pass.run(dag);
            const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
            if (sink)
              sink(cat("pass ", pass.name, ": ", took.count(), " ms, ", changed ? "changed" : "no change"));
            return changed;
          }};
}

Pass verified(Pass pass) {
  std::string name = pass.name;
  return {std::move(name), [pass = std::move(pass)](Dag& dag) {
            const bool changed = pass.run(dag);
            try {
              verify(dag);
            } catch (const InternalError& error) {
              throw InternalError(cat("pass '", pass.name, "' broke the graph: ", error.what()));
            }
            return changed;
          }};
}

Pass dead_code() {
  return {"dead code", [](Dag& dag) {
            std::vector<bool> needed(dag.id_bound(), false);
            for (const auto id : execution_order(dag, dag.roots())) needed[id.index()] = true;
            std::vector<NodeId> dead;
            for (const auto id : dag.nodes())
              if (!needed[id.index()]) dead.push_back(id);
            dag.remove(dead);
            return !dead.empty();
          }};
}

Pattern Pattern::any(std::string name) {
  Pattern pattern;
  pattern.is_any_ = true;
  pattern.name_ = std::move(name);
  return pattern;
}

Pattern Pattern::op(Op op, std::vector<Pattern> inputs, std::string name) {
  Pattern pattern;
  pattern.op_ = op;
  pattern.inputs_ = std::move(inputs);
  pattern.name_ = std::move(name);
  return pattern;
}

class Matcher {
 public:
  explicit Matcher(const Dag& dag) : dag_(dag) {}

  bool matches(const Pattern& pattern, const Value& value, Match& match) const {
    if (!pattern.name_.empty()) {
      const auto [found, added] = match.emplace(pattern.name_, value);
      if (!added && !(found->second == value)) return false;
    }
    if (pattern.is_any_) return true;
    const Node& node = dag_.node(value.node);
    if (node.op != pattern.op_ || value.output != 0 || !value.view.is_identity()) return false;
    if (node.inputs.size() != pattern.inputs_.size()) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (!matches(pattern.inputs_[i], node.inputs[i], match)) return false;
    return true;
  }

 private:
  const Dag& dag_;
};

Pass rewrite(std::string name, Pattern pattern, std::function<bool(const Dag&, const Match&)> guard,
             std::function<Value(Dag&, const Match&)> replace) {
  return {std::move(name),
          [pattern = std::move(pattern), guard = std::move(guard), replace = std::move(replace)](Dag& dag) {
            bool changed = false;
            for (const auto id : dag.nodes()) {
              if (dag.node(id).outputs.empty()) continue;
              Match match;
              if (!Matcher(dag).matches(pattern, dag.whole(id), match)) continue;
              if (guard && !guard(dag, match)) continue;
              const Value by = replace(dag, match);
              if (by == dag.whole(id)) continue;
              changed = dag.replace(id, 0, by) || changed;
            }
            return changed;
          }};
}

}  // namespace luminal
