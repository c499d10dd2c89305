#pragma once
#include <string>
#include <vector>

#include "luminal/compile/executable.h"
#include "luminal/search/cost.h"

namespace luminal {

/// What one step of a run took, beside what it has to do.
struct StepProfile {
  std::string name;  // the kernel's number and family, or the host step's name
  std::optional<std::size_t> kernel;
  double seconds = 0;  // the median of the runs
  double bytes = 0;    // to and from memory at least
  double operations = 0;
  double limit = 0;  // seconds at the machine's ceilings
};

struct Profile {
  std::vector<StepProfile> steps;
  double seconds = 0;  // of a whole run, the median
  search::MachineModel ceilings;

  /// A table, the costliest first.
  std::string text(std::size_t most = 40) const;
  /// A run as a Chrome trace, which Perfetto opens: its steps one after the other, each with its median.
  std::string trace() const;
};

/// Runs the executable several times with its current values, which runs change as they do.
Profile profile(Executable& exe, const DimMap& dims, const search::MachineModel& ceilings, int runs = 5);

}  // namespace luminal
