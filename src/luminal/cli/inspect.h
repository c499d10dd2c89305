#pragma once
#include <CLI/CLI.hpp>

namespace luminal::cli {

/// `luminal inspect FILE|DIR [--json]`: the tensors and metadata of a model file.
void add_inspect_command(CLI::App& app);

}  // namespace luminal::cli
