#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "luminal/kernel/kernel.h"

/// Arrays with their axes in another order in memory: what a kernel reads in short steps it reads faster.
namespace luminal::kernel {

/// Axis `order[k]` of an array is axis k of the one that is stored.
using AxisOrder = std::vector<std::size_t>;

/// The order in which neighbouring points of the stores' domains read neighbouring elements of an input, if
/// it is stored otherwise: an axis that only loops of domains move along comes last, in place of one that
/// only sums move along. Nullopt if there is nothing to gain, or several loads disagree.
std::optional<AxisOrder> better_order(const Kernel& kernel, std::uint32_t input);

/// The same kernel for an input that is stored in that order.
Kernel reordered(const Kernel& kernel, std::uint32_t input, const AxisOrder& order);

/// Stores an array in that order.
Kernel reordering(const ArrayType& array, const AxisOrder& order);

}  // namespace luminal::kernel
