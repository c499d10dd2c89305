#pragma once
#include <cstddef>

namespace luminal {

/// Memory for elements, at the beginning of a cache line; null if there is none. What is large lies on large
/// pages where the system has them: the processor finds them faster, and which parts of it share places in
/// caches is no matter of chance. `std::free` gives it back.
void* allocate_elements(std::size_t bytes);

}  // namespace luminal
