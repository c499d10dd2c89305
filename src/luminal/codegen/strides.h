#pragma once
#include <optional>
#include <vector>

#include "luminal/kernel/kernel.h"

namespace luminal::codegen {

/// How much the flat index of an access grows with the loop; nullopt if that is not the same everywhere, or
/// data decides.
std::optional<Expr> step_along(const kernel::Kernel& kernel, const Expr& offset, kernel::LoopId loop,
                               int lanes);

/// The flat index of an element of a row-major array.
Expr flat_index(const std::vector<Expr>& index, const Shape& shape);

/// Elements in lines: element (flat place r of some loops, flat place c of others) at offset + r·stride + c.
struct Lines {
  Expr offset;
  Expr stride;
};
/// Whether an access is such, with r over `across` and c over `along`.
std::optional<Lines> lines_of(const kernel::Kernel& kernel, const Expr& offset,
                              const std::vector<kernel::LoopId>& across,
                              const std::vector<kernel::LoopId>& along);

/// The loop among the candidates that has enough points for vectors of `lanes`, and along which most of the
/// loads that the roots need are contiguous; nullopt if none gains.
std::optional<kernel::LoopId> best_lanes(const kernel::Kernel& kernel,
                                         const std::vector<kernel::LoopId>& candidates,
                                         const std::vector<kernel::ValueId>& roots, int lanes);

/// The gain of lanes along a loop for the loads that the roots need: positive where contiguous ones prevail.
int lanes_gain(const kernel::Kernel& kernel, kernel::LoopId loop, const std::vector<kernel::ValueId>& roots,
               int lanes);

}  // namespace luminal::codegen
