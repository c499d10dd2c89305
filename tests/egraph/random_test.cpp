#include "tests/random.h"

#include <gtest/gtest.h>

#include "luminal/egraph/program.h"
#include "tests/egraph/naive.h"

namespace luminal::egraph {
namespace {

using naive::ActionSpec;
using naive::Arg;
using naive::AtomSpec;
using naive::ConditionSpec;
using naive::FunctionSpec;
using naive::RuleSpec;
using test::Random;

/// A random program: declarations, rules, first facts.
struct RandomProgram {
  std::vector<FunctionSpec> functions;
  std::vector<RuleSpec> rules;
  std::vector<ActionSpec> facts;
  int fact_variables = 0;
};

/// Variables so far, and whether each is of sort S.
struct Scope {
  std::vector<bool> classes;
  int add(bool is_class) {
    classes.push_back(is_class);
    return static_cast<int>(classes.size()) - 1;
  }
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  RandomProgram run() {
    declare();
    Scope scope;
    for (int i = 0; i < 6; ++i) make(program_.facts, scope);
    if (random_.chance(0.5)) unite(program_.facts, scope);
    program_.fact_variables = static_cast<int>(scope.classes.size());
    for (std::int64_t i = random_.between(1, 4); i > 0; --i) program_.rules.push_back(rule());
    return std::move(program_);
  }

 private:
  void declare() {
    program_.functions = {{"Leaf", naive::Kind::constructor, {false}}};
    for (std::int64_t i = random_.between(1, 3); i > 0; --i) {
      program_.functions.push_back(
          {cat("C", i), naive::Kind::constructor, columns(random_.between(1, 2), 0.8)});
    }
    program_.functions.push_back({"R", naive::Kind::relation, columns(random_.between(1, 2), 0.6)});
    program_.functions.push_back({"f", naive::Kind::smallest, columns(1, 0.7)});
  }
  std::vector<bool> columns(std::int64_t count, double classes) {
    std::vector<bool> result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(random_.chance(classes));
    return result;
  }
  int any_function(naive::Kind kind) {
    std::vector<int> fitting;
    for (std::size_t i = 0; i < program_.functions.size(); ++i) {
      if (program_.functions[i].kind == kind) fitting.push_back(static_cast<int>(i));
    }
    return fitting[static_cast<std::size_t>(
        random_.between(0, static_cast<std::int64_t>(fitting.size()) - 1))];
  }
  Arg constant() { return {false, static_cast<int>(random_.between(0, 2))}; }

  // A known variable of the sort, if there is one.
  Arg known(const Scope& scope, bool is_class) {
    std::vector<int> fitting;
    for (std::size_t i = 0; i < scope.classes.size(); ++i) {
      if (scope.classes[i] == is_class) fitting.push_back(static_cast<int>(i));
    }
    if (fitting.empty()) return {false, -1};
    return {
        true,
        fitting[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(fitting.size()) - 1))]};
  }
  Arg pattern(Scope& scope, bool is_class) {
    if (!is_class && random_.chance(0.3)) return constant();
    const Arg old = known(scope, is_class);
    if (old.variable && random_.chance(0.5)) return old;
    return {true, scope.add(is_class)};
  }

  AtomSpec atom(Scope& scope) {
    const double draw = random_.unit();
    AtomSpec result;
    result.function = any_function(draw < 0.6   ? naive::Kind::constructor
                                   : draw < 0.8 ? naive::Kind::relation
                                                : naive::Kind::smallest);
    const FunctionSpec& function = program_.functions[static_cast<std::size_t>(result.function)];
    for (const bool is_class : function.classes) result.args.push_back(pattern(scope, is_class));
    if (function.kind == naive::Kind::constructor) result.args.push_back(pattern(scope, true));
    if (function.kind == naive::Kind::smallest) result.args.push_back(pattern(scope, false));
    return result;
  }

