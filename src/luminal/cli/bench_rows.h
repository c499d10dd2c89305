#pragma once
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "luminal/cli/bench_report.h"
#include "luminal/compile/executable.h"
#include "luminal/search/cost.h"

namespace luminal::cli {

/// Someone else who computes the same.
struct BenchPeer {
  std::string name;
  std::function<double()> run;                 // once; seconds, negative if the run was disturbed
  std::function<std::vector<float>()> output;  // of the first result; may be empty
  std::function<void()> restore = {};          // what runs have changed is as it was; empty: nothing is
};

/// Something to measure: a graph with values, the kind by which peers know it, and peers by library.
struct BenchCase {
  std::string name;
  std::string kind;
  Graph graph;
  std::vector<BenchPeer> libraries = {};
};

/// Cases by the names of their rows.
using BenchCases = std::vector<std::pair<std::string, std::function<BenchCase()>>>;

/// Measures cases, and reports them as `bench_entries` does; its exit code.
int bench_cases(const BenchOptions& options, const BenchCases& cases, std::ostream& out);

int bench_ops(const BenchOptions& options, std::ostream& out);
int bench_models(const BenchOptions& options, std::ostream& out);

}  // namespace luminal::cli
