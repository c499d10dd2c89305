#pragma once
#include <vector>

#include "luminal/codegen/schedule.h"

namespace luminal::codegen {

/// Schedules to try beside the default one, the most different first: a library's calls, other
/// templates, shapes of register tiles, vector loops. In an order that depends on the arguments alone; none
/// is equal to the default or to another.
std::vector<Schedule> schedule_variants(const kernel::Kernel& kernel, const Machine& machine,
                                        const DimMap& hints);

/// The schedules that differ from this one in a single knob, by one step, or in how it is cut into tasks: how
/// a search goes on from the best that it knows.
std::vector<Schedule> schedule_neighbours(const kernel::Kernel& kernel, const Schedule& from,
                                          const Machine& machine, const DimMap& hints);

}  // namespace luminal::codegen
