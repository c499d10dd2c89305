#pragma once
#include <functional>
#include <string>
#include <vector>

#include "luminal/compile/ideas.h"
#include "luminal/compile/kernel_table.h"
#include "luminal/compile/plan_timer.h"

namespace luminal {

/// The end of a search: the best few plans are timed whole, and the winner is right.
class Choice {
 public:
  struct Limits {
    std::function<bool()> is_late;
    std::function<bool()> is_cancelled;
    std::function<double()> left;  // seconds
  };
  Choice(KernelTable& kernels, KernelTimer& timer, PlanTimer& plans, const Ideas& ideas, Limits limits)
      : kernels_(kernels), timer_(timer), plans_(plans), ideas_(ideas), limits_(std::move(limits)) {}

  /// A mapping, and what it is called.
  struct Mapped {
    std::string name;
    Decisions decisions;
  };
  struct Result {
    std::vector<PlanTimer::Candidate> candidates;
    std::size_t won = 0;
  };
  /// Among what `fast` compiles, a run of which takes about so long, the same tuned, and the best of the
  /// others. `Error` if a kernel has no schedule that is right.
  Result choose(const Decisions& fast, double fast_seconds, const std::vector<Mapped>& others);

 private:
  PlanTimer::Candidate candidate(const Mapped& mapped, bool tuned);
  Decisions with_schedules(Decisions decisions) const;
  void add_chosen_in_place(std::vector<PlanTimer::Candidate>& candidates, double fast_seconds);
  void repair(TunedKernel& kernel);
  void verify(Decisions& decisions);

  KernelTable& kernels_;
  KernelTimer& timer_;
  PlanTimer& plans_;
  const Ideas& ideas_;
  Limits limits_;
};

}  // namespace luminal
