#include "luminal/cli/bench_report.h"

#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>

#include "luminal/cli/output_file.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

void print_row(const BenchRow& row, std::ostream& out) {
  out << std::left << std::setw(26) << row.name << std::right << std::fixed << std::setprecision(1)
      << std::setw(12) << row.ours * 1e6 << " us";
  for (const auto& [name, seconds] : row.peers) out << "  " << name << ' ' << seconds * 1e6;
  if (const auto ratio = row.ratio()) out << "  ratio " << std::setprecision(2) << *ratio;
  if (row.limit > 0) out << "  of limit " << std::setprecision(0) << row.limit / row.ours * 100 << '%';
  if (row.max_error)
    out << "  error " << std::scientific << std::setprecision(1) << *row.max_error << std::fixed;
  if (!row.note.empty()) out << "  (" << row.note << ')';
  out << '\n' << std::flush;
}

void print_geomean(const std::vector<BenchRow>& rows, std::ostream& out) {
  std::map<std::string, std::pair<double, int>> sums;
  for (const auto& row : rows)
    for (const auto& [name, seconds] : row.peers) {
      sums[name].first += std::log(seconds / row.ours);
      ++sums[name].second;
    }
  for (const auto& [name, sum] : sums)
    out << "as fast as " << name << ", geomean of " << sum.second << ": " << std::fixed
        << std::setprecision(2) << std::exp(sum.first / sum.second) << " times\n";
}

void print_interruptions(const std::vector<BenchRow>& rows, std::ostream& out) {
  double runs = 0;
  double interrupted = 0;
  for (const auto& row : rows) {
    runs += row.runs;
    interrupted += row.interrupted;
  }
  if (interrupted > 0.1 * runs)
    out << "Others use this machine: " << static_cast<int>(interrupted / runs * 100)
        << " % of our runs were interrupted, and count by processor time, or not if they are short. "
           "Ratios to other programs say little.\n";
}

nlohmann::json json_of(const BenchRow& row) {
  nlohmann::json entry;
  for (const auto& [key, value] : row.more) entry[key] = value;
  entry["name"] = row.name;
  entry["ours_us"] = row.ours * 1e6;
  entry["peers"] = nlohmann::json::object();
  for (const auto& [name, seconds] : row.peers) entry["peers"][name] = seconds * 1e6;
  entry["ratio"] = row.ratio() ? nlohmann::json(*row.ratio()) : nlohmann::json();
  entry["limit_share"] = row.limit > 0 ? nlohmann::json(row.limit / row.ours) : nlohmann::json();
  entry["max_error"] = row.max_error ? nlohmann::json(*row.max_error) : nlohmann::json();
  return entry;
}

std::vector<BenchEntry> filtered(const BenchOptions& options, const std::vector<BenchEntry>& entries) {
  std::regex filter;
  try {
    filter = std::regex(options.filter);
  } catch (const std::regex_error&) {
    throw Error(cat("bench: --filter takes a regular expression, got ", in_quotes(options.filter)));
  }
  std::vector<BenchEntry> taken;
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    names.push_back(entry.name);
    if (std::regex_search(entry.name, filter)) taken.push_back(entry);
  }
  if (taken.empty())
    throw Error(cat("bench: no row of the suite '", options.suite, "' matches ", in_quotes(options.filter),
                    "; there is ", join(names)));
  return taken;
}

}  // namespace

std::optional<double> BenchRow::ratio() const {
  std::optional<double> best;
  for (const auto& [peer, seconds] : peers)
    if (!best || seconds < *best) best = seconds;
  return best ? std::optional(*best / ours) : std::nullopt;
}

int bench_entries(const BenchOptions& options, const std::vector<BenchEntry>& entries, std::ostream& out) {
  const std::vector<BenchEntry> taken = filtered(options, entries);
  const OutputFile file(options.json, "bench");
  nlohmann::json list = nlohmann::json::array();
  std::vector<BenchRow> rows;
  int exit_code = 0;
  for (const auto& entry : taken) {
    try {
      rows.push_back(entry.measure());
    } catch (const BenchFailure& wrong) {
      std::cerr << "luminal: bench: " << entry.name << ": " << wrong.what() << std::endl;
      exit_code = 1;
      continue;
    }
    print_row(rows.back(), out);
    list.push_back(json_of(rows.back()));
    file.write_part(list.dump(2) + "\n");
  }
  print_geomean(rows, out);
  print_interruptions(rows, out);
  file.write(list.dump(2) + "\n");
  return exit_code;
}

}  // namespace luminal::cli
