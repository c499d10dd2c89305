#pragma once
#include <CLI/CLI.hpp>

namespace luminal::cli {

/// `luminal egg FILE`: runs a program of the e-graph language. Leaves 1 in `exit_code` if it is refused or a
/// check fails.
void add_egg_command(CLI::App& app, int& exit_code);

}  // namespace luminal::cli
