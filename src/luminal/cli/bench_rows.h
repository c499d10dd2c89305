#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "luminal/compile/executable.h"
#include "luminal/search/cost.h"

namespace luminal::cli {

struct BenchOptions {
  std::string suite;
  std::string programs;
  std::string filter;
  std::string json;
  bool peers = false;
  bool interpreter = false;
  bool search = false;
  double budget = 60;
};

/// Someone else who computes the same.
struct BenchPeer {
  std::string name;
  std::function<double()> run;                 // once; seconds, negative if the run was disturbed
  std::function<std::vector<float>()> output;  // of the first result; may be empty
};

/// One line of a benchmark: we and the peers, run in turn; medians.
struct BenchRow {
  std::string name;
  double ours = 0;  // seconds
  std::map<std::string, double> peers;
  double limit = 0;                 // seconds that the machine's ceilings allow
  std::optional<double> max_error;  // relative to the largest element
  std::string note;
  double runs = 0;  // of ours; and those of them that others interrupted
  double interrupted = 0;

  /// The best peer's time by ours; none without peers.
  std::optional<double> ratio() const;
};

/// Something to measure: a graph with values, the kind by which peers know it, and peers by library.
struct BenchCase {
  std::string name;
  std::string kind;
  Graph graph;
  std::vector<BenchPeer> libraries = {};
};

/// Measures cases and writes the table, and the JSON if the options ask for it; 0 if all went well.
int bench_cases(const BenchOptions& options, const std::vector<std::function<BenchCase()>>& cases,
                const std::vector<std::string>& names, std::ostream& out);

int bench_ops(const BenchOptions& options, std::ostream& out);
int bench_models(const BenchOptions& options, std::ostream& out);

}  // namespace luminal::cli
