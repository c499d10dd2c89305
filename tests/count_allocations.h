#pragma once
// Replaces the program's operator new, so that what allocates can be counted. For one file of a program.
#include <atomic>
#include <cstdlib>
#include <new>

namespace luminal::test {
inline std::atomic<std::size_t> allocations = 0;
}  // namespace luminal::test

// The aligned ones are the library's. Inlined, GCC takes malloc and free for a mismatch with new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++luminal::test::allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++luminal::test::allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
