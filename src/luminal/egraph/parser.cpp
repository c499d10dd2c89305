#include <algorithm>
#include <map>

#include "luminal/egraph/ast.h"
#include "luminal/egraph/parse_parts.h"
#include "luminal/support/text.h"

namespace luminal::egraph {
namespace {
using namespace parts;
using Commands = std::vector<Command>;

template <typename T>
Commands one(const Sexpr& form, T what) {
  Commands result(1);
  result[0].span = form.span;
  result[0].what = std::move(what);
  return result;
}

Commands parse_command(const Sexpr& form);

SortCommand container_sort(const Sexpr& name, const Sexpr& call) {
  SortCommand sort;
  sort.name = symbol(name, "sort name");
  sort.presort = head(call, "container sort declaration");
  if (sort.presort == "UnstableFn") {
    expect_size(call, 3, 3, "(UnstableFn (<input sort>*) <output sort>)");
    sort.arguments = symbols(call.items[1], "list of input sorts");
    sort.arguments.push_back(symbol(call.items[2], "output sort"));
    return sort;
  }
  for (std::size_t i = 1; i < call.items.size(); ++i)
    sort.arguments.push_back(symbol(call.items[i], "sort name"));
  return sort;
}

Commands sort_command(const Sexpr& form) {
  const char* usage =
      "(sort <name>), (sort <name> (<container sort> <argument sort>*)) or (sort <name> :internal-uf "
      "<table>)";
  expect_size(form, 2, 4, usage);
  if (form.items.size() != 3) {
    SortCommand command{symbol(form.items[1], "sort name"), "", {}, ""};
    if (form.items.size() == 4) {
      if (symbol(form.items[2], usage) != ":internal-uf") expect_size(form, 3, 3, usage);
      command.representatives = symbol(form.items[3], "table name");
    }
    return one(form, std::move(command));
  }
  return one(form, container_sort(form.items[1], form.items[2]));
}

Commands datatype_command(const Sexpr& form) {
  expect_size(form, 2, no_limit, "(datatype <name> <variant>*)");
  DatatypeCommand::Part part;
  part.span = form.span;
  part.sort.name = symbol(form.items[1], "sort name");
  for (std::size_t i = 2; i < form.items.size(); ++i) part.variants.push_back(variant(form.items[i]));
  return one(form, DatatypeCommand{{std::move(part)}});
}

Commands datatypes_command(const Sexpr& form) {
  DatatypeCommand command;
  for (std::size_t i = 1; i < form.items.size(); ++i) {
    const Sexpr& item = form.items[i];
    DatatypeCommand::Part part;
    part.span = item.span;
    const std::string name = head(item, "datatype");
    if (name == "sort") {
      expect_size(item, 3, 3, "(sort <name> (<container sort> <argument sort>*))");
      part.sort = container_sort(item.items[1], item.items[2]);
    } else {
      part.sort.name = name;
      for (std::size_t j = 1; j < item.items.size(); ++j) part.variants.push_back(variant(item.items[j]));
    }
    command.parts.push_back(std::move(part));
  }
  return one(form, std::move(command));
}

// Whether the option is one that constructors and functions share.
bool table_flag(const Option& option, TableOptions& options) {
  if (!option.values.empty()) return false;
  if (option.key == ":unextractable") {
    options.extractable = false;
  } else if (option.key == ":internal-hidden" || option.key == ":internal-let") {
    options.hidden = true;
  } else {
    return false;
  }
  return true;
}

Commands function_command(const Sexpr& form) {
  expect_size(form, 4, no_limit,
              "(function <name> (<input sort>*) <output sort> :merge <expr>) or :no-merge");
  FunctionCommand command;
  command.name = symbol(form.items[1], "function name");
  command.inputs = symbols(form.items[2], "input sorts");
  command.output = symbol(form.items[3], "output sort");
  bool decided = false;
  for (const Option& option : options(form, 4)) {
    const bool merge = option.key == ":merge" && option.values.size() == 1;
    const bool refuse = option.key == ":no-merge" && option.values.empty();
    if (merge || refuse) {
      if (decided) throw ProgramError("parse error: conflicting merge options", form.span);
      decided = true;
      if (merge) command.merge = expr(*option.values[0]);
    } else if (!table_flag(option, command.options)) {
      throw ProgramError("parse error: could not parse function options", form.span);
    }
  }
  if (!decided)
    throw ProgramError("parse error: functions are required to specify merge behaviour", form.span);
  return one(form, std::move(command));
}

Commands constructor_command(const Sexpr& form) {
  expect_size(form, 4, no_limit,
              "(constructor <name> (<input sort>*) <output sort> [:cost <cost>] [:unextractable])");
  FunctionCommand command;
  command.constructor = true;
  command.name = symbol(form.items[1], "constructor name");
  command.inputs = symbols(form.items[2], "input sorts");
  command.output = symbol(form.items[3], "output sort");
  for (const Option& option : options(form, 4)) {
    if (option.key == ":cost" && option.values.size() == 1) {
      command.options.cost = natural(*option.values[0], "cost");
    } else if (!table_flag(option, command.options)) {
      throw ProgramError("parse error: could not parse constructor options", form.span);
    }
  }
  return one(form, std::move(command));
}

Commands relation_command(const Sexpr& form) {
  expect_size(form, 3, 3, "(relation <name> (<input sort>*))");
  return one(form,
             RelationCommand{symbol(form.items[1], "relation name"), symbols(form.items[2], "input sorts")});
}

Commands ruleset_command(const Sexpr& form) {
  expect_size(form, 2, 2, "(ruleset <name>)");
  return one(form, RulesetCommand{symbol(form.items[1], "ruleset name"), std::nullopt});
}

Commands combined_command(const Sexpr& form) {
  expect_size(form, 2, no_limit, "(unstable-combined-ruleset <name> <child ruleset>*)");
  std::vector<std::string> children;
  for (std::size_t i = 2; i < form.items.size(); ++i)
    children.push_back(symbol(form.items[i], "ruleset name"));
  return one(form, RulesetCommand{symbol(form.items[1], "combined ruleset name"), std::move(children)});
}

Commands rule_command(const Sexpr& form) {
  expect_size(form, 3, no_limit, "(rule (<fact>*) (<action>*) <option>*)");
  RuleCommand command;
  for (const Sexpr& item : list(form.items[1], "rule query")) command.body.push_back(fact(item));
  for (const Sexpr& item : list(form.items[2], "rule actions")) command.head.push_back(action(item));
  bool mode_given = false;
  for (const Option& option : options(form, 3)) {
    if (option.key == ":ruleset" && option.values.size() == 1) {
      command.ruleset = symbol(*option.values[0], "ruleset name");
    } else if (option.key == ":name" && option.values.size() == 1) {
      command.name = text(*option.values[0], "rule name");
    } else if ((option.key == ":naive" || option.key == ":unsafe-seminaive") && option.values.empty()) {
      if (mode_given) {
        throw ProgramError("parse error: :naive and :unsafe-seminaive are mutually exclusive", form.span);
      }
      mode_given = true;
      command.reads_in_head = true;
      command.naive = option.key == ":naive";
    } else if (option.key != ":no-decomp" || !option.values.empty()) {
      throw ProgramError("parse error: could not parse rule option", form.span);
    }
  }
  if (command.name.empty()) command.name = print(form);
  return one(form, std::move(command));
}

// lhs => rhs: whatever the left side matches is united with the right side.
RuleCommand rewrite_rule(const Expr& left, const Expr& right, const std::vector<Fact>& conditions,
                         bool subsume, Span span) {
  RuleCommand rule;
  Expr matched;
  matched.kind = Expr::Kind::variable;
  matched.name = rewrite_variable;
  matched.span = span;
  rule.body.push_back({span, matched, left});
  rule.body.insert(rule.body.end(), conditions.begin(), conditions.end());
  rule.head.push_back({Action::Kind::unite, span, "", {matched, right}});
  if (subsume) {
    if (left.kind != Expr::Kind::call) {
      throw ProgramError("parse error: only a call can be subsumed by a rewrite", left.span);
    }
    rule.head.push_back({Action::Kind::subsume, span, "", {left}});
  }
  return rule;
}

Commands rewrite_command(const Sexpr& form) {
  const bool both_ways = form.items[0].symbol == "birewrite";
  expect_size(form, 3, no_limit,
              both_ways ? "(birewrite <expr> <expr> <option>*)" : "(rewrite <expr> <expr> <option>*)");
  const Expr left = expr(form.items[1]);
  const Expr right = expr(form.items[2]);
  std::vector<Fact> conditions;
  std::string ruleset;
  std::string name;
  bool subsume = false;
  for (const Option& option : options(form, 3)) {
    if (option.key == ":ruleset" && option.values.size() == 1) {
      ruleset = symbol(*option.values[0], "ruleset name");
    } else if (option.key == ":when" && option.values.size() == 1) {
      conditions.clear();
      for (const Sexpr& item : list(*option.values[0], "rewrite conditions"))
        conditions.push_back(fact(item));
    } else if (option.key == ":name" && option.values.size() == 1) {
      name = text(*option.values[0], "rule name");
    } else if (option.key == ":subsume" && option.values.empty() && !both_ways) {
      subsume = true;
    } else {
      throw ProgramError("parse error: could not parse rewrite options", form.span);
    }
  }
  if (name.empty()) name = print(form);
  Commands result;
  for (int way = 0; way < (both_ways ? 2 : 1); ++way) {
    RuleCommand rule =
        rewrite_rule(way == 0 ? left : right, way == 0 ? right : left, conditions, subsume, form.span);
    rule.ruleset = ruleset;
    rule.name = both_ways ? name + (way == 0 ? " =>" : " <=") : name;
    result.push_back(one(form, std::move(rule))[0]);
  }
  return result;
}

Commands run_command(const Sexpr& form) {
  const char* usage = "(run <ruleset>? <uint> <:until (<fact>*)>?)";
  expect_size(form, 2, no_limit, usage);
  const bool named = form.items.size() >= 3 && is_natural(form.items[2]);
  Schedule run;
  run.kind = Schedule::Kind::run;
  run.span = form.span;
  if (named) run.ruleset = symbol(form.items[1], "ruleset name");
  Schedule repeat;
  repeat.kind = Schedule::Kind::repeat;
  repeat.span = form.span;
  repeat.limit = natural(form.items[named ? 2 : 1], "number of iterations");
  run.until = until(form, named ? 3 : 2);
  repeat.parts.push_back(std::move(run));
  return one(form, ScheduleCommand{std::move(repeat)});
}

Commands schedule_command(const Sexpr& form) {
  Schedule sequence;
  sequence.span = form.span;
  for (std::size_t i = 1; i < form.items.size(); ++i) sequence.parts.push_back(schedule(form.items[i]));
  return one(form, ScheduleCommand{std::move(sequence)});
}

Commands check_command(const Sexpr& form) {
  CheckCommand command;
  for (std::size_t i = 1; i < form.items.size(); ++i) command.facts.push_back(fact(form.items[i]));
  return one(form, std::move(command));
}

Commands extract_command(const Sexpr& form) {
  expect_size(form, 2, 5, "(extract <expr> <number of variants>? (:extractor greedy-dag)?)");
  ExtractCommand command;
  command.expr = expr(form.items[1]);
  std::size_t next = 2;
  if (form.items.size() % 2 == 1) command.variants = expr(form.items[next++]);
  if (next < form.items.size()) {
    if (symbol(form.items[next], "extract option") != ":extractor" ||
        symbol(form.items[next + 1], "extractor name") != "greedy-dag") {
      throw ProgramError("parse error: expected :extractor greedy-dag", form.items[next].span);
    }
    command.dag = true;
  }
  return one(form, std::move(command));
}

Commands print_size_command(const Sexpr& form) {
  expect_size(form, 1, 2, "(print-size <table name>?)");
  return one(form, PrintSizeCommand{form.items.size() == 2 ? symbol(form.items[1], "table name") : ""});
}

Commands print_function_command(const Sexpr& form) {
  expect_size(form, 2, no_limit, "(print-function <table name> <number of rows>? <option>*)");
  PrintFunctionCommand command;
  command.name = symbol(form.items[1], "table name");
  std::size_t next = 2;
  if (next < form.items.size() && is_natural(form.items[next]))
    command.rows = natural(form.items[next++], "rows");
  for (const Option& option : options(form, next)) {
    const bool single = option.values.size() == 1;
    if (option.key == ":file" && single) {
      command.file = text(*option.values[0], "file name");
    } else if (option.key == ":mode" && single) {
      const std::string mode = symbol(*option.values[0], "mode");
      if (mode != "default" && mode != "csv") {
        throw ProgramError("parse error: the modes of print-function are default and csv", form.span);
      }
      command.csv = mode == "csv";
    } else {
      throw ProgramError("parse error: unknown option of print-function", form.span);
    }
  }
  return one(form, std::move(command));
}

Commands print_stats_command(const Sexpr& form) {
  PrintStatsCommand command;
  for (const Option& option : options(form, 1)) {
    if (option.key != ":file" || option.values.size() != 1) {
      throw ProgramError("parse error: usage: (print-stats) or (print-stats :file \"<filename>\")",
                         form.span);
    }
    command.file = text(*option.values[0], "file name");
  }
  return one(form, std::move(command));
}

std::uint64_t times(const Sexpr& form) {
  expect_size(form, 1, 2, "(push <uint>?) or (pop <uint>?)");
  return form.items.size() == 2 ? natural(form.items[1], "number of times") : 1;
}
Commands push_command(const Sexpr& form) {
  return one(form, PushCommand{times(form)});
}
Commands pop_command(const Sexpr& form) {
  return one(form, PopCommand{times(form)});
}

Commands include_command(const Sexpr& form) {
  expect_size(form, 2, 2, "(include <file name>)");
  return one(form, IncludeCommand{text(form.items[1], "file name")});
}

Commands input_command(const Sexpr& form) {
  expect_size(form, 3, 3, "(input <table name> \"<file name>\")");
  return one(form, InputCommand{symbol(form.items[1], "table name"), text(form.items[2], "file name")});
}

Commands output_command(const Sexpr& form) {
  expect_size(form, 3, no_limit, "(output <file name> <expr>+)");
  OutputCommand command{text(form.items[1], "file name"), {}};
  for (std::size_t i = 2; i < form.items.size(); ++i) command.exprs.push_back(expr(form.items[i]));
  return one(form, std::move(command));
}

Commands fail_command(const Sexpr& form) {
  expect_size(form, 2, 2, "(fail <command>)");
  Commands inner = parse_command(form.items[1]);
  if (inner.size() != 1) throw ProgramError("parse error: fail takes a single command", form.span);
  return one(form, FailCommand{std::make_shared<Command>(std::move(inner[0]))});
}

Commands parse_command(const Sexpr& form) {
  using Parse = Commands (*)(const Sexpr&);
  static const std::map<std::string, Parse, std::less<>> commands = {
      {"sort", sort_command},
      {"datatype", datatype_command},
      {"datatype*", datatypes_command},
      {"function", function_command},
      {"constructor", constructor_command},
      {"relation", relation_command},
      {"ruleset", ruleset_command},
      {"unstable-combined-ruleset", combined_command},
      {"rule", rule_command},
      {"rewrite", rewrite_command},
      {"birewrite", rewrite_command},
      {"run", run_command},
      {"run-schedule", schedule_command},
      {"check", check_command},
      {"extract", extract_command},
      {"print-size", print_size_command},
      {"print-function", print_function_command},
      {"print-stats", print_stats_command},
      {"push", push_command},
      {"pop", pop_command},
      {"include", include_command},
      {"input", input_command},
      {"output", output_command},
      {"fail", fail_command},
  };
  const auto found = commands.find(head(form, "command"));
  if (found != commands.end()) return found->second(form);
  return one(form, ActionCommand{action(form)});
}

}  // namespace

std::vector<Command> parse_program(std::string_view text) {
  Commands program;
  for (const Sexpr& form : read_sexprs(text)) {
    for (Command& command : parse_command(form)) program.push_back(std::move(command));
  }
  return program;
}

}  // namespace luminal::egraph
