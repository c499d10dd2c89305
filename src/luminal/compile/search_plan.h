#pragma once
#include "luminal/compile/executable_data.h"
#include "luminal/compile/planner.h"

namespace luminal {

/// Decisions by measurement, within the budget of the options: kernels are timed, mapped again on what they
/// took, and their schedules tuned, the costliest first; the best few plans are timed whole, and one whose
/// results agree with the others' wins. Never worse than what `fast` decides, as far as can be measured.
Decisions search_plan(Planner& planner, const CompileOptions& options, runtime::BinaryStore& store,
                      ExecutableData& data);

}  // namespace luminal
