#include "luminal/cli/bench_rows.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>

#include "luminal/cli/graph_file.h"
#include "luminal/cli/models.h"
#include "luminal/cli/peer_process.h"
#include "luminal/compile/ceilings.h"
#include "luminal/compile/stopwatch.h"
#include "luminal/luminal.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Of runs that were not disturbed (those are negative), if there are some.
double median(std::vector<double> values) {
  const auto is_sound = [](double value) { return value >= 0; };
  if (std::count_if(values.begin(), values.end(), is_sound) >= 3)
    std::erase_if(values, [&](double value) { return !is_sound(value); });
  for (double& value : values) value = std::abs(value);
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// All in turn, for about a second and a half each.
void run_in_turn(const std::vector<std::function<double()>>& runs, std::vector<double>& medians) {
  std::vector<std::vector<double>> times(runs.size());
  for (const auto& run : runs) run();
  const auto start = Clock::now();
  for (int round = 0; round < 200 && (round < 5 || since(start) < 1.5 * static_cast<double>(runs.size()));
       ++round)
    for (std::size_t k = 0; k < runs.size(); ++k) times[k].push_back(runs[k]());
  for (auto& list : times) medians.push_back(median(std::move(list)));
}

double error_between(const std::vector<float>& ours, const std::vector<float>& theirs) {
  if (ours.size() != theirs.size()) return INFINITY;
  double largest = 0;
  double error = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(theirs[i])));
    const double apart = std::abs(static_cast<double>(ours[i]) - static_cast<double>(theirs[i]));
    error = std::isnan(apart) ? INFINITY : std::max(error, apart);
  }
  return error / std::max(largest, 1e-30);
}

std::vector<float> first_output(const Graph& graph, const Executable& exe) {
  return exe.get<float>(graph.at(graph.dag().outputs().back()));
}

double limit_of(const runtime::Plan& plan, const DimMap& dims, const search::MachineModel& ceilings) {
  double least_bytes = 0;
  double operations = 0;
  search::Roofline roofline(ceilings);
  // What must come from and go to memory at least: inputs, weights and results. What must be computed.
  for (const auto& buffer : plan.buffers) {
    if (buffer.role != runtime::BufferInfo::Role::external && !buffer.is_output) continue;
    double bytes = static_cast<double>(byte_size(buffer.type.dtype));
    for (const auto dim : buffer.type.shape.eval(dims)) bytes *= static_cast<double>(dim);
    least_bytes += bytes;
  }
  for (const auto& step : plan.steps)
    if (step.kernel)
      if (const auto estimate = roofline.estimate(plan.kernels[*step.kernel].kernel, dims))
        operations += estimate->operations;
  return std::max(least_bytes / ceilings.bandwidth, operations / ceilings.contraction_rate);
}

/// One run of the interpreter, which may take minutes; its result tells our error if nobody else's did.
void interpret(Graph& graph, const Executable& exe, BenchRow& row) {
  const Stopwatch watch;
  graph.execute();
  row.peers["interpreter"] = watch.seconds(1);
  const Tensor output = graph.at(graph.dag().outputs().back());
  if (!row.max_error) row.max_error = error_between(first_output(graph, exe), output.data<float>());
}

BenchRow measured(const BenchOptions& options, BenchCase& given, PeerProcess* process,
                  const search::MachineModel& ceilings) {
  const auto cpu = best_device();
  fill(given.graph);
  BenchRow row{.name = given.name,
               .ours = 0,
               .peers = {},
               .limit = 0,
               .max_error = {},
               .note = {},
               .runs = 0,
               .interrupted = 0};
  std::vector<BenchPeer> peers = given.libraries;
  if (process != nullptr) {
    auto more = process->peers(given.kind, given.graph, cpu->machine().workers);
    peers.insert(peers.end(), more.begin(), more.end());
  }
  CompileOptions compile_options;
  std::optional<Executable> fast;
  if (options.search) {
    fast = compile(given.graph, cpu, compile_options);
    compile_options.mode = Mode::search;
    compile_options.budget = std::chrono::duration<double>(options.budget);
    compile_options.cache = false;
  }
  Executable exe = compile(given.graph, cpu, compile_options);
  if (exe.search_report() != nullptr)
    row.note = cat(exe.search_report()->candidates, " candidates in ",
                   std::lround(exe.search_report()->seconds), " s");
  exe.run();
  for (const auto& peer : peers)
    if (peer.output && !row.max_error)
      row.max_error = error_between(first_output(given.graph, exe), peer.output());
  const double parallel = 1.0 / cpu->machine().workers;
  const auto timed = [&row, parallel](Executable& which) {
    return [&which, &row, parallel] {
      const Stopwatch watch;
      which.run();
      ++row.runs;
      row.interrupted += watch.interrupted() ? 1 : 0;
      const double sign = watch.disturbed() ? -1 : 1;
      return sign * watch.seconds(parallel);
    };
  };
  std::vector<std::function<double()>> runs = {timed(exe)};
  if (fast) runs.push_back(timed(*fast));
  for (const auto& peer : peers) runs.push_back(peer.run);
  std::vector<double> medians;
  run_in_turn(runs, medians);
  row.ours = medians[0];
  std::size_t next = 1;
  if (fast) row.peers["luminal fast"] = medians[next++];
  for (const auto& peer : peers) row.peers[peer.name] = medians[next++];
  row.limit = limit_of(exe.plan(), given.graph.dims(), ceilings);
  if (options.interpreter) interpret(given.graph, exe, row);
  return row;
}

