#pragma once
#include <CLI/CLI.hpp>

namespace luminal::cli {

/// `luminal quantize IN OUT --type q4_k`: a model file as GGUF with its matrices in another format.
void add_quantize_command(CLI::App& app);

}  // namespace luminal::cli
