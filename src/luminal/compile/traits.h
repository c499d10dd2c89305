#pragma once
#include <vector>

#include "luminal/search/cost.h"

namespace luminal {

/// What of a kernel decides how far it stays behind its roofline, as numbers: kernels with about the same
/// ones stay behind it about as far.
using Traits = std::vector<double>;

Traits traits_of(const kernel::Kernel& kernel, const search::Estimate& prior,
                 const search::MachineModel& machine, const DimMap& dims);

}  // namespace luminal
