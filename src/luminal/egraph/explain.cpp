#include "luminal/egraph/explain.h"

#include <deque>
#include <optional>
#include <set>
#include <unordered_map>

namespace luminal::egraph {
namespace {

class Explainer {
 public:
  explicit Explainer(const Engine& engine) : engine_(engine), reasons_(engine.database().reasons()) {
    for (std::size_t i = 0; i < reasons_.size(); ++i) {
      edges_[reasons_[i].left].push_back(i);
      edges_[reasons_[i].right].push_back(i);
    }
  }

  // Uses only the first `limit` reasons: what explains a congruence was known before it.
  void add(Value left, Value right, std::size_t limit, int depth) {
    Value here = left;
    for (const std::size_t index : path(left, right, limit)) {
      const Reason& reason = reasons_[index];
      const bool forwards = reason.left == here;
      here = forwards ? reason.right : reason.left;
      tell_made(reason.made[forwards ? 0 : 1], depth);
      tell(reason, depth);
      if (told_.insert(index).second)
        for (const auto& [before, after] : reason.arguments) add(before, after, index, depth + 1);
      tell_made(reason.made[forwards ? 1 : 0], depth);
    }
  }

  std::vector<ExplanationStep> steps;

 private:
  void tell(const Reason& reason, int depth) {
    ExplanationStep step;
    step.left = reason.left;
    step.right = reason.right;
    step.depth = depth;
    if (!reason.function.none()) {
      step.kind = ExplanationStep::Kind::congruence;
      step.name = engine_.database().function(reason.function).name;
    } else if (!reason.rule.none()) {
      step.kind = ExplanationStep::Kind::rule;
      step.name = engine_.rule(reason.rule).name;
    }
    steps.push_back(step);
  }

  void tell_made(std::optional<std::size_t> made, int depth) {
    if (made) tell(reasons_[*made], depth);
  }

  std::vector<std::size_t> path(Value left, Value right, std::size_t limit) const {
    std::unordered_map<Value, std::size_t> reached_by;
    std::deque<Value> queue = {left};
    reached_by.emplace(left, reasons_.size());
    while (!queue.empty() && !reached_by.contains(right)) {
      const Value here = queue.front();
      queue.pop_front();
      const auto found = edges_.find(here);
      if (found == edges_.end()) continue;
      for (const std::size_t index : found->second) {
        const Value there = reasons_[index].left == here ? reasons_[index].right : reasons_[index].left;
        if (index < limit && reached_by.emplace(there, index).second) queue.push_back(there);
      }
    }
    std::vector<std::size_t> result;
    if (!reached_by.contains(right)) return result;
    for (Value here = right; here != left;) {
      const std::size_t index = reached_by.at(here);
      result.push_back(index);
      here = reasons_[index].left == here ? reasons_[index].right : reasons_[index].left;
    }
    return {result.rbegin(), result.rend()};
  }

  const Engine& engine_;
  const std::vector<Reason>& reasons_;
  std::unordered_map<Value, std::vector<std::size_t>> edges_;
  std::set<std::size_t> told_;
};

}  // namespace

std::vector<ExplanationStep> explain(const Engine& engine, Value left, Value right) {
  Explainer explainer(engine);
  explainer.add(left, right, engine.database().reasons().size(), 0);
  return std::move(explainer.steps);
}

}  // namespace luminal::egraph
