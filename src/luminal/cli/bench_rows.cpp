#include "luminal/cli/bench_rows.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "luminal/cli/models.h"
#include "luminal/cli/peer_process.h"
#include "luminal/cli/search_options.h"
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

/// All in turn, for about a second and a half each, `restore` before each round. The first run of a turn does
/// not count: it finds caches that another program has filled, where in its user's loop it follows itself.
/// What is short runs several times more.
std::vector<double> run_in_turn(const std::vector<std::function<double()>>& runs,
                                const std::function<void()>& restore, runtime::Device& device) {
  constexpr double turn = 3e-3;
  std::vector<std::vector<double>> times(runs.size());
  std::vector<int> counts;
  for (const auto& run : runs) {
    run();
    counts.push_back(std::clamp(static_cast<int>(turn / std::max(1e-6, std::abs(run()))), 1, 30));
  }
  double spent = 0;
  for (int round = 0; round < 5 || spent < 1.5 * static_cast<double>(runs.size()); ++round) {
    restore();
    const auto start = Clock::now();
    for (std::size_t k = 0; k < runs.size(); ++k) {
      device.settle();
      runs[k]();
      for (int count = 0; count < counts[k]; ++count) times[k].push_back(runs[k]());
    }
    spent += since(start);
  }
  std::vector<double> medians;
  for (auto& list : times) medians.push_back(median(std::move(list)));
  return medians;
}

constexpr double tolerance = 1e-3;  // of the largest element: sums in another order, and f32

/// How far ours is from theirs at most, relative to their largest element. `BenchFailure` if that is not what
/// rounding explains.
double error_between(const std::vector<float>& ours, const std::vector<float>& theirs,
                     const std::string& whose) {
  if (ours.size() != theirs.size())
    throw BenchFailure(
        cat("our result has ", ours.size(), " elements, that of ", whose, " has ", theirs.size()));
  double largest = 0;
  for (const float value : theirs)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  double error = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] == theirs[i] || (std::isnan(ours[i]) && std::isnan(theirs[i]))) continue;
    const double apart = std::abs(static_cast<double>(ours[i]) - static_cast<double>(theirs[i]));
    if (!std::isfinite(apart) || apart > tolerance * largest)
      throw BenchFailure(cat("our result differs from that of ", whose, " at element ", i, ": ", ours[i],
                             " against ", theirs[i], "; allowed is ", tolerance, " of the largest element"));
    error = std::max(error, apart);
  }
  return largest > 0 ? error / largest : 0;
}

using Results = std::vector<std::vector<float>>;

/// All that a run computes, the main result last.
Results results_of(const Graph& graph, const Executable& exe) {
  Results results;
  for (const auto& value : graph.dag().outputs()) {
    const Array array = exe.array(graph.at(value));
    std::vector<float> elements(static_cast<std::size_t>(array.size()));
    if (array.dtype() == DType::f32) {
      elements = array.values<float>();
    } else {
      for (std::size_t i = 0; i < elements.size(); ++i)
        elements[i] = static_cast<float>(to_double(array.at(static_cast<std::int64_t>(i))));
    }
    results.push_back(std::move(elements));
  }
  return results;
}

void compare(BenchRow& row, const std::vector<float>& ours, const std::vector<float>& theirs,
             const std::string& whose) {
  row.max_error = std::max(row.max_error.value_or(0), error_between(ours, theirs, whose));
}

void compare(BenchRow& row, const Results& ours, const Results& theirs, const std::string& whose) {
  for (std::size_t k = 0; k < ours.size(); ++k) compare(row, ours[k], theirs[k], whose);
}

Results after_steps(const Graph& graph, Executable& exe) {
  constexpr int steps = 3;
  for (int step = 0; step < steps; ++step) exe.run();
  return results_of(graph, exe);
}

/// Gives states that a run assigns their first values again: a training step is to be timed as it is from
/// these, not after thousands of steps on one batch, when its gradients are next to nothing.
void restore_states(const Graph& graph, Executable& exe) {
  for (const auto& [state, value] : graph.dag().assignments())
    exe.set(graph.at(state), graph.at(state).array());
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
  return ceilings.least_seconds(least_bytes, operations);
}

/// One run of the interpreter, which may take minutes.
void interpret(Graph& graph, const Results& ours, BenchRow& row) {
  const Stopwatch watch;
  graph.execute();
  row.peers["interpreter"] = watch.seconds(1);
  compare(row, ours.back(), graph.at(graph.dag().outputs().back()).data<float>(), "the interpreter");
}

Executable searched(Graph& graph, const std::shared_ptr<runtime::Device>& device,
                    const std::optional<double>& budget) {
  CompileOptions options;
  options.mode = Mode::search;
  if (budget) options.budget = std::chrono::duration<double>(*budget);
  options.cache = false;
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  if (terminal) options.progress = draw_progress;
  Executable exe = compile(graph, device, options);
  if (terminal) std::cerr << "\r\x1b[K" << std::flush;
  return exe;
}

