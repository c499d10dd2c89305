#pragma once
#include <optional>
#include <string>
#include <vector>

#include "luminal/codegen/schedule.h"

namespace luminal::codegen {

/// What of a nest its schedule depends on: nests of one shape, of whatever kernels, run well in the same way.
struct NestShape {
  std::string text;                   // equal for equal shapes, however their points are divided into loops
  std::vector<kernel::LoopId> loops;  // of its domain,
  std::vector<std::string> extents;   // and how long they are
  double points = 1;                  // of its domain
  double rows = 1;                    // of a contraction, or of attention's queries,
  double columns = 1;                 // of what is multiplied with them,
  double depth = 1;                   // and the terms of a sum
};

/// One for each nest, in the order of `nests_of`, for dims about as large as `hints` says.
std::vector<NestShape> nest_shapes(const kernel::Kernel& kernel, const DimMap& hints);

/// The schedule of a nest for another one of its shape: the same, but for the names of its loops; nullopt if
/// it names loops that the other has not.
std::optional<NestSchedule> moved(const NestSchedule& schedule, const NestShape& from, const NestShape& to);

}  // namespace luminal::codegen
