#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "luminal/egraph/lower.h"
#include "luminal/egraph/program.h"
#include "luminal/support/text.h"

namespace luminal::egraph {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\r' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

template <typename T>
std::optional<T> number(std::string_view field) {
  T value{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size()) return std::nullopt;
  return value;
}

std::optional<Value> read_field(Atoms& atoms, const Sort& sort, std::string_view field) {
  if (sort.kind == SortKind::text) return atoms.text(std::string(field));
  if (sort.kind == SortKind::integer) {
    const auto value = number<std::int64_t>(field);
    return value ? std::optional<Value>(atoms.integer(*value)) : std::nullopt;
  }
  if (sort.kind == SortKind::real) {
    const auto value = number<double>(field);
    return value ? std::optional<Value>(atoms.real(*value)) : std::nullopt;
  }
  return std::nullopt;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t start = 0;;) {
    const std::size_t tab = line.find('\t', start);
    fields.push_back(trimmed(line.substr(start, tab == std::string_view::npos ? tab : tab - start)));
    if (tab == std::string_view::npos) return fields;
    start = tab + 1;
  }
}

}  // namespace

Program::Evaluated Program::run_code(const Code& code, SortId sort) {
  std::vector<Value> registers(code.registers);
  std::copy(code.constants.begin(), code.constants.end(), registers.begin() + code.inputs);
  try {
    database().execute(code, registers.data());
  } catch (const ProgramError&) {
    database().discard();
    throw;
  }
  database().rebuild();
  if (sort.none()) return {};
  return {sort, database().canonical(sort, registers[code.result])};
}

Program::Evaluated Program::evaluate(const Expr& expr) {
  const LoweredAction lowered = lower_expr(database(), expr);
  return run_code(lowered.code, lowered.sort);
}

void Program::execute(const Command& command, const ActionCommand& what) {
  const Action& action = what.action;
  if (action.kind == Action::Kind::let) check_global(action.name, command.span);
  const LoweredAction lowered = lower_action(database(), action);
  const Evaluated result = run_code(lowered.code, lowered.sort);
  if (action.kind != Action::Kind::let) return;
  claim(action.name, command.span);
  database().add_global(action.name, result.sort, result.value);
}

bool Program::run_schedule(const Schedule& schedule) {
  bool changed = false;
  switch (schedule.kind) {
    case Schedule::Kind::run: {
      const RulesetId ruleset = ruleset_named(schedule.ruleset, schedule.span);
      if (!schedule.until.empty()) {
        check_pattern_names(schedule.until);
        if (engine().holds(lower_facts(database(), schedule.until, schedule.span))) return false;
      }
      return engine().step(ruleset);
    }
    case Schedule::Kind::sequence:
      for (const Schedule& part : schedule.parts) changed = run_schedule(part) || changed;
      return changed;
    case Schedule::Kind::repeat:
    case Schedule::Kind::saturate:
      break;
  }
  const bool limited = schedule.kind == Schedule::Kind::repeat;
  for (std::uint64_t i = 0; !limited || i < schedule.limit; ++i) {
    bool round = false;
    for (const Schedule& part : schedule.parts) round = run_schedule(part) || round;
    if (!round) break;
    changed = true;
  }
  return changed;
}

void Program::execute(const Command&, const ScheduleCommand& what) {
  run_schedule(what.schedule);
}

void Program::execute(const Command& command, const CheckCommand& what) {
  check_pattern_names(what.facts);
  if (engine().holds(lower_facts(database(), what.facts, command.span))) return;
  std::vector<std::string> facts;
  facts.reserve(what.facts.size());
  for (const Fact& fact : what.facts) facts.push_back(print_fact(fact));
  throw ProgramError(cat("check failed: ", join(facts, " ")), command.span, Fault::failed);
}

void Program::execute(const Command& command, const InputCommand& what) {
  const FunctionId id = function_named(what.function, command.span);
  const Function& function = database().function(id);
  std::ifstream file(what.file, std::ios::binary);
  if (!file) throw ProgramError(cat("cannot read file ", in_quotes(what.file)), command.span, Fault::failed);
  const std::size_t width = function.inputs.size() + (function.constructs() ? 0 : 1);
  std::string line;
  for (std::uint32_t number = 1; std::getline(file, line); ++number) {
    const std::vector<std::string_view> fields = fields_of(line);
    std::vector<Value> cells;
    for (std::size_t i = 0; i < fields.size() && fields.size() == width; ++i) {
      const auto value =
          read_field(database().atoms(), database().sort(database().function(id).column(i)), fields[i]);
      if (!value) break;
      cells.push_back(*value);
    }
    if (cells.size() != width) {
      throw ProgramError(cat("incorrect format in file ", in_quotes(what.file), ", line ", number),
                         command.span, Fault::failed);
    }
    if (database().function(id).constructs()) {
      database().make(id, cells.data());
    } else {
      database().set(id, cells.data(), cells.back());
    }
  }
  database().rebuild();
}

}  // namespace luminal::egraph
