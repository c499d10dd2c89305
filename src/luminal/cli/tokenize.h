#pragma once
#include <CLI/CLI.hpp>

namespace luminal::cli {

/// `luminal tokenize --model X [TEXT] [--decode] [--special] [--json]`: text to token ids, or ids to text.
void add_tokenize_command(CLI::App& app);

}  // namespace luminal::cli
