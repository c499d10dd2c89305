#pragma once
#include "luminal/kernel/kernel.h"

namespace luminal::kernel {

/// Splits loops that are only read in pieces: where an index asks for i/c and i%c, and c divides the loop's
/// extent, the loop becomes two, so that each piece is a loop of its own and memory is walked in steps. The
/// same values otherwise.
Kernel split_loops(Kernel kernel);

}  // namespace luminal::kernel
