#pragma once
#include <ostream>

namespace luminal::cli {

/// How long compiling takes: Llama-3.2-1B's decode graph, with 16 layers and with 32.
int bench_compile(std::ostream& out);

}  // namespace luminal::cli
