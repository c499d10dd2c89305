#pragma once
#include <ostream>

#include "luminal/cli/bench_report.h"

namespace luminal::cli {

/// `luminal bench --suite egraph`: the engine's speed on its own programs and on those in `programs`; with
/// `peers` beside the egglog package of LUMINAL_PEER_PYTHON or .venv/bin/python. Ratios are of one run on one
/// machine. Returns an exit code.
int bench_egraph(const BenchOptions& options, std::ostream& out);

}  // namespace luminal::cli
