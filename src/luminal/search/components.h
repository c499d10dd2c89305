#pragma once
#include <cstddef>
#include <vector>

namespace luminal::search {

/// The strongly connected components that the roots reach in a graph, given by the children of each node:
/// every component after those that it has children in; members in ascending order.
std::vector<std::vector<std::size_t>> strong_components(const std::vector<std::vector<std::size_t>>& children,
                                                        const std::vector<std::size_t>& roots);

}  // namespace luminal::search
