#pragma once
#include <map>
#include <string>
#include <vector>

#include "luminal/compile/gaussian_process.h"
#include "luminal/compile/kernel_timer.h"

namespace luminal {

/// What schedules took: a kernel tries first what should do well by what others like it did, for this kernel
/// and for others like it; and what is like none of them.
class Experience {
 public:
  /// A schedule of the kernel took `ratio` times as long as its usual one.
  void add(const TunedKernel& kernel, const codegen::Schedule& schedule, double ratio);
  /// The places of so many of the schedules that the kernel should try, the most promising first.
  std::vector<std::size_t> pick(const TunedKernel& kernel, const std::vector<codegen::Schedule>& schedules,
                                std::size_t count) const;

 private:
  struct Tried {
    GaussianProcess::Point schedule;
    double logarithm;
  };
  struct Known {
    GaussianProcess::Point kernel;
    std::vector<Tried> tried;
  };
  std::map<std::string, Known> known_;  // by the kernels' keys
};

}  // namespace luminal
