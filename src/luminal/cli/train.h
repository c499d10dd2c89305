#pragma once
#include <CLI/CLI.hpp>

namespace luminal::cli {

/// `luminal train CONFIG.json`: trains what a configuration describes.
void add_train_command(CLI::App& app, int& exit_code);

}  // namespace luminal::cli
