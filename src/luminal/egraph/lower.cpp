#include "luminal/egraph/lower.h"

#include <map>
#include <optional>

#include "luminal/egraph/lower_query.h"
#include "luminal/egraph/resolve.h"
#include "luminal/support/text.h"

namespace luminal::egraph {
namespace {
using Kind = Instruction::Kind;

/// Registers before their final numbers are known: what kind, and which of that kind.
struct Register {
  enum class Class : std::uint8_t { input, constant, result, offered };
  Class kind = Class::result;
  std::uint32_t number = 0;
};

/// Writes the code for expressions and actions.
class CodeBuilder {
 public:
  CodeBuilder(const Database& database, const Resolver& resolver, bool reads)
      : database_(database), resolver_(resolver), reads_(reads), variables_(resolver.variable_count()) {}

  /// The variable's value is an input of the code, whether used or not.
  void add_input(std::uint32_t variable) { variables_[variable] = {Register::Class::input, inputs_++}; }
  /// The variable becomes an input when it is first used; `place` is then listed in `used`.
  void offer(std::uint32_t variable, std::uint32_t place) {
    variables_[variable] = {Register::Class::offered, place};
  }
  const std::vector<std::uint32_t>& used() const { return used_; }
  void set_variable(std::uint32_t variable, std::uint32_t reg) { variables_[variable] = registers_[reg]; }
  void set_constant(std::uint32_t variable, Value value) {
    variables_[variable] = registers_[constant(value)];
  }

  std::uint32_t value(std::uint32_t id) {
    const ResolvedExpr& node = resolver_.node(id);
    if (node.kind == ResolvedExpr::Kind::literal) {
      return constant(constant_value(database_.atoms(), *node.source));
    }
    if (node.kind == ResolvedExpr::Kind::variable) {
      Register& variable = variables_[node.variable];
      if (variable.kind == Register::Class::offered) {
        used_.push_back(variable.number);
        variable = {Register::Class::input, inputs_++};
      }
      return keep(variable);
    }
    Instruction instruction = begin(node);
    if (node.kind == ResolvedExpr::Kind::global) {
      instruction.kind = Kind::lookup;
      instruction.first_argument = static_cast<std::uint32_t>(code_.arguments.size());
      instruction.argument_count = 1;
      code_.arguments.push_back(constant(node.global));
    } else if (node.kind == ResolvedExpr::Kind::primitive) {
      instruction.kind = Kind::call;
      instruction.callee = node.primitive.value();
    } else {
      const Function& function = database_.function(node.function);
      instruction.kind = function.constructs() ? Kind::make : Kind::lookup;
      if (function.kind == FunctionKind::function && !reads_) {
        throw ProgramError(
            cat("value lookup of non-constructor function ", function.name, " is disallowed here"),
            node.source->span);
      }
    }
    instruction.target = keep({Register::Class::result, results_++});
    const std::uint32_t target = instruction.target;
    code_.instructions.push_back(std::move(instruction));
    return target;
  }

  /// An instruction that takes the call's arguments.
  Instruction begin(const ResolvedExpr& node) {
    Instruction instruction;
    instruction.callee = node.function.value();
    instruction.span = node.source->span;
    std::vector<std::uint32_t> arguments;
    arguments.reserve(node.arguments.size());
    for (const std::uint32_t argument : node.arguments) {
      const bool name = arguments.empty() && node.callee;
      arguments.push_back(name ? constant(*node.callee) : value(argument));
    }
    instruction.first_argument = static_cast<std::uint32_t>(code_.arguments.size());
    instruction.argument_count = static_cast<std::uint32_t>(arguments.size());
    code_.arguments.insert(code_.arguments.end(), arguments.begin(), arguments.end());
    return instruction;
  }
  void emit(Instruction instruction) { code_.instructions.push_back(std::move(instruction)); }

  Code finish(std::optional<std::uint32_t> result) {
    code_.access = reads_ ? Access::full : Access::write;
    code_.inputs = inputs_;
    code_.registers = inputs_ + static_cast<std::uint32_t>(code_.constants.size()) + results_;
    const auto place = [&](std::uint32_t& reg) {
      if (reg < registers_.size()) reg = final_number(registers_[reg]);
    };
    for (std::uint32_t& argument : code_.arguments) place(argument);
    for (Instruction& instruction : code_.instructions) {
      place(instruction.target);
      place(instruction.other);
    }
    if (result) code_.result = final_number(registers_[*result]);
    if (!result) fuse_unions(code_);
    return std::move(code_);
  }

