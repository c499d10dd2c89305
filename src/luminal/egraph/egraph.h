#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/egraph/build.h"
#include "luminal/egraph/explain.h"
#include "luminal/egraph/extract.h"
#include "luminal/egraph/frozen.h"
#include "luminal/egraph/program.h"

namespace luminal::egraph {

/// The engine for C++ callers. Everything declared here can also be used by program text run on the same
/// e-graph, and the other way round. Wrong declarations and rules throw `ProgramError`, as refused text does.
class EGraph {
 public:
  explicit EGraph(Program::Sink sink = {}) : program_(std::move(sink)) {}

  Program& program() { return program_; }
  Database& database() { return program_.database(); }
  Engine& engine() { return program_.engine(); }
  /// Runs program text, for instance a file of rules.
  void run_text(std::string_view text) { program_.run(text); }

  SortId add_sort(const std::string& name);
  /// A sort whose values are numbers that the caller interned: equal numbers are equal things.
  SortId add_opaque_sort(const std::string& name, std::function<std::string(Value)> print = {});
  SortId sort(std::string_view name);
  FunctionId add_constructor(const std::string& name, const std::vector<std::string>& inputs,
                             const std::string& output, std::uint64_t cost = 1);
  FunctionId add_relation(const std::string& name, const std::vector<std::string>& inputs);
  /// `merge` is an expression over `old` and `new`; without one, writing another value is an error.
  FunctionId add_function(const std::string& name, const std::vector<std::string>& inputs,
                          const std::string& output, const std::optional<Expr>& merge);
  PrimitiveId add_primitive(const std::string& name, const std::vector<std::string>& inputs,
                            const std::string& output, PrimitiveBody body, bool variadic = false);
  /// A primitive for actions only, which may read tables and make terms.
  PrimitiveId add_action(const std::string& name, const std::vector<std::string>& inputs,
                         const std::string& output, ActionBody body, bool variadic = false);
  void add_ruleset(const std::string& name);
  RuleId add_rule(const std::string& name, const std::vector<Fact>& body, const std::vector<Action>& head,
                  const std::string& ruleset = "");

  /// The term's class; its row is created if it is new.
  Value add(FunctionId constructor, std::initializer_list<Value> arguments) {
    return add(constructor, std::span<const Value>(arguments.begin(), arguments.size()));
  }
  Value add(FunctionId constructor, std::span<const Value> arguments);
  void set(FunctionId function, std::initializer_list<Value> arguments, Value value);
  std::optional<Value> lookup(FunctionId function, std::initializer_list<Value> arguments) const;
  void unite(SortId sort, Value left, Value right) { database().unite(sort, left, right); }
  void rebuild() { database().rebuild(); }
  Value find(Value id) const { return program_.database().find(id); }
  Value integer(std::int64_t value) { return database().atoms().integer(value); }
  Value text(std::string value) { return database().atoms().text(std::move(value)); }

  /// Runs a ruleset until nothing changes, `limit` steps are done, or the budget is used up. Returns the
  /// steps done.
  std::uint64_t run(const std::string& ruleset = "", std::uint64_t limit = no_cost);
  bool holds(const std::vector<Fact>& facts);

  Frozen freeze() { return Frozen(database()); }
  /// See `explain.h`; call `database().track_reasons()` first.
  std::vector<ExplanationStep> explain(Value left, Value right) {
    rebuild();
    return egraph::explain(engine(), left, right);
  }

 private:
  mutable Program program_;
};

}  // namespace luminal::egraph
