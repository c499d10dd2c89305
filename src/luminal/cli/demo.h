#pragma once
#include <CLI/CLI.hpp>

namespace luminal::cli {

/// `luminal demo`: trains a small transformer to add, saves it, loads it, and answers sums.
void add_demo_command(CLI::App& app, int& exit_code);

}  // namespace luminal::cli
