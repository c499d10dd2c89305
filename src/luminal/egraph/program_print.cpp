#include <algorithm>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "luminal/egraph/lower.h"
#include "luminal/egraph/program.h"
#include "luminal/support/text.h"

namespace luminal::egraph {
namespace {
std::string csv_field(const std::string& text) {
  if (text.find_first_of("\",\n\r") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}
}  // namespace

const Frozen& Program::frozen() {
  database().rebuild();
  if (!frozen_ || frozen_at_ != database().changes()) {
    frozen_ = std::make_unique<Frozen>(database());
    frozen_at_ = database().changes();
    best_terms_.reset();
  }
  return *frozen_;
}

const Choice& Program::best_terms() {
  const Frozen& picture = frozen();
  if (!best_terms_) best_terms_ = std::make_unique<Choice>(extract_tree(picture));
  return *best_terms_;
}

void Program::write_file(const std::string& name, const std::string& text, bool append, Span span) const {
  std::ofstream file(name, append ? std::ios::binary | std::ios::app : std::ios::binary);
  file << text;
  file.close();
  if (!file) throw ProgramError(cat("cannot write file ", in_quotes(name)), span, Fault::failed);
}

// A sort can name a table of pairs: a term, and the one that stands for it.
Value Program::representative(const Evaluated& term) {
  const std::string& name = database().sort(term.sort).representatives;
  const auto id = name.empty() ? std::nullopt : database().find_function(name);
  if (!id) return term.value;
  const Function& function = database().function(*id);
  if (function.inputs != std::vector{term.sort, term.sort}) return term.value;
  for (Row row = 0; row < function.table.rows(); ++row) {
    const Value* cells = function.table.row(row);
    if (!function.table.dead(row) && cells[0] == term.value) return cells[1];
  }
  return term.value;
}

// A term can be far larger as text than as a graph. Then there is a remark in its place, and its cost.
std::optional<std::string> Program::printed(const Choice& choice, const Evaluated& root) {
  try {
    return print_value(database(), frozen(), choice, root.sort, root.value);
  } catch (const ProgramError& error) {
    return "; " + error.problem();
  }
}

void Program::execute(const Command& command, const ExtractCommand& what) {
  Evaluated root = evaluate(what.expr);
  root.value = representative(root);
  std::int64_t variants = 0;
  if (what.variants) {
    const Evaluated count = evaluate(*what.variants);
    if (database().sort(count.sort).kind != SortKind::integer) {
      throw ProgramError("the number of variants must be an i64", what.variants->span);
    }
    variants = database().atoms().integer_of(count.value);
    if (variants < 0)
      throw ProgramError("cannot extract a negative number of variants", what.variants->span, Fault::failed);
  }
  const Frozen& picture = frozen();
  const Choice dag = what.dag ? extract_dag(picture) : Choice{};
  const Choice& choice = what.dag ? dag : best_terms();
  const auto text = printed(choice, root);
  if (!text)
    throw ProgramError("unable to find any valid extraction (likely due to subsume or delete)", command.span,
                       Fault::failed);
  last_extracted_ = *text;
  last_value_ = std::pair(root.sort, root.value);
  if (variants > 0) {
    print_variants(root, static_cast<std::size_t>(variants));
    return;
  }
  extract_costs_.push_back(value_cost(database(), picture, choice, root.sort, root.value));
  print(*text + "\n");
}

void Program::print_variants(const Evaluated& root, std::size_t count) {
  const Frozen& picture = frozen();
  const Choice& choice = best_terms();
  std::vector<std::pair<std::uint64_t, std::string>> found;
  if (!database().sort(root.sort).is_classes()) {
    found.emplace_back(0, *print_value(database(), picture, choice, root.sort, root.value));
  } else {
    const std::uint32_t owner = picture.class_of(root.value);
    for (std::uint32_t i = picture.first_node(owner); i < picture.last_node(owner); ++i) {
      std::uint64_t cost = picture.node(i).cost;
      for (const std::uint32_t child : picture.children(picture.node(i))) {
        cost = saturating_sum(cost, child == no_class ? no_cost : choice.costs[child]);
      }
      if (const auto text = print_node(database(), picture, choice, picture.node(i)))
        found.emplace_back(cost, *text);
    }
    std::sort(found.begin(), found.end());
  }
  print("(\n");
  for (std::size_t i = 0; i < found.size() && i < count; ++i) print("   " + found[i].second + "\n");
  print(")\n");
}

void Program::execute(const Command& command, const PrintSizeCommand& what) {
  if (!what.name.empty()) {
    const FunctionId id = function_named(what.name, command.span);
    print(cat(database().function(id).table.live(), "\n"));
    return;
  }
  std::string text = "(";
  for (const auto& [name, size] : table_sizes())
    text += cat(text.size() > 1 ? "\n " : "", "(", name, " ", size, ")");
  print(text + ")\n");
}

std::string Program::function_rows(const PrintFunctionCommand& what, FunctionId id) {
  const Frozen& picture = frozen();
  const Choice& choice = best_terms();
  const Function& function = database().function(id);
  const auto show = [&](SortId sort, Value value) {
    return print_value(database(), picture, choice, sort, value).value_or("Unextractable");
  };
  const bool unit = database().sort(function.output).kind == SortKind::unit;
  std::string text = what.csv ? "" : "(\n";
  std::uint64_t printed = 0;
  for (Row row = 0; row < function.table.rows() && printed < what.rows.value_or(no_cost); ++row) {
    if (function.table.dead(row)) continue;
    ++printed;
    const Value* cells = function.table.row(row);
    text += what.csv ? function.name : "   (" + function.name;
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      const std::string cell = show(function.inputs[i], cells[i]);
      text += what.csv ? "," + csv_field(cell) : " " + cell;
    }
    const std::string output = show(function.output, cells[function.inputs.size()]);
    text += what.csv ? "," + csv_field(output) : unit ? ")" : ") -> " + output;
    text += "\n";
  }
  return what.csv ? text : text + ")\n";
}

void Program::execute(const Command& command, const PrintFunctionCommand& what) {
  const std::string text = function_rows(what, function_named(what.name, command.span));
  if (what.file.empty()) {
    print(text);
  } else {
    write_file(what.file, text, false, command.span);
  }
}

std::string Program::statistics() const {
  std::ostringstream out;
  out << "Overall statistics:\n" << std::fixed << std::setprecision(3);
  std::vector<RuleStatistics> rules = state_.engine.statistics();
  std::sort(rules.begin(), rules.end(), [](const RuleStatistics& a, const RuleStatistics& b) {
    return std::pair(a.search_seconds + a.apply_seconds, std::string_view(a.name)) <
           std::pair(b.search_seconds + b.apply_seconds, std::string_view(b.name));
  });
  for (const RuleStatistics& rule : rules) {
    out << "Rule " << rule.name << ": search " << rule.search_seconds << "s, apply " << rule.apply_seconds
        << "s, num matches " << rule.matches << ", candidates " << rule.candidates << "\n";
  }
  out << "Rebuild " << state_.engine.rebuild_seconds() << "s\n";
  return out.str();
}

void Program::execute(const Command& command, const PrintStatsCommand& what) {
  if (what.file.empty()) {
    print(statistics());
  } else {
    write_file(what.file, statistics(), false, command.span);
  }
}

void Program::execute(const Command& command, const OutputCommand& what) {
  std::string text;
  for (const Expr& expr : what.exprs) {
    const Evaluated result = evaluate(expr);
    const auto term = print_value(database(), frozen(), best_terms(), result.sort, result.value);
    if (!term) throw ProgramError("unable to find any valid extraction", expr.span, Fault::failed);
    text += *term + "\n";
  }
  write_file(what.file, text, true, command.span);
}

}  // namespace luminal::egraph
