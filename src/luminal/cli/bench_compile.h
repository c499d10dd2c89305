#pragma once
#include <ostream>

#include "luminal/cli/bench_report.h"

namespace luminal::cli {

/// How long compiling takes: Llama-3.2-1B's decode graph, with 16 layers and with 32. Returns an exit code.
int bench_compile(const BenchOptions& options, std::ostream& out);

}  // namespace luminal::cli
