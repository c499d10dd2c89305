#include "luminal/egraph/egraph.h"

#include <algorithm>

#include "luminal/egraph/lower.h"
#include "luminal/support/text.h"

namespace luminal::egraph {
namespace {
template <typename T>
Command command(T what) {
  Command result;
  result.what = std::move(what);
  return result;
}
}  // namespace

SortId EGraph::sort(std::string_view name) {
  const auto found = database().find_sort(name);
  if (!found) throw ProgramError(cat("undefined sort ", name), {});
  return *found;
}

SortId EGraph::add_sort(const std::string& name) {
  program_.run(command(SortCommand{name, "", {}, ""}));
  return sort(name);
}

SortId EGraph::add_opaque_sort(const std::string& name, std::function<std::string(Value)> print) {
  if (database().find_sort(name)) throw ProgramError(cat("sort ", name, " already declared"), {});
  Sort opaque;
  opaque.name = name;
  opaque.kind = SortKind::opaque;
  opaque.unionable = false;
  opaque.holds_classes = false;
  opaque.print = std::move(print);
  return database().add_sort(std::move(opaque));
}

FunctionId EGraph::add_constructor(const std::string& name, const std::vector<std::string>& inputs,
                                   const std::string& output, std::uint64_t cost) {
  FunctionCommand what;
  what.name = name;
  what.inputs = inputs;
  what.output = output;
  what.constructor = true;
  what.options.cost = cost;
  program_.run(command(std::move(what)));
  return *database().find_function(name);
}

FunctionId EGraph::add_relation(const std::string& name, const std::vector<std::string>& inputs) {
  program_.run(command(RelationCommand{name, inputs}));
  return *database().find_function(name);
}

FunctionId EGraph::add_function(const std::string& name, const std::vector<std::string>& inputs,
                                const std::string& output, const std::optional<Expr>& merge) {
  FunctionCommand what;
  what.name = name;
  what.inputs = inputs;
  what.output = output;
  what.merge = merge;
  program_.run(command(std::move(what)));
  return *database().find_function(name);
}

PrimitiveId EGraph::add_primitive(const std::string& name, const std::vector<std::string>& inputs,
                                  const std::string& output, PrimitiveBody body, bool variadic) {
  Primitive primitive;
  primitive.name = name;
  for (const std::string& input : inputs) primitive.inputs.push_back(sort(input));
  primitive.output = sort(output);
  primitive.body = std::move(body);
  primitive.repeated = variadic ? 1 : 0;
  return database().add_primitive(std::move(primitive));
}

PrimitiveId EGraph::add_action(const std::string& name, const std::vector<std::string>& inputs,
                               const std::string& output, ActionBody body, bool variadic) {
  Primitive primitive;
  primitive.name = name;
  for (const std::string& input : inputs) primitive.inputs.push_back(sort(input));
  primitive.output = sort(output);
  primitive.action = std::move(body);
  primitive.repeated = variadic ? 1 : 0;
  return database().add_primitive(std::move(primitive));
}

void EGraph::add_ruleset(const std::string& name) {
  program_.run(command(RulesetCommand{name, std::nullopt}));
}

RuleId EGraph::add_rule(const std::string& name, const std::vector<Fact>& body,
                        const std::vector<Action>& head, const std::string& ruleset) {
  const auto owner = engine().find_ruleset(ruleset);
  if (!owner) throw ProgramError(cat("no such ruleset: ", ruleset), {});
  Rule rule;
  rule.name = name;
  rule.ruleset = *owner;
  lower_rule(database(), body, head, false, {}, rule);
  return engine().add_rule(std::move(rule));
}

Value EGraph::add(FunctionId constructor, std::span<const Value> arguments) {
  ensure(arguments.size() == database().function(constructor).inputs.size(),
         "a term has its constructor's arity");
  return database().make(constructor, arguments.data());
}

void EGraph::set(FunctionId function, std::initializer_list<Value> arguments, Value value) {
  ensure(arguments.size() == database().function(function).inputs.size(), "a key has its function's arity");
  database().set(function, arguments.begin(), value);
}

std::optional<Value> EGraph::lookup(FunctionId function, std::initializer_list<Value> arguments) const {
  const Table& table = program_.database().function(function).table;
  const Row row = table.find(arguments.begin());
  if (row == no_row) return std::nullopt;
  return table.output(row);
}

std::uint64_t EGraph::run(const std::string& ruleset, std::uint64_t limit) {
  const auto id = engine().find_ruleset(ruleset);
  if (!id) throw ProgramError(cat("no such ruleset: ", ruleset), {});
  rebuild();
  std::uint64_t steps = 0;
  while (steps < limit && engine().step(*id)) ++steps;
  return steps;
}

bool EGraph::holds(const std::vector<Fact>& facts) {
  rebuild();
  return engine().holds(lower_facts(database(), facts, {}));
}

}  // namespace luminal::egraph
