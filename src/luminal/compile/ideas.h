#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "luminal/compile/experience.h"
#include "luminal/compile/kernel_timer.h"

namespace luminal {

/// What kernels should try next, by what they and others have tried.
class Ideas {
 public:
  Ideas(const codegen::Machine& machine, DimMap dims) : machine_(machine), dims_(std::move(dims)) {}

  /// Schedules that the kernel has not tried, as many as are tried at once, the most promising first: its
  /// usual one, what did well for nests of the same shape in other kernels (alone, if it takes long), then by
  /// experience variants of the usual one and what is near its `breadth` best ones.
  std::vector<codegen::Schedule> next(const TunedKernel& kernel, std::size_t breadth) const;

  /// The kernel's best schedule, or the usual one if it has tried none, with its nests as they are in kernels
  /// that have a nest of the same shape, and gained more. None if there is no such thing, or it was tried.
  std::optional<codegen::Schedule> lead(const TunedKernel& kernel) const;

  /// Keeps what the kernel's candidates from the given one on tell.
  void learn(const TunedKernel& kernel, std::size_t first);

 private:
  /// How a nest runs in the best schedule of a kernel.
  struct Known {
    codegen::NestSchedule schedule;
    codegen::NestShape shape;
    double gained = 1;  // by the kernel: its time in its usual one's
  };
  codegen::Machine machine_;
  DimMap dims_;
  Experience experience_;
  std::map<std::string, std::map<std::string, Known>> nests_;  // by the nest's shape, and the kernel's key
};

}  // namespace luminal
