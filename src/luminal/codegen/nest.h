#pragma once
#include "luminal/codegen/emit.h"
#include "luminal/codegen/schedule.h"
#include "luminal/kernel/structure.h"

namespace luminal::codegen {

/// Prints the body of the tasks of one nest (see footprint.h) into the emitter's current block; `task` counts
/// from 0 there.
void print_nest(Emitter& emitter, const Nest& nest, const NestSchedule& schedule);

/// The loops of a nest, as its schedule runs them.
struct NestLoops {
  std::vector<kernel::LoopId> outer;
  std::optional<kernel::LoopId> inner;
  std::vector<kernel::LoopId> covered;
};
NestLoops loops_of(const kernel::Kernel& kernel, const Nest& nest, const NestSchedule& schedule);

/// What the nest's stores write.
std::vector<kernel::ValueId> roots_of(const kernel::Kernel& kernel, const Nest& nest);

/// How many points loops have; a loop of unknown length counts as 256.
double points_of(const kernel::Kernel& kernel, const std::vector<kernel::LoopId>& loops, const DimMap& hints);

/// Whether a value is worth keeping rather than computing twice.
bool is_expensive(const kernel::Kernel& kernel, kernel::ValueId id);

}  // namespace luminal::codegen
