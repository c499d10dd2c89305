#pragma once
#include <memory>
#include <span>
#include <vector>

#include "luminal/runtime/device.h"

namespace luminal {

/// Leaves the caches as the other kernels of a plan do before a kernel runs. Alone, it would find what it
/// reads where its own last run left it. In a plan others have filled the caches, and what it reads was
/// written a moment ago, if it is not much: a part by each worker, so that what one reads of another's part
/// comes from there.
class Surroundings {
 public:
  /// Of a plan that reads and writes so many bytes.
  Surroundings(runtime::Device& device, std::size_t bytes);
  /// Before a kernel that reads these inputs runs. They are written, with the elements that they have, so
  /// they must lie in memory that may be written, aligned to eight bytes. Also in a child of this process.
  void restore(std::span<const std::span<const std::byte>> inputs) const;

 private:
  void run(std::size_t program, void* first, void* second, std::size_t words) const;

  runtime::Device& device_;
  std::int64_t workers_;
  std::size_t little_;  // bytes that stay where they were written
  std::unique_ptr<runtime::Memory> others_;
  std::unique_ptr<runtime::Memory> sums_;
  std::unique_ptr<runtime::Memory> nothing_;  // a zero
  std::vector<std::unique_ptr<runtime::Program>> programs_;
};

}  // namespace luminal
