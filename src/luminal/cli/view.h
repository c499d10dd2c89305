#pragma once
#include <CLI/CLI.hpp>

namespace luminal::cli {

/// `luminal view FILE`: a graph's text as a page, as Graphviz' language, or checked and printed again.
void add_view_command(CLI::App& app);

}  // namespace luminal::cli
