#include "luminal/compile/explain.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>
#include <vector>

#include "luminal/codegen/schedule_text.h"
#include "luminal/support/html.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::string microseconds(double seconds) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(seconds < 1e-4 ? 2 : 1) << seconds * 1e6 << " us";
  return out.str();
}

std::string percent(double share) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(0) << share * 100 << " %";
  return out.str();
}

/// Rules with how often they joined terms, in the order in which they first did.
std::vector<std::pair<std::string, std::size_t>> rules_of(const std::string& derivation) {
  std::vector<std::pair<std::string, std::size_t>> rules;
  std::istringstream lines(derivation);
  for (std::string line; std::getline(lines, line);) {
    const std::string rule = line.substr(0, line.rfind(": c"));
    const auto found =
        std::find_if(rules.begin(), rules.end(), [&](const auto& entry) { return entry.first == rule; });
    if (found == rules.end())
      rules.emplace_back(rule, 1);
    else
      ++found->second;
  }
  return rules;
}

std::vector<SearchReport::Candidate> by_time(const SearchReport::Kernel& kernel) {
  auto candidates = kernel.candidates;
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    const bool right_a = a.timing.outcome == Timing::Outcome::timed;
    const bool right_b = b.timing.outcome == Timing::Outcome::timed;
    return right_a != right_b ? right_a : a.timing.seconds < b.timing.seconds;
  });
  return candidates;
}

std::string why(const SearchReport::Kernel& kernel) {
  const auto sorted = by_time(kernel);
  const auto chosen =
      std::find_if(sorted.begin(), sorted.end(), [](const auto& candidate) { return candidate.chosen; });
  if (chosen == sorted.end()) return "not timed: the default schedule";
  if (chosen->timing.outcome == Timing::Outcome::unfit)
    return "not timed: the default schedule, for want of inputs";
  const auto failed = static_cast<std::size_t>(
      std::count_if(sorted.begin(), sorted.end(), [](const auto& c) { return c.timing.is_failure(); }));
  std::string text = chosen == sorted.begin()
                         ? cat("the fastest of ", sorted.size())
                         : cat("number ", chosen - sorted.begin() + 1, " of ", sorted.size(),
                               " alone: its plan was the fastest as a whole");
  if (failed > 0) text += cat("; ", failed, " failed");
  return text;
}

/// What there is to say, in order; a writer makes text or a page of it.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void heading(int level, const std::string& text) = 0;
  virtual void line(const std::string& text) = 0;
  virtual void code(const std::string& text) = 0;
  virtual void begin_table(const std::vector<std::string>& head) = 0;
  virtual void row(const std::vector<std::string>& cells, bool marked) = 0;
  virtual void end_table() = 0;
};

const SearchReport::Kernel* entry_of(const SearchReport& search, const std::string& key) {
  const auto found = std::find_if(search.kernels.begin(), search.kernels.end(),
                                  [&](const auto& entry) { return entry.key == key; });
  return found != search.kernels.end() ? &*found : nullptr;
}

void explain_candidates(const SearchReport::Kernel& kernel, Writer& out) {
  out.begin_table({"schedule", "time", "of the limit", "outcome"});
  for (const auto& candidate : by_time(kernel)) {
    const bool timed = candidate.timing.outcome == Timing::Outcome::timed;
    out.row({candidate.schedule, timed ? microseconds(candidate.timing.seconds) : "",
             timed && candidate.timing.seconds > 0 ? percent(kernel.limit / candidate.timing.seconds) : "",
             timed ? (candidate.chosen ? "chosen" : "")
                   : cat(name(candidate.timing.outcome), ": ", candidate.timing.problem)},
            candidate.chosen);
  }
  out.end_table();
}

void explain_kernel(const runtime::Plan& plan, std::size_t number, const std::string& when,
                    const SearchReport* search, Writer& out) {
  const auto& kernel = plan.kernels[number];
  out.heading(2, cat("Kernel ", number, ": ", kernel.family, ", ", when));
  out.code(kernel::print(kernel.kernel));
  out.line(cat("Schedule: ", codegen::text(kernel.schedule)));
  out.line(cat("Estimated: ", microseconds(kernel.estimated_seconds)));
  if (search == nullptr) return;
  const auto* entry = entry_of(*search, kernel::key(kernel.kernel));
  if (entry == nullptr) return;
  out.line(cat("Chosen: ", why(*entry)));
  explain_candidates(*entry, out);
}

bool was_run(const SearchReport::Plan& plan) {
  return plan.timing.outcome == Timing::Outcome::timed && plan.timing.median > 0;
}

std::string outcome_of(const SearchReport& search, std::size_t number) {
  const auto& plan = search.plans[number];
  std::vector<std::string> words;
  if (plan.chosen) words.emplace_back("chosen");
  if (plan.timing.outcome != Timing::Outcome::timed) {
    words.push_back(cat(name(plan.timing.outcome), ": ", plan.timing.problem));
  } else if (!was_run(plan)) {
    words.push_back(cat("not timed: ", search.untimed));
  } else {
    // Equal plans are run once, and have that time.
    const auto first = std::find_if(search.plans.begin(), search.plans.end(),
                                    [&](const auto& other) { return other.timing == plan.timing; });
    if (first->name != plan.name) words.push_back(cat("equal to '", first->name, "'"));
  }
  return join(words, "; ");
}