  // Arguments for a call in an action; false if a class is wanted and none is known.
  bool arguments(const Scope& scope, int function, std::vector<Arg>& args) {
    for (const bool is_class : program_.functions[static_cast<std::size_t>(function)].classes) {
      Arg arg = known(scope, is_class);
      if (!is_class && (!arg.variable || random_.chance(0.5))) arg = constant();
      if (is_class && !arg.variable) return false;
      args.push_back(arg);
    }
    return true;
  }
  void make(std::vector<ActionSpec>& actions, Scope& scope) {
    ActionSpec action;
    action.function = any_function(naive::Kind::constructor);
    if (!arguments(scope, action.function, action.args)) {
      action.function = 0;
      action.args = {constant()};
    }
    action.left = {true, scope.add(true)};
    actions.push_back(action);
  }
  void unite(std::vector<ActionSpec>& actions, const Scope& scope) {
    ActionSpec action;
    action.kind = ActionSpec::Kind::unite;
    action.left = known(scope, true);
    action.right = known(scope, true);
    if (action.left.variable && action.right.variable) actions.push_back(action);
  }
  void write(std::vector<ActionSpec>& actions, const Scope& scope, ActionSpec::Kind kind,
             naive::Kind function) {
    ActionSpec action;
    action.kind = kind;
    action.function = any_function(function);
    action.left = kind == ActionSpec::Kind::set ? constant() : Arg{false, 0};
    if (arguments(scope, action.function, action.args)) actions.push_back(action);
  }

  RuleSpec rule() {
    RuleSpec result;
    Scope scope;
    for (std::int64_t i = random_.between(1, 3); i > 0; --i) result.body.push_back(atom(scope));
    if (random_.chance(0.3)) {
      const ConditionSpec differ{ConditionSpec::Kind::differ, known(scope, true), known(scope, true)};
      if (differ.left.variable && differ.right.variable) result.conditions.push_back(differ);
    }
    if (random_.chance(0.3)) {
      const ConditionSpec less{ConditionSpec::Kind::less, known(scope, false), constant()};
      if (less.left.variable) result.conditions.push_back(less);
    }
    for (std::int64_t i = random_.between(1, 2); i > 0; --i) {
      const double draw = random_.unit();
      if (draw < 0.35) make(result.head, scope);
      if (draw < 0.6) {
        unite(result.head, scope);
      } else if (draw < 0.8) {
        write(result.head, scope, ActionSpec::Kind::make, naive::Kind::relation);
      } else if (draw < 0.92) {
        write(result.head, scope, ActionSpec::Kind::set, naive::Kind::smallest);
      } else {
        write(result.head, scope, ActionSpec::Kind::subsume, naive::Kind::constructor);
      }
    }
    result.variables = static_cast<int>(scope.classes.size());
    return result;
  }

  Random random_;
  RandomProgram program_;
};

std::string declarations(const RandomProgram& program) {
  std::string text = "(sort S)\n";
  for (const FunctionSpec& function : program.functions) {
    std::string inputs;
    for (const bool is_class : function.classes) inputs += is_class ? " S" : " i64";
    switch (function.kind) {
      case naive::Kind::constructor:
        text += cat("(constructor ", function.name, " (", inputs, ") S)\n");
        break;
      case naive::Kind::relation:
        text += cat("(relation ", function.name, " (", inputs, "))\n");
        break;
      case naive::Kind::smallest:
        text += cat("(function ", function.name, " (", inputs, ") i64 :merge (min old new))\n");
        break;
    }
  }
  return text;
}

std::string text_of(const RandomProgram& program, const char* mode) {
  std::string text = declarations(program);
  for (std::size_t i = 0; i < program.rules.size(); ++i) {
    std::string rule = naive::print(program.rules[i], program.functions, i);
    rule.insert(rule.size() - 2, mode);
    text += rule;
  }
  for (const ActionSpec& fact : program.facts) text += naive::print(fact, program.functions) + "\n";
  return text;
}

