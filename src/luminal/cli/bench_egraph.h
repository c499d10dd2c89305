#pragma once
#include <ostream>
#include <string>

namespace luminal::cli {

/// `luminal bench --suite egraph`: the engine's speed on its own programs and on those in `programs`, beside
/// the egglog package where a Python that has it is found (LUMINAL_PEER_PYTHON, or .venv/bin/python). Ratios
/// are of one run on one machine. Returns an exit code.
int bench_egraph(const std::string& programs, std::ostream& out);

}  // namespace luminal::cli
