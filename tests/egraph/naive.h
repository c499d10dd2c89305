#pragma once
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "luminal/support/text.h"

// An engine that is slow and obvious: rows are ordered maps, rules are matched by trying every row for every
// atom, congruence is restored by rewriting all tables until nothing changes. It runs the same random rules
// as the real one.
namespace luminal::egraph::naive {

enum class Kind { constructor, relation, smallest };  // `smallest`: to i64, merged by min

struct FunctionSpec {
  std::string name;
  Kind kind = Kind::constructor;
  std::vector<bool> classes;  // by input: of sort S, or i64
};
struct Arg {
  bool variable = true;
  int number = 0;
};
/// A row of a function: inputs, then the output (none for a relation).
struct AtomSpec {
  int function = 0;
  std::vector<Arg> args;
};
struct ConditionSpec {
  enum class Kind { differ, less } kind = Kind::differ;
  Arg left;
  Arg right;
};
struct ActionSpec {
  enum class Kind { make, unite, set, subsume } kind = Kind::make;
  int function = 0;
  std::vector<Arg> args;
  Arg left;  // `make`: the new variable; `unite`: a side; `set`: the value
  Arg right;
};
struct RuleSpec {
  std::vector<AtomSpec> body;
  std::vector<ConditionSpec> conditions;
  std::vector<ActionSpec> head;
  int variables = 0;
};

class Engine {
 public:
  explicit Engine(std::vector<FunctionSpec> functions)
      : functions_(std::move(functions)), tables_(functions_.size()) {}

  void apply(const std::vector<ActionSpec>& actions, std::vector<int> environment) {
    for (const ActionSpec& action : actions) {
      std::vector<int> key;
      for (const Arg& arg : action.args) key.push_back(value(arg, environment));
      if (action.kind == ActionSpec::Kind::make) {
        const int made = make(action.function, key);
        if (action.left.variable) environment.at(static_cast<std::size_t>(action.left.number)) = made;
      } else if (action.kind == ActionSpec::Kind::unite) {
        unite(value(action.left, environment), value(action.right, environment));
      } else if (action.kind == ActionSpec::Kind::set) {
        write(action.function, key, value(action.left, environment), false);
      } else {
        make(action.function, key);
        tables_[static_cast<std::size_t>(action.function)].at(key).subsumed = true;
      }
    }
  }

