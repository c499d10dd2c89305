#include "luminal/support/large_memory.h"

#include <sys/mman.h>

#include <cstdlib>

namespace luminal {

void* allocate_elements(std::size_t bytes) {
  constexpr std::size_t line = 64;
  constexpr std::size_t large_page = std::size_t{2} << 20;
  const std::size_t unit = bytes >= large_page ? large_page : line;
  const std::size_t rounded = bytes / unit * unit + unit;
  if (rounded < bytes) return nullptr;
  void* const memory = std::aligned_alloc(unit, rounded);
  if (memory != nullptr && unit == large_page)
    ::madvise(memory, rounded, MADV_HUGEPAGE);  // or it stays as it is
  return memory;
}

}  // namespace luminal