void print_row(const BenchRow& row, std::ostream& out) {
  out << std::left << std::setw(26) << row.name << std::right << std::fixed << std::setprecision(1)
      << std::setw(12) << row.ours * 1e6 << " us";
  for (const auto& [name, seconds] : row.peers) out << "  " << name << ' ' << seconds * 1e6;
  if (const auto ratio = row.ratio()) out << "  ratio " << std::setprecision(2) << *ratio;
  out << "  of limit " << std::setprecision(0) << row.limit / row.ours * 100 << '%';
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

nlohmann::json json_of(const BenchRow& row) {
  nlohmann::json entry;
  entry["name"] = row.name;
  entry["ours_us"] = row.ours * 1e6;
  entry["peers"] = nlohmann::json::object();
  for (const auto& [name, seconds] : row.peers) entry["peers"][name] = seconds * 1e6;
  entry["ratio"] = row.ratio() ? nlohmann::json(*row.ratio()) : nlohmann::json();
  entry["limit_share"] = row.limit / row.ours;
  entry["max_error"] = row.max_error ? nlohmann::json(*row.max_error) : nlohmann::json();
  return entry;
}

}  // namespace

std::optional<double> BenchRow::ratio() const {
  std::optional<double> best;
  for (const auto& [peer, seconds] : peers)
    if (!best || seconds < *best) best = seconds;
  return best ? std::optional(*best / ours) : std::nullopt;
}

int bench_cases(const BenchOptions& options, const std::vector<std::function<BenchCase()>>& cases,
                const std::vector<std::string>& names, std::ostream& out) {
  std::regex filter;
  try {
    filter = std::regex(options.filter);
  } catch (const std::regex_error&) {
    throw Error(cat("bench: --filter takes a regular expression, got ", in_quotes(options.filter)));
  }
  std::unique_ptr<PeerProcess> process;
  if (options.peers) process = std::make_unique<PeerProcess>();
  const search::MachineModel ceilings = measure_ceilings(*best_device());
  std::vector<BenchRow> rows;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    if (!std::regex_search(names[k], filter)) continue;
    BenchCase given = cases[k]();
    rows.push_back(measured(options, given, process.get(), ceilings));
    print_row(rows.back(), out);
  }
  print_geomean(rows, out);
  double runs = 0;
  double interrupted = 0;
  for (const auto& row : rows) {
    runs += row.runs;
    interrupted += row.interrupted;
  }
  if (interrupted > 0.1 * runs)
    out << "Others use this machine: " << static_cast<int>(interrupted / runs * 100)
        << " % of our runs were interrupted, and count by processor time. Ratios to other programs say "
           "little.\n";
  if (!options.json.empty()) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& row : rows) list.push_back(json_of(row));
    write_file(options.json, list.dump(2) + "\n", "bench");
  }
  return 0;
}

int bench_models(const BenchOptions& options, std::ostream& out) {
  std::vector<std::function<BenchCase()>> cases;
  std::vector<std::string> names;
  for (const auto& model : model_suite()) {
    const bool is_llm = model.name.starts_with("llama");
    if (options.suite == "train" ? !model.trains : options.suite == "llm" && !is_llm) continue;
    names.push_back(model.name);
    cases.emplace_back([&model] { return BenchCase{model.name, model.name, model.build(false)}; });
  }
  return bench_cases(options, cases, names, out);
}

}  // namespace luminal::cli