  void rebuild() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t f = 0; f < tables_.size(); ++f) {
        const auto old = std::move(tables_[f]);
        tables_[f].clear();
        for (const auto& [key, cell] : old) {
          std::vector<int> canonical = key;
          for (std::size_t i = 0; i < key.size(); ++i) {
            if (functions_[f].classes[i]) canonical[i] = find(key[i]);
          }
          const int output = functions_[f].kind == Kind::smallest ? cell.output : find(cell.output);
          changed = changed || canonical != key || output != cell.output;
          write(static_cast<int>(f), canonical, output, cell.subsumed);
        }
      }
    }
  }

  void step(const std::vector<RuleSpec>& rules) {
    std::vector<std::pair<const RuleSpec*, std::vector<int>>> matches;
    for (const RuleSpec& rule : rules) {
      std::vector<int> environment(static_cast<std::size_t>(rule.variables) + 8, unbound);
      match(rule, 0, environment, matches);
    }
    for (const auto& [rule, environment] : matches) apply(rule->head, environment);
    rebuild();
  }

  std::size_t size(std::size_t function) const { return tables_[function].size(); }
  std::vector<int> outputs(std::size_t function) const {
    std::vector<int> all;
    for (const auto& [key, cell] : tables_[function]) all.push_back(cell.output);
    std::sort(all.begin(), all.end());
    return all;
  }
  /// How many classes the constructors' rows are in.
  std::size_t class_count() const {
    std::vector<int> ids;
    for (std::size_t f = 0; f < tables_.size(); ++f) {
      if (functions_[f].kind != Kind::constructor) continue;
      const std::vector<int> some = outputs(f);
      ids.insert(ids.end(), some.begin(), some.end());
    }
    std::sort(ids.begin(), ids.end());
    return static_cast<std::size_t>(std::unique(ids.begin(), ids.end()) - ids.begin());
  }

 private:
  static constexpr int unbound = -1000000;
  struct Cell {
    int output = 0;
    bool subsumed = false;
  };

  static int value(const Arg& arg, const std::vector<int>& environment) {
    return arg.variable ? environment.at(static_cast<std::size_t>(arg.number)) : arg.number;
  }
  int find(int id) const {
    while (parents_[static_cast<std::size_t>(id)] != id) id = parents_[static_cast<std::size_t>(id)];
    return id;
  }
  void unite(int a, int b) {
    parents_[static_cast<std::size_t>(std::max(find(a), find(b)))] = std::min(find(a), find(b));
  }

  int make(int function, const std::vector<int>& key) {
    auto& table = tables_[static_cast<std::size_t>(function)];
    const auto found = table.find(key);
    if (found != table.end()) return found->second.output;
    const int id = static_cast<int>(parents_.size());
    parents_.push_back(id);
    table[key] = {id, false};
    return id;
  }

  void write(int function, const std::vector<int>& key, int output, bool subsumed) {
    auto& table = tables_[static_cast<std::size_t>(function)];
    const auto [place, fresh] = table.emplace(key, Cell{output, subsumed});
    if (fresh) return;
    Cell& cell = place->second;
    cell.subsumed = cell.subsumed || subsumed;
    if (functions_[static_cast<std::size_t>(function)].kind == Kind::smallest) {
      cell.output = std::min(cell.output, output);
    } else {
      unite(cell.output, output);
    }
  }

  static bool bind(const Arg& arg, int actual, std::vector<int>& environment) {
    if (!arg.variable) return arg.number == actual;
    int& slot = environment[static_cast<std::size_t>(arg.number)];
    if (slot == unbound) slot = actual;
    return slot == actual;
  }

  static bool holds(const ConditionSpec& condition, const std::vector<int>& environment) {
    const int left = value(condition.left, environment);
    const int right = value(condition.right, environment);
    return condition.kind == ConditionSpec::Kind::differ ? left != right : left < right;
  }

  void match(const RuleSpec& rule, std::size_t atom, const std::vector<int>& environment,
             std::vector<std::pair<const RuleSpec*, std::vector<int>>>& matches) const {
    if (atom == rule.body.size()) {
      const bool all =
          std::all_of(rule.conditions.begin(), rule.conditions.end(),
                      [&](const ConditionSpec& condition) { return holds(condition, environment); });
      if (all) matches.emplace_back(&rule, environment);
      return;
    }
    const AtomSpec& wanted = rule.body[atom];
    for (const auto& [key, cell] : tables_[static_cast<std::size_t>(wanted.function)]) {
      if (cell.subsumed) continue;
      std::vector<int> next = environment;
      bool fits = true;
      for (std::size_t i = 0; i < key.size(); ++i) fits = fits && bind(wanted.args[i], key[i], next);
      if (wanted.args.size() > key.size()) fits = fits && bind(wanted.args[key.size()], cell.output, next);
      if (fits) match(rule, atom + 1, next, matches);
    }
  }

  std::vector<FunctionSpec> functions_;
  std::vector<std::map<std::vector<int>, Cell>> tables_;
  std::vector<int> parents_;
};

/// The same in the language.
inline std::string print(const Arg& arg) {
  return arg.variable ? cat("v", arg.number) : cat(arg.number);
}

inline std::string print_call(const std::string& name, const std::vector<Arg>& args, std::size_t count) {
  std::string text = "(" + name;
  for (std::size_t i = 0; i < count; ++i) text += " " + print(args[i]);
  return text + ")";
}

inline std::string print(const ActionSpec& action, const std::vector<FunctionSpec>& functions) {
  const std::string call =
      print_call(functions[static_cast<std::size_t>(action.function)].name, action.args, action.args.size());
  switch (action.kind) {
    case ActionSpec::Kind::make:
      return action.left.variable ? cat("(let ", print(action.left), " ", call, ")") : call;
    case ActionSpec::Kind::unite:
      return cat("(union ", print(action.left), " ", print(action.right), ")");
    case ActionSpec::Kind::set:
      return cat("(set ", call, " ", print(action.left), ")");
    case ActionSpec::Kind::subsume:
      break;
  }
  return "(subsume " + call + ")";
}

inline std::string print(const RuleSpec& rule, const std::vector<FunctionSpec>& functions,
                         std::size_t number) {
  std::string text = "(rule (";
  for (const AtomSpec& atom : rule.body) {
    const FunctionSpec& function = functions[static_cast<std::size_t>(atom.function)];
    const std::string call = print_call(function.name, atom.args, function.classes.size());
    const bool output = atom.args.size() > function.classes.size();
    text += output ? cat(" (= ", print(atom.args.back()), " ", call, ")") : " " + call;
  }
  for (const ConditionSpec& condition : rule.conditions) {
    const char* name = condition.kind == ConditionSpec::Kind::differ ? "!=" : "<";
    text += cat(" (", name, " ", print(condition.left), " ", print(condition.right), ")");
  }
  text += ") (";
  for (const ActionSpec& action : rule.head) text += " " + print(action, functions);
  return text + cat(") :name \"", number, "\")\n");
}

}  // namespace luminal::egraph::naive