std::vector<int> integers(Program& program, const std::string& name) {
  std::vector<int> result;
  const Function& function = program.database().function(*program.database().find_function(name));
  for (Row row = 0; row < function.table.rows(); ++row) {
    if (!function.table.dead(row)) {
      result.push_back(static_cast<int>(program.database().atoms().integer_of(function.table.output(row))));
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::size_t class_count(Program& program) {
  std::vector<Value> ids;
  const Database& database = program.database();
  for (std::size_t i = 0; i < database.function_count(); ++i) {
    const Function& function = database.function(FunctionId(i));
    if (function.kind != FunctionKind::constructor) continue;
    for (Row row = 0; row < function.table.rows(); ++row) {
      if (!function.table.dead(row)) ids.push_back(function.table.output(row));
    }
  }
  std::sort(ids.begin(), ids.end());
  return static_cast<std::size_t>(std::unique(ids.begin(), ids.end()) - ids.begin());
}

constexpr std::size_t too_many_rows = 120;

std::size_t rows_of(Program& program) {
  std::size_t total = 0;
  for (const auto& [name, size] : program.table_sizes()) total += size;
  return total;
}

void expect_same(const RandomProgram& program, naive::Engine& reference, Program& real,
                 const std::string& text) {
  const auto sizes = real.table_sizes();
  for (std::size_t f = 0; f < program.functions.size(); ++f) {
    ASSERT_EQ(sizes.at(program.functions[f].name), reference.size(f)) << program.functions[f].name << " in\n"
                                                                      << text;
    if (program.functions[f].kind == naive::Kind::smallest) {
      ASSERT_EQ(integers(real, program.functions[f].name), reference.outputs(f)) << text;
    }
  }
  ASSERT_EQ(class_count(real), reference.class_count()) << text;
}

TEST(RandomPrograms, EqualTheNaiveEngine) {
  const int count = test::trials(600, 10000);
  for (int trial = 0; trial < count; ++trial) {
    const RandomProgram program = Generator(static_cast<std::uint64_t>(trial)).run();
    naive::Engine reference(program.functions);
    reference.apply(program.facts, std::vector<int>(static_cast<std::size_t>(program.fact_variables)));
    reference.rebuild();
    const std::string text = text_of(program, "");
    Program real;
    real.run(text);
    expect_same(program, reference, real, text);
    for (int step = 0; step < 4 && rows_of(real) < too_many_rows; ++step) {
      reference.step(program.rules);
      real.run("(run 1)");
      expect_same(program, reference, real, text);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RandomPrograms, SeminaiveEqualsNaive) {
  const int count = test::trials(300, 10000);
  for (int trial = 0; trial < count; ++trial) {
    const RandomProgram program = Generator(static_cast<std::uint64_t>(trial) + 1000000).run();
    Program fresh;
    Program all;
    fresh.run(text_of(program, ""));
    all.run(text_of(program, " :naive"));
    for (int step = 0; step < 4 && rows_of(fresh) < too_many_rows * 10; ++step) {
      fresh.run("(run 1)");
      all.run("(run 1)");
      ASSERT_EQ(fresh.table_sizes(), all.table_sizes()) << text_of(program, "");
      ASSERT_EQ(class_count(fresh), class_count(all)) << text_of(program, "");
    }
  }
}

TEST(RandomPrograms, TwoRunsAreIdentical) {
  const int count = test::trials(50, 1000);
  for (int trial = 0; trial < count; ++trial) {
    const RandomProgram program = Generator(static_cast<std::uint64_t>(trial) + 2000000).run();
    std::string outputs[2];
    for (std::string& output : outputs) {
      Program real([&](std::string_view part) { output += part; });
      real.run(text_of(program, "") + "(run 2)\n");
      for (const auto& [name, size] : real.table_sizes()) real.run(cat("(print-function ", name, ")"));
    }
    ASSERT_EQ(outputs[0], outputs[1]);
  }
}

}  // namespace
}  // namespace luminal::egraph
