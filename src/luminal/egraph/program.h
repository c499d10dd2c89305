#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "luminal/egraph/ast.h"
#include "luminal/egraph/engine.h"
#include "luminal/egraph/extract.h"

namespace luminal::egraph {

/// Runs programs of the language, command by command. What a program prints goes to the sink. A mistake or a
/// failed check throws `ProgramError`; the state stays as the commands before it left it.
class Program {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit Program(Sink sink = {});

  void run(std::string_view text);
  void run(const Command& command);

  Engine& engine() { return state_.engine; }
  Database& database() { return state_.engine.database(); }

  /// What each rule cost, cheapest first.
  std::string statistics() const;
  /// Name and living rows of every table but those behind globals, by name.
  std::map<std::string, std::size_t> table_sizes() const;
  /// The costs of all `extract` commands without a number of variants, in order.
  const std::vector<std::uint64_t>& extract_costs() const { return extract_costs_; }
  /// What the last `extract` gave.
  const std::string& last_extracted() const { return last_extracted_; }
  std::optional<std::pair<SortId, Value>> last_extracted_value() const { return last_value_; }

 private:
  struct State {
    Engine engine;
    std::map<std::string, Span, std::less<>> names;
  };
  struct Evaluated {
    SortId sort;
    Value value;
  };

  void execute(const Command& command, const SortCommand& what);
  void execute(const Command& command, const DatatypeCommand& what);
  void execute(const Command& command, const FunctionCommand& what);
  void execute(const Command& command, const RelationCommand& what);
  void execute(const Command& command, const RulesetCommand& what);
  void execute(const Command& command, const RuleCommand& what);
  void execute(const Command& command, const ActionCommand& what);
  void execute(const Command& command, const ScheduleCommand& what);
  void execute(const Command& command, const CheckCommand& what);
  void execute(const Command& command, const ExtractCommand& what);
  void execute(const Command& command, const PrintSizeCommand& what);
  void execute(const Command& command, const PrintFunctionCommand& what);
  void execute(const Command& command, const PrintStatsCommand& what);
  void execute(const Command& command, const PushCommand& what);
  void execute(const Command& command, const PopCommand& what);
  void execute(const Command& command, const IncludeCommand& what);
  void execute(const Command& command, const InputCommand& what);
  void execute(const Command& command, const OutputCommand& what);
  void execute(const Command& command, const FailCommand& what);

  void claim(const std::string& name, Span span);
  void check_free(const std::string& name, Span span) const;
  void check_variable(const std::string& name, Span span) const;
  void check_global(const std::string& name, Span span) const;
  void check_no_primitive(const std::string& name, Span span) const;
  void check_rule_names(const RuleCommand& rule) const;
  void check_pattern_names(const std::vector<Fact>& facts) const;
  SortId sort_named(const std::string& name, Span span) const;
  std::vector<SortId> sorts_named(const std::vector<std::string>& names, Span span) const;
  FunctionId function_named(const std::string& name, Span span) const;
  RulesetId ruleset_named(const std::string& name, Span span) const;
  void declare_sort(const SortCommand& sort, Span span);
  void declare_constructor(const std::string& name, const std::vector<std::string>& inputs,
                           const std::string& output, const TableOptions& options, Span span);
  Evaluated run_code(const Code& code, SortId sort);
  Evaluated evaluate(const Expr& expr);
  bool run_schedule(const Schedule& schedule);
  void print(std::string_view text) const;
  void write_file(const std::string& name, const std::string& text, bool append, Span span) const;
  const Frozen& frozen();
  const Choice& best_terms();
  Value representative(const Evaluated& term);
  std::optional<std::string> printed(const Choice& choice, const Evaluated& root);
  void print_variants(const Evaluated& root, std::size_t count);
  std::string function_rows(const PrintFunctionCommand& what, FunctionId id);

  Sink sink_;
  State state_;
  std::vector<State> saved_;
  std::vector<std::uint64_t> extract_costs_;
  std::string last_extracted_;
  std::optional<std::pair<SortId, Value>> last_value_;
  std::size_t include_depth_ = 0;
  /// The last picture, while nothing has changed.
  std::unique_ptr<Frozen> frozen_;
  std::unique_ptr<Choice> best_terms_;
  std::uint64_t frozen_at_ = 0;
};

}  // namespace luminal::egraph