 private:
  std::uint32_t keep(Register reg) {
    registers_.push_back(reg);
    return static_cast<std::uint32_t>(registers_.size() - 1);
  }
  std::uint32_t constant(Value value) {
    const auto found = constants_.emplace(value, static_cast<std::uint32_t>(code_.constants.size()));
    if (found.second) code_.constants.push_back(value);
    return keep({Register::Class::constant, found.first->second});
  }
  std::uint32_t final_number(const Register& reg) const {
    switch (reg.kind) {
      case Register::Class::input:
        return reg.number;
      case Register::Class::constant:
        return inputs_ + reg.number;
      case Register::Class::offered:
      case Register::Class::result:
        break;
    }
    return inputs_ + static_cast<std::uint32_t>(code_.constants.size()) + reg.number;
  }

  const Database& database_;
  const Resolver& resolver_;
  bool reads_;
  std::vector<Register> variables_;
  std::vector<std::uint32_t> used_;
  std::vector<Register> registers_;
  std::map<Value, std::uint32_t> constants_;
  std::uint32_t inputs_ = 0;
  std::uint32_t results_ = 0;
  Code code_;
};

/// An action whose names are resolved.
struct ResolvedAction {
  const Action* action;
  std::vector<std::uint32_t> operands;
  std::uint32_t variable = 0;
};

void require_table(const Database& database, const Action& action) {
  const Expr& call = action.operands[0];
  const auto id = database.find_function(call.name);
  if (!id) {
    throw ProgramError(cat("unbound function ", call.name), action.span);
  }
  const Function& function = database.function(*id);
  if (action.kind == Action::Kind::set && function.constructs()) {
    throw ProgramError(cat("cannot set constructor ", call.name, ": use `union` or declare it as a function"),
                       action.span);
  }
  if (action.kind == Action::Kind::subsume && !function.constructs()) {
    throw ProgramError(cat("cannot subsume function ", call.name, ", which has a merge"), action.span);
  }
}

ResolvedAction resolve_action(const Database& database, Resolver& resolver, const Action& action) {
  ResolvedAction result{&action, {}, 0};
  const bool table = action.kind == Action::Kind::set || action.kind == Action::Kind::remove ||
                     action.kind == Action::Kind::subsume;
  if (table) require_table(database, action);
  for (const Expr& operand : action.operands) result.operands.push_back(resolver.add_value(operand));
  if (action.kind == Action::Kind::set || action.kind == Action::Kind::unite) {
    resolver.equate(result.operands[0], result.operands[1]);
  }
  if (action.kind == Action::Kind::let)
    result.variable = resolver.bind(action.name, result.operands[0], action.span);
  return result;
}

void emit_union(const Database& database, const Resolver& resolver, CodeBuilder& builder,
                const ResolvedAction& resolved) {
  const Sort& sort = database.sort(resolver.sort(resolved.operands[0]));
  if (!sort.is_classes() || !sort.unionable) {
    throw ProgramError(cat("cannot union values of sort ", sort.name), resolved.action->span);
  }
  Instruction instruction;
  instruction.kind = Kind::unite;
  instruction.callee = resolver.sort(resolved.operands[0]).value();
  instruction.other = builder.value(resolved.operands[0]);
  instruction.target = builder.value(resolved.operands[1]);
  instruction.span = resolved.action->span;
  builder.emit(std::move(instruction));
}

// Returns the register of the action's value, if it has one.
std::optional<std::uint32_t> emit_action(const Database& database, const Resolver& resolver,
                                         CodeBuilder& builder, const ResolvedAction& resolved) {
  const Action& action = *resolved.action;
  switch (action.kind) {
    case Action::Kind::let: {
      const std::uint32_t reg = builder.value(resolved.operands[0]);
      builder.set_variable(resolved.variable, reg);
      return reg;
    }
    case Action::Kind::evaluate:
      return builder.value(resolved.operands[0]);
    case Action::Kind::unite:
      emit_union(database, resolver, builder, resolved);
      break;
    case Action::Kind::set: {
      Instruction instruction = builder.begin(resolver.node(resolved.operands[0]));
      instruction.kind = Kind::set;
      instruction.other = builder.value(resolved.operands[1]);
      builder.emit(std::move(instruction));
      break;
    }
    case Action::Kind::remove:
    case Action::Kind::subsume: {
      Instruction instruction = builder.begin(resolver.node(resolved.operands[0]));
      instruction.kind = action.kind == Action::Kind::remove ? Kind::remove : Kind::subsume;
      builder.emit(std::move(instruction));
      break;
    }
    case Action::Kind::panic: {
      Instruction instruction;
      instruction.kind = Kind::fail;
      instruction.message = "panic: " + action.name;
      instruction.span = action.span;
      builder.emit(std::move(instruction));
      break;
    }
  }
  return std::nullopt;
}

std::vector<std::pair<std::uint32_t, std::optional<std::uint32_t>>> resolve_facts(
    Resolver& resolver, const std::vector<Fact>& facts) {
  std::vector<std::pair<std::uint32_t, std::optional<std::uint32_t>>> result;
  for (const Fact& fact : facts) {
    const std::uint32_t left = resolver.add_pattern(fact.left);
    std::optional<std::uint32_t> right;
    if (fact.right) {
      right = resolver.add_pattern(*fact.right);
      resolver.equate(left, *right);
    }
    result.emplace_back(left, right);
  }
  return result;
}

}  // namespace

Query lower_facts(const Database& database, const std::vector<Fact>& facts, Span span) {
  Resolver resolver(database);
  const auto resolved = resolve_facts(resolver, facts);
  resolver.solve();
  QueryBuilder builder(database, resolver, static_cast<std::uint32_t>(resolver.variable_count()));
  for (const auto& [left, right] : resolved) {
    const Term place = builder.add(left);
    if (right) builder.equate(place, builder.add(*right));
  }
  Query query = builder.finish(span);
  query.see_subsumed = true;
  query.access = Access::read;
  return query;
}

void lower_rule(const Database& database, const std::vector<Fact>& body, const std::vector<Action>& head,
                bool reads, Span span, Rule& rule) {
  Resolver resolver(database);
  const auto facts = resolve_facts(resolver, body);
  const auto body_variables = static_cast<std::uint32_t>(resolver.variable_count());
  std::vector<ResolvedAction> actions;
  actions.reserve(head.size());
  for (const Action& action : head) actions.push_back(resolve_action(database, resolver, action));
  resolver.solve();

  QueryBuilder builder(database, resolver, body_variables);
  for (const auto& [left, right] : facts) {
    const Term place = builder.add(left);
    if (right) builder.equate(place, builder.add(*right));
  }
  rule.query = builder.finish(span);
  rule.query.access = reads ? Access::read : Access::none;

  CodeBuilder code(database, resolver, reads);
  for (std::uint32_t variable = 0; variable < body_variables; ++variable) {
    const Term place = builder.place(variable);
    if (place.variable) {
      code.offer(variable, place.number);
    } else {
      code.set_constant(variable, place.number);
    }
  }
  for (const ResolvedAction& action : actions) emit_action(database, resolver, code, action);
  rule.head_variables = code.used();
  rule.head = code.finish(std::nullopt);
}

LoweredAction lower_action(const Database& database, const Action& action) {
  Resolver resolver(database);
  const ResolvedAction resolved = resolve_action(database, resolver, action);
  resolver.solve();
  CodeBuilder builder(database, resolver, true);
  const auto result = emit_action(database, resolver, builder, resolved);
  LoweredAction lowered;
  if (result) lowered.sort = resolver.sort(resolved.operands[0]);
  lowered.code = builder.finish(result);
  return lowered;
}

LoweredAction lower_expr(const Database& database, const Expr& expr) {
  Action action;
  action.span = expr.span;
  action.operands.push_back(expr);
  return lower_action(database, action);
}

namespace {

/// The expression with `old` for every call of a table.
Expr without_tables(const Database& database, Expr expr) {
  if (expr.kind != Expr::Kind::call) return expr;
  if (database.find_function(expr.name)) {
    Expr variable;
    variable.kind = Expr::Kind::variable;
    variable.span = expr.span;
    variable.name = "old";
    return variable;
  }
  for (auto& argument : expr.arguments) argument = without_tables(database, std::move(argument));
  return expr;
}

Code lower_merge_code(const Database& database, const Expr& expr, SortId output) {
  Resolver resolver(database);
  const std::uint32_t old_value = resolver.declare("old", output);
  const std::uint32_t new_value = resolver.declare("new", output);
  const std::uint32_t node = resolver.add_value(expr);
  resolver.expect(node, output);
  resolver.solve();
  CodeBuilder builder(database, resolver, true);
  builder.add_input(old_value);
  builder.add_input(new_value);
  const std::uint32_t result = builder.value(node);
  return builder.finish(result);
}

}  // namespace

MergeCode lower_merge(const Database& database, const Expr& expr, SortId output) {
  MergeCode result{lower_merge_code(database, expr, output), {}};
  try {
    result.same = lower_merge_code(database, without_tables(database, expr), output);
  } catch (const ProgramError&) {  // a table of another sort inside: both are computed the same way
    result.same = result.code;
  }
  return result;
}

}  // namespace luminal::egraph
