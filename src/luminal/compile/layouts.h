#pragma once
#include <set>

#include "luminal/compile/region.h"

namespace luminal {

/// What a kernel must take of another one's time to stand in its place with weights in another order, which
/// take memory.
constexpr double other_layout_share = 0.97;

/// Stores weights in another order of axes when they are set, where the oracle says that this makes kernels
/// faster. `weights`: the numbers of the region's sources that are static. Kernels that would read another
/// layout join the region's `others`.
void choose_layouts(CompiledRegion& region, const std::set<std::size_t>& weights, search::CostOracle& oracle,
                    const DimMap& dims);

}  // namespace luminal
