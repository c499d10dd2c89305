#pragma once
#include <span>
#include <vector>

#include "luminal/graph/node.h"

namespace luminal {

/// Runs a custom op on row-major arrays. Its outputs, row-major, as many and of the types that the node has:
/// `Error` naming the op if it gives others, or throws.
std::vector<Array> run_custom(const Node& node, std::span<const Array> inputs, const DimMap& dims);

}  // namespace luminal