std::string effort(const Executable& exe) {
  const SearchReport* report = exe.search_report();
  return report == nullptr ? ""
                           : cat(report->candidates, " candidates in ", std::lround(report->seconds), " s");
}

/// How many of a plan's kernels fast's has, too.
std::string in_common(const runtime::Plan& ours, const runtime::Plan& fast) {
  std::set<std::string> known;
  for (const auto& kernel : fast.kernels) known.insert(kernel.source.text);
  const auto shared = std::count_if(ours.kernels.begin(), ours.kernels.end(),
                                    [&](const auto& kernel) { return known.contains(kernel.source.text); });
  return cat(shared, " of ", ours.kernels.size(), " kernels as fast has them");
}

/// The same graph, compiled in another way.
struct Rival {
  std::string name;
  Executable exe;
};

/// What the options want to see beside ours.
std::vector<Rival> rivals_of(const BenchOptions& options, Graph& graph,
                             const std::shared_ptr<runtime::Device>& device) {
  std::vector<Rival> rivals;
  if (options.search) rivals.push_back({"luminal fast", compile(graph, device)});
  if (options.longer)
    rivals.push_back(
        {cat("luminal search ", *options.longer, " s"), searched(graph, device, options.longer)});
  return rivals;
}

BenchRow measured(const BenchOptions& options, BenchCase& given, PeerProcess* process,
                  search::MachineModel& ceilings) {
  const auto cpu = best_device();
  fill(given.graph);
  BenchRow row{.name = given.name};
  std::vector<BenchPeer> peers = given.libraries;
  if (process != nullptr) {
    auto more = process->peers(given.kind, given.graph, cpu->machine().workers);
    peers.insert(peers.end(), more.begin(), more.end());
  }
  // Ours first: a second search in one process tries fewer candidates in the same time.
  Executable exe = options.search ? searched(given.graph, cpu, options.budget) : compile(given.graph, cpu);
  std::vector<Rival> rivals = rivals_of(options, given.graph, cpu);
  row.note = effort(exe);
  // First runs are compared with the peers': later ones of a training step have other weights.
  exe.run();
  const Results ours = results_of(given.graph, exe);
  for (auto& rival : rivals) {
    row.note += cat("; ", rival.exe.search_report() != nullptr ? cat(rival.name, ": ", effort(rival.exe))
                                                               : in_common(exe.plan(), rival.exe.plan()));
    rival.exe.run();
    compare(row, ours, results_of(given.graph, rival.exe), rival.name);
  }
  // What a training step has written shows in the next ones' results.
  if (!rivals.empty() && !given.graph.dag().assignments().empty()) {
    const Results later = after_steps(given.graph, exe);
    for (auto& rival : rivals) compare(row, later, after_steps(given.graph, rival.exe), rival.name);
  }
  for (const auto& peer : peers)
    if (peer.output) {
      compare(row, ours.back(), peer.output(), peer.name);
      break;
    }
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
  for (auto& rival : rivals) runs.push_back(timed(rival.exe));
  for (const auto& peer : peers) runs.push_back(peer.run);
  const std::vector<double> medians = run_in_turn(
      runs,
      [&] {
        restore_states(given.graph, exe);
        for (auto& rival : rivals) restore_states(given.graph, rival.exe);
        for (const auto& peer : peers)
          if (peer.restore) peer.restore();
      },
      *cpu);
  row.ours = medians[0];
  std::size_t next = 1;
  for (const auto& rival : rivals) row.peers[rival.name] = medians[next++];
  for (const auto& peer : peers) row.peers[peer.name] = medians[next++];
  ceilings = highest(ceilings, measure_ceilings(*cpu));
  row.limit = limit_of(exe.plan(), given.graph.dims(), ceilings);
  if (options.interpreter) interpret(given.graph, ours, row);
  return row;
}

}  // namespace

int bench_cases(const BenchOptions& options, const BenchCases& cases, std::ostream& out) {
  std::unique_ptr<PeerProcess> process;
  std::optional<search::MachineModel> ceilings;
  std::vector<BenchEntry> entries;
  for (const auto& [name, make] : cases)
    entries.push_back({name, [&, build = make] {
                         if (options.peers && !process) process = std::make_unique<PeerProcess>();
                         if (!ceilings) ceilings = measure_ceilings(*best_device());
                         BenchCase given = build();
                         return measured(options, given, process.get(), *ceilings);
                       }});
  return bench_entries(options, entries, out);
}

int bench_models(const BenchOptions& options, std::ostream& out) {
  BenchCases cases;
  for (const auto& model : model_suite()) {
    const bool is_llm = model.name.starts_with("llama");
    if (options.suite == "train" ? !model.trains : options.suite == "llm" && !is_llm) continue;
    cases.emplace_back(model.name,
                       [&model] { return BenchCase{model.name, model.name, model.build(false)}; });
  }
  return bench_cases(options, cases, out);
}

}  // namespace luminal::cli
