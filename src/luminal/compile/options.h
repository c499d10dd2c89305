#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "luminal/shape/expr.h"
#include "luminal/support/sink.h"

namespace luminal {

/// How plans are found.
enum class Mode : std::uint8_t {
  fast,    // rules and a cost model: deterministic, in milliseconds
  search,  // measured, within a budget: see docs/search.md
};

class TimingRecord;

/// How far a search has come.
struct SearchProgress {
  std::string_view doing;      // "kernels", "schedules", "plans"
  std::size_t candidates = 0;  // timed
  double elapsed = 0;          // seconds
  double budget = 0;
  double fast = 0;  // seconds that one run takes as `fast` compiles it, and the best found; 0: not known yet
  double best = 0;
};

/// A range of values of a dim that shares one plan.
struct Bucket {
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool contains(std::int64_t value) const { return low <= value && value <= high; }
};

struct CompileOptions {
  Mode mode = Mode::fast;
  /// What a search may take in all; and how many candidates it may time, 0: any number. It stops earlier if
  /// nothing more is to be gained.
  std::chrono::duration<double> budget = std::chrono::seconds(60);
  std::size_t candidates = 0;
  /// A search stops when this becomes true, and the best plan so far is the result.
  const std::atomic<bool>* cancel = nullptr;
  /// Called during a search, from the thread that compiles.
  std::function<void(const SearchProgress&)> progress = {};
  /// A search adds all its timings to `record`. With `replay` it takes them from there and measures nothing:
  /// with equal records the plans are equal, byte by byte.
  TimingRecord* record = nullptr;
  const TimingRecord* replay = nullptr;
  /// Without rules that regroup sums and products. Kernels still add up a reduction in an order of their own,
  /// and a zero may have another sign.
  bool exact = false;
  /// Further rules, as text; see docs/adding-a-rule.md.
  std::string rules = {};
  /// Typical values of dims, for the cost model. A dim without one takes its value in the graph, else a
  /// guess.
  DimMap tune_dims = {};
  /// The ranges that a dim is compiled for, each with a plan of its own; a run outside of all is an `Error`.
  /// Without: one plan for its declared bounds. With several dims every combination has a plan.
  std::map<std::string, std::vector<Bucket>> buckets = {};
  /// Bytes that a single intermediate may take before a plan that recomputes it is preferred; 0: 256 MiB, or
  /// four times the largest input or output if that is more.
  std::size_t memory_budget = 0;
  /// Keep binaries and decisions on disk, and use those that are there. `cache_directory`: where; empty:
  /// $XDG_CACHE_HOME/luminal.
  bool cache = true;
  std::string cache_directory = {};
  /// Verify each stage's result. On in debug builds.
#ifdef NDEBUG
  bool verify = false;
#else
  bool verify = true;
#endif
  /// Takes a random choice of terms and kernels instead of the best one; for tests.
  std::uint64_t random_seed = 0;
  /// Where stages report; nothing if empty.
  Sink sink = {};
  /// Receives what stages made, as text, under the names "egraph" (classes and their terms), "statistics" (of
  /// saturation), "rejected" (why bodies were not taken) and "derivation" (which rules led to the kernels).
  /// Costs time.
  std::function<void(std::string_view what, const std::string& text)> inspect = {};
};

/// What a stage took, and what it had to say.
struct StageReport {
  std::string name;
  double seconds = 0;
  std::string detail;
};

}  // namespace luminal
