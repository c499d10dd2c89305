#pragma once
#include <CLI/CLI.hpp>

namespace luminal::cli {

/// `luminal compile FILE`: compiles a graph in the text format, and prints what any stage made of it.
void add_compile_command(CLI::App& app);

}  // namespace luminal::cli
