#pragma once
#include <cstdint>

namespace luminal::test {

/// How often this program has called `new`.
std::uint64_t allocations();

}  // namespace luminal::test
