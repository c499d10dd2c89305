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
  /// What the kernel reads is there again with the same elements. Also in a child of this process.
  void restore(std::span<const std::span<const std::byte>> inputs) const;

 private:
  void run(const runtime::Program& program, void* memory, std::int64_t words) const;

  runtime::Device& device_;
  std::int64_t workers_;
  std::size_t little_;  // bytes that stay where they were written
  std::unique_ptr<runtime::Memory> others_;
  std::unique_ptr<runtime::Memory> sums_;
  std::vector<std::unique_ptr<runtime::Program>> programs_;
};

}  // namespace luminal
