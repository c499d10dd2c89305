#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "luminal/egraph/sexpr.h"
#include "luminal/egraph/types.h"

namespace luminal::egraph {

struct Expr {
  /// `constant`: an interned value that has no spelling, such as one of an opaque sort; only code can build
  /// it.
  enum class Kind : std::uint8_t { literal, variable, call, constant };
  Kind kind = Kind::literal;
  Span span;
  Literal literal;
  SortId sort;
  Value value = 0;
  std::string name;
  std::vector<Expr> arguments;
};

/// `(= left right)`, or a single expression that must be defined.
struct Fact {
  Span span;
  Expr left;
  std::optional<Expr> right;
};

struct Action {
  enum class Kind : std::uint8_t { let, set, unite, remove, subsume, panic, evaluate };
  Kind kind = Kind::evaluate;
  Span span;
  /// Of `let`: the variable. Of `panic`: the message.
  std::string name;
  /// `let`, `evaluate`: the value. `set`: the call, the value. `unite`: both sides. `remove`, `subsume`: the
  /// call.
  std::vector<Expr> operands;
};

struct Schedule {
  enum class Kind : std::uint8_t { saturate, sequence, repeat, run };
  Kind kind = Kind::sequence;
  Span span;
  std::vector<Schedule> parts;
  std::uint64_t limit = 0;
  std::string ruleset;
  std::vector<Fact> until;
};

/// What a declaration says of a table beside its sorts.
struct TableOptions {
  std::uint64_t cost = 1;
  bool extractable = true;
  /// Not listed by `print-size`.
  bool hidden = false;
};
struct Variant {
  Span span;
  std::string name;
  std::vector<std::string> inputs;
  TableOptions options;
};

struct SortCommand {
  std::string name;
  std::string presort;  // empty for a sort of classes
  std::vector<std::string> arguments;
  /// A table of pairs, a term and the one to extract in its place; empty if there is none.
  std::string representatives;
};
struct DatatypeCommand {
  struct Part {
    Span span;
    SortCommand sort;
    std::vector<Variant> variants;
  };
  std::vector<Part> parts;
};
struct FunctionCommand {
  std::string name;
  std::vector<std::string> inputs;
  std::string output;
  bool constructor = false;
  std::optional<Expr> merge;  // none: conflicts are refused
  TableOptions options;
};
struct RelationCommand {
  std::string name;
  std::vector<std::string> inputs;
};
struct RulesetCommand {
  std::string name;
  std::optional<std::vector<std::string>> parts;
};
struct RuleCommand {
  std::string name;
  std::string ruleset;
  std::vector<Fact> body;
  std::vector<Action> head;
  bool naive = false;
  bool reads_in_head = false;
};
struct ActionCommand {
  Action action;
};
struct ScheduleCommand {
  Schedule schedule;
};
struct CheckCommand {
  std::vector<Fact> facts;
};
struct ExtractCommand {
  Expr expr;
  std::optional<Expr> variants;
  bool dag = false;
};
struct PrintSizeCommand {
  std::string name;  // empty: all tables
};
struct PrintFunctionCommand {
  std::string name;
  std::optional<std::uint64_t> rows;
  std::string file;
  bool csv = false;
};
struct PrintStatsCommand {
  std::string file;
};
struct PushCommand {
  std::uint64_t times = 1;
};
struct PopCommand {
  std::uint64_t times = 1;
};
struct IncludeCommand {
  std::string file;
};
struct InputCommand {
  std::string function;
  std::string file;
};
struct OutputCommand {
  std::string file;
  std::vector<Expr> exprs;
};
struct Command;
struct FailCommand {
  std::shared_ptr<Command> command;
};

struct Command {
  Span span;
  std::variant<SortCommand, DatatypeCommand, FunctionCommand, RelationCommand, RulesetCommand, RuleCommand,
               ActionCommand, ScheduleCommand, CheckCommand, ExtractCommand, PrintSizeCommand,
               PrintFunctionCommand, PrintStatsCommand, PushCommand, PopCommand, IncludeCommand, InputCommand,
               OutputCommand, FailCommand>
      what;
};

/// Reads a whole program. Throws `ProgramError` with the place of the first mistake. A `birewrite` becomes
/// two rules.
std::vector<Command> parse_program(std::string_view text);

/// As a program would spell it.
std::string print_expr(const Expr& expr);
std::string print_fact(const Fact& fact);
std::string print_literal(const Literal& literal);
/// In double quotes, with a backslash before quotes and backslashes.
std::string print_text(std::string_view text);
/// The shortest decimal that reads back as this value, without an exponent.
std::string print_real(double value);

}  // namespace luminal::egraph
