#pragma once
#include "luminal/kernel/kernel.h"

namespace luminal::kernel {

/// The kernel with neighbouring loops of the domains, and of the reductions, made one where every index stays
/// as simple: an element-wise kernel on contiguous arrays becomes one long loop. A reason why the pass
/// exists: vectors need long inner loops, and arrays often have short last axes. Values keep their order, but
/// not their ids; kernels with Positions, which are reported by id, stay as they are.
Kernel merge_loops(const Kernel& kernel);

}  // namespace luminal::kernel
