#pragma once
#include <optional>
#include <string>
#include <vector>

#include "luminal/codegen/schedule.h"
#include "luminal/compile/measure.h"
#include "luminal/search/cost.h"
#include "luminal/support/sink.h"

namespace luminal {

struct TunedKernel;

/// What a search did, for those who want to know why.
struct SearchReport {
  struct Candidate {
    std::string schedule;
    Timing timing;
    bool chosen = false;
  };
  struct Kernel {
    std::string key;  // the kernel, printed
    std::string family;
    double estimated = 0;  // by the roofline, seconds
    double limit = 0;      // what the machine's ceilings allow
    std::size_t runs = 0;  // in one run of the plan; 0: the plan does not use it
    std::vector<Candidate> candidates;
  };
  struct Plan {
    std::string name;
    double predicted = 0;  // the sum of its kernels
    Timing timing;         // whole, if it was timed
    bool chosen = false;
  };
  std::vector<Kernel> kernels;
  std::vector<Plan> plans;
  std::string untimed;  // why plans that have no time have none
  search::MachineModel ceilings;
  std::size_t candidates = 0;  // timed in this search, whole plans too
  double seconds = 0;
  std::string stopped;  // why it ended
};

/// What is told of one kernel: how often runs of the plan need it, if it is one of the plan's, and the
/// schedule that was taken.
SearchReport::Kernel report_of(const TunedKernel& kernel, const search::MachineModel& ceilings,
                               std::optional<std::size_t> runs, const codegen::Schedule& taken);

/// Tells of the candidates that have no time.
void tell_failures(const SearchReport& report, const Sink& sink);

}  // namespace luminal