void explain_search(const SearchReport& search, Writer& out) {
  out.heading(1, "The search");
  out.line(cat(search.candidates, " candidates in ", std::lround(search.seconds), " s; it ended because ",
               search.stopped, "."));
  out.line(cat("The machine at best: ", std::lround(search.ceilings.bandwidth / 1e9), " GB/s, ",
               std::lround(search.ceilings.contraction_rate / 1e9), " GFLOP/s."));
  out.begin_table({"plan", "its kernels", "whole", "outcome"});
  for (std::size_t k = 0; k < search.plans.size(); ++k) {
    const auto& plan = search.plans[k];
    out.row({plan.name, plan.predicted > 0 ? microseconds(plan.predicted) : "",
             was_run(plan) ? microseconds(plan.timing.seconds) : "", outcome_of(search, k)},
            plan.chosen);
  }
  out.end_table();
}

void explain(const Executable& exe, const std::string& derivation, Writer& out) {
  const runtime::Plan& plan = exe.plan();
  std::map<std::size_t, std::size_t> runs;
  for (const auto& step : plan.steps)
    if (step.kernel) ++runs[*step.kernel];
  std::map<std::size_t, std::size_t> loads;
  for (const auto& step : plan.load_steps)
    if (step.kernel) ++loads[*step.kernel];
  out.heading(1, "The plan");
  out.line(cat(exe.kernel_count(), " kernels a run, ", exe.host_step_count(), " steps on the host, ",
               exe.copy_count(), " copies, ", loads.size(), " kernels when weights are set."));
  if (exe.search_report() != nullptr) explain_search(*exe.search_report(), out);
  out.heading(1, "Kernels");
  for (const auto& [number, count] : runs)
    explain_kernel(plan, number, cat(count, count == 1 ? " launch" : " launches"), exe.search_report(), out);
  for (const auto& [number, count] : loads)
    if (!runs.contains(number))
      explain_kernel(plan, number, "when weights are set", exe.search_report(), out);
  out.heading(1, "Rules that led there");
  const auto rules = rules_of(derivation);
  if (rules.empty()) out.line("None: the kernels compute the graph as it was written.");
  out.begin_table({"rule", "times"});
  for (const auto& [rule, count] : rules) out.row({rule, std::to_string(count)}, false);
  out.end_table();
  out.heading(2, "In order, with the classes");
  out.code(derivation);
}

class TextWriter : public Writer {
 public:
  void heading(int level, const std::string& text) override {
    text_ += cat("\n", level == 1 ? "== " : "-- ", text, "\n");
  }
  void line(const std::string& text) override { text_ += text + "\n"; }
  void code(const std::string& text) override { text_ += text; }
  void begin_table(const std::vector<std::string>& head) override { rows_ = {{head, false}}; }
  void row(const std::vector<std::string>& cells, bool marked) override { rows_.emplace_back(cells, marked); }
  void end_table() override {
    if (rows_.size() == 1) return;
    std::vector<std::size_t> widths(rows_[0].first.size());
    for (const auto& [cells, marked] : rows_)
      for (std::size_t k = 0; k < widths.size(); ++k) widths[k] = std::max(widths[k], cells[k].size());
    for (const auto& [cells, marked] : rows_) {
      std::string line = marked ? "* " : "  ";
      for (std::size_t k = 0; k < widths.size(); ++k)
        line += cells[k] + std::string(widths[k] - cells[k].size() + 2, ' ');
      text_ += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::vector<std::pair<std::vector<std::string>, bool>> rows_;  // of the table that is begun
};

class PageWriter : public Writer {
 public:
  explicit PageWriter(const std::string& title) {
    text_ =
        cat("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", escape_html(title),
            "</title>\n<style>body{font:15px/1.5 sans-serif;max-width:75em;margin:2em auto;padding:0 1em}",
            "pre{background:#f4f4f4;padding:.7em;overflow:auto}table{border-collapse:collapse}",
            "td,th{text-align:left;padding:.15em .8em;border-bottom:1px solid #ddd;font-size:14px}",
            "tr.chosen{background:#e3f4e1;font-weight:600}</style></head><body>\n<h1>", escape_html(title),
            "</h1>\n");
  }
  void heading(int level, const std::string& text) override {
    text_ += cat("<h", level + 1, ">", escape_html(text), "</h", level + 1, ">\n");
  }
  void line(const std::string& text) override { text_ += cat("<p>", escape_html(text), "</p>\n"); }
  void code(const std::string& text) override { text_ += cat("<pre>", escape_html(text), "</pre>\n"); }
  void begin_table(const std::vector<std::string>& head) override {
    text_ += "<table><tr>";
    for (const auto& cell : head) text_ += cat("<th>", escape_html(cell), "</th>");
    text_ += "</tr>\n";
  }
  void row(const std::vector<std::string>& cells, bool marked) override {
    text_ += marked ? "<tr class=\"chosen\">" : "<tr>";
    for (const auto& cell : cells) text_ += cat("<td>", escape_html(cell), "</td>");
    text_ += "</tr>\n";
  }
  void end_table() override { text_ += "</table>\n"; }
  std::string take() { return text_ + "</body></html>\n"; }

 private:
  std::string text_;
};

}  // namespace

std::string explain_text(const Executable& exe, const std::string& derivation) {
  TextWriter out;
  explain(exe, derivation, out);
  return out.take();
}

std::string explain_html(const Executable& exe, const std::string& derivation, const std::string& title) {
  PageWriter out(title);
  explain(exe, derivation, out);
  return out.take();
}

}  // namespace luminal
