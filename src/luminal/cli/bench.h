#pragma once
#include <CLI/CLI.hpp>

namespace luminal::cli {

/// `luminal bench --suite NAME`: measurements, always as ratios of one run.
void add_bench_command(CLI::App& app, int& exit_code);

}  // namespace luminal::cli
