#include "luminal/egraph/program.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "luminal/egraph/builtin.h"
#include "luminal/egraph/lower.h"
#include "luminal/support/text.h"

namespace luminal::egraph {

Program::Program(Sink sink) : sink_(std::move(sink)) {
  add_base_sorts(database());
}

void Program::run(std::string_view text) {
  for (const Command& command : parse_program(text)) run(command);
}

void Program::run(const Command& command) {
  try {
    std::visit([&](const auto& what) { execute(command, what); }, command.what);
  } catch (const ProgramError& error) {
    if (error.span().line != 0) throw;
    throw ProgramError(error.problem(), command.span, error.fault());
  }
}

void Program::print(std::string_view text) const {
  if (sink_) sink_(text);
}

void Program::check_free(const std::string& name, Span span) const {
  if (state_.names.contains(name)) {
    throw ProgramError(cat("shadowing is not allowed, but found ", name), span);
  }
}

// A variable without the `$` that a global has would read like that global.
void Program::check_variable(const std::string& name, Span span) const {
  check_free(name, span);
  if (state_.names.contains("$" + name)) {
    throw ProgramError(cat("shadowing is not allowed, but found ", name, " beside the global $", name), span);
  }
}

// Neither may a global read like a constructor.
void Program::check_global(const std::string& name, Span span) const {
  check_free(name, span);
  if (name[0] != '$') return;
  const auto function = state_.engine.database().find_function(std::string_view(name).substr(1));
  if (function && state_.engine.database().function(*function).kind == FunctionKind::constructor) {
    throw ProgramError(
        cat("shadowing is not allowed, but found ", name, " beside the constructor ", name.substr(1)), span);
  }
}

void Program::claim(const std::string& name, Span span) {
  check_free(name, span);
  state_.names.emplace(name, span);
}

void Program::check_no_primitive(const std::string& name, Span span) const {
  if (!state_.engine.database().overloads(name).empty() || is_container_primitive(name)) {
    throw ProgramError(cat("primitive ", name, " already declared"), span);
  }
}

SortId Program::sort_named(const std::string& name, Span span) const {
  const auto sort = state_.engine.database().find_sort(name);
  if (!sort) throw ProgramError(cat("undefined sort ", name), span);
  return *sort;
}

std::vector<SortId> Program::sorts_named(const std::vector<std::string>& names, Span span) const {
  std::vector<SortId> sorts;
  sorts.reserve(names.size());
  for (const std::string& name : names) sorts.push_back(sort_named(name, span));
  return sorts;
}

FunctionId Program::function_named(const std::string& name, Span span) const {
  const auto function = state_.engine.database().find_function(name);
  if (!function) throw ProgramError(cat("unbound function ", name), span, Fault::failed);
  return *function;
}

RulesetId Program::ruleset_named(const std::string& name, Span span) const {
  const auto ruleset = state_.engine.find_ruleset(name);
  if (!ruleset) throw ProgramError(cat("no such ruleset: ", name), span, Fault::failed);
  return *ruleset;
}

void Program::declare_sort(const SortCommand& what, Span span) {
  if (database().find_sort(what.name)) throw ProgramError(cat("sort ", what.name, " already declared"), span);
  check_free(what.name, span);
  if (what.presort.empty()) {
    Sort sort;
    sort.name = what.name;
    sort.representatives = what.representatives;
    database().add_sort(std::move(sort));
  } else {
    add_container_sort(database(), what.name, what.presort, sorts_named(what.arguments, span), span);
  }
  claim(what.name, span);
}

void Program::execute(const Command& command, const SortCommand& what) {
  declare_sort(what, command.span);
}

void Program::execute(const Command& command, const DatatypeCommand& what) {
  static_cast<void>(command);
  for (const bool containers : {false, true}) {
    for (const auto& part : what.parts) {
      if (part.sort.presort.empty() != containers) declare_sort(part.sort, part.span);
    }
  }
  for (const auto& part : what.parts) {
    for (const Variant& variant : part.variants) {
      declare_constructor(variant.name, variant.inputs, part.sort.name, variant.options, variant.span);
    }
  }
}

void Program::declare_constructor(const std::string& name, const std::vector<std::string>& inputs,
                                  const std::string& output, const TableOptions& options, Span span) {
  Function function{name,
                    FunctionKind::constructor,
                    sorts_named(inputs, span),
                    sort_named(output, span),
                    options.cost,
                    options.extractable,
                    options.hidden,
                    MergeKind::unite,
                    {},
                    Table(inputs.size()),
                    {},
                    {}};
  if (!database().sort(function.output).is_classes()) {
    throw ProgramError(cat("the output type of constructor ", name, " must be a sort of classes"), span);
  }
  check_no_primitive(name, span);
  claim(name, span);
  database().add_function(std::move(function));
}

void Program::execute(const Command& command, const FunctionCommand& what) {
  if (what.constructor) {
    declare_constructor(what.name, what.inputs, what.output, what.options, command.span);
    return;
  }
  Function function{what.name,
                    FunctionKind::function,
                    sorts_named(what.inputs, command.span),
                    sort_named(what.output, command.span),
                    1,
                    what.options.extractable,
                    what.options.hidden,
                    what.merge ? MergeKind::compute : MergeKind::refuse,
                    {},
                    Table(what.inputs.size()),
                    {},
                    {}};
  check_no_primitive(what.name, command.span);
  if (what.merge) function.merge_code = lower_merge(database(), *what.merge, function.output);
  claim(what.name, command.span);
  database().add_function(std::move(function));
}

void Program::execute(const Command& command, const RelationCommand& what) {
  const std::vector<SortId> inputs = sorts_named(what.inputs, command.span);
  check_no_primitive(what.name, command.span);
  claim(what.name, command.span);
  Sort sort;
  sort.name = "@" + what.name;
  sort.unionable = false;
  const SortId output = database().add_sort(std::move(sort));
  database().add_function({what.name,
                           FunctionKind::relation,
                           inputs,
                           output,
                           1,
                           true,
                           false,
                           MergeKind::unite,
                           {},
                           Table(inputs.size()),
                           {},
                           {}});
}

void Program::execute(const Command& command, const RulesetCommand& what) {
  std::vector<RulesetId> parts;
  for (const std::string& part : what.parts.value_or(std::vector<std::string>{})) {
    parts.push_back(ruleset_named(part, command.span));
  }
  claim(what.name, command.span);
  if (what.parts) {
    engine().add_combined_ruleset(what.name, std::move(parts));
  } else {
    engine().add_ruleset(what.name);
  }
}

void Program::check_pattern_names(const std::vector<Fact>& facts) const {
  std::function<void(const Expr&)> visit = [&](const Expr& expr) {
    for (const Expr& argument : expr.arguments) visit(argument);
    if (expr.kind != Expr::Kind::variable || expr.name == "_") return;
    if (state_.engine.database().find_global(expr.name)) return;
    check_variable(expr.name, expr.span);
  };
  for (const Fact& fact : facts) {
    visit(fact.left);
    if (fact.right) visit(*fact.right);
  }
}

void Program::check_rule_names(const RuleCommand& rule) const {
  check_pattern_names(rule.body);
  for (const Action& action : rule.head) {
    if (action.kind == Action::Kind::let) check_variable(action.name, action.span);
  }
}

void Program::execute(const Command& command, const RuleCommand& what) {
  Rule rule;
  rule.name = what.name;
  rule.naive = what.naive;
  check_rule_names(what);
  lower_rule(database(), what.body, what.head, what.reads_in_head, command.span, rule);
  rule.ruleset = ruleset_named(what.ruleset, command.span);
  if (engine().is_combined(rule.ruleset))
    throw ProgramError(cat("a rule for the combined ruleset ", what.ruleset, ": it has only its parts'"),
                       command.span, Fault::failed);
  engine().add_rule(std::move(rule));
}

void Program::execute(const Command&, const PushCommand& what) {
  for (std::uint64_t i = 0; i < what.times; ++i) saved_.push_back(state_);
}

void Program::execute(const Command& command, const PopCommand& what) {
  for (std::uint64_t i = 0; i < what.times; ++i) {
    if (saved_.empty()) throw ProgramError("tried to pop too much", command.span, Fault::failed);
    state_ = std::move(saved_.back());
    saved_.pop_back();
    frozen_.reset();
  }
}

void Program::execute(const Command& command, const IncludeCommand& what) {
  constexpr std::size_t deepest = 100;
  std::ifstream file(what.file, std::ios::binary);
  if (!file) throw ProgramError(cat("cannot read file ", in_quotes(what.file)), command.span, Fault::failed);
  if (include_depth_ >= deepest) throw ProgramError("files include each other too deeply", command.span);
  std::ostringstream content;
  content << file.rdbuf();
  ++include_depth_;
  try {
    run(content.str());
  } catch (const ProgramError& error) {
    --include_depth_;
    throw ProgramError(cat("in ", what.file, ": ", error.problem()), command.span, error.fault());
  }
  --include_depth_;
}

void Program::execute(const Command& command, const FailCommand& what) {
  try {
    run(*what.command);
  } catch (const ProgramError& error) {
    if (error.fault() == Fault::failed) return;
    throw;
  }
  throw ProgramError("command should have failed", command.span, Fault::failed);
}

std::map<std::string, std::size_t> Program::table_sizes() const {
  std::map<std::string, std::size_t> sizes;
  const Database& database = state_.engine.database();
  for (std::size_t i = 0; i < database.function_count(); ++i) {
    const Function& function = database.function(FunctionId(i));
    const bool listed = function.kind != FunctionKind::global && !function.hidden;
    if (listed) sizes[function.name] = function.table.live();
  }
  return sizes;
}

}  // namespace luminal::egraph
