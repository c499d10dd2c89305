#pragma once
#include <CLI/CLI.hpp>

namespace luminal::cli {

/// luminal profile FILE: what each kernel of a run takes, and how far that is from what the machine can do.
void add_profile_command(CLI::App& app);
/// luminal devices: the devices there are, and what they reach at best.
void add_devices_command(CLI::App& app);
/// luminal cache [list|clear|path].
void add_cache_command(CLI::App& app);

}  // namespace luminal::cli
