#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "luminal/compile/executable_data.h"
#include "luminal/compile/kernel_timer.h"
#include "luminal/compile/planner.h"

namespace luminal {

/// Times whole plans against each other on the graph's values, and checks that their results agree.
class PlanTimer {
 public:
  PlanTimer(Planner& planner, ExecutableData& data, KernelTimer& timer, runtime::BinaryStore* store)
      : planner_(planner), data_(data), timer_(timer), store_(store) {}

  struct Candidate {
    std::string name;
    Decisions decisions;
    double predicted = 0;  // the sum of its kernels' times; 0: not all were timed
    std::optional<Timing> timing;
  };

  /// Memory that a run of the plan reads and writes.
  std::size_t bytes_of(const Decisions& decisions) const;
  /// `Error` if the dims to tune for do not pass the graph's checks.
  void require_dims() const;
  /// The number of the best: whole plans by their time where it is known, else by what is predicted. Equal
  /// plans are timed once; the first stands for all. They should take about as long as `expected`. `stop`
  /// ends it early.
  std::size_t choose(std::vector<Candidate>& candidates, double expected, const std::function<bool()>& stop);
  /// What each kernel takes, by its key, in runs of these plans in turn, which are to be of one mapping: for
  /// each plan; empty where that cannot be timed. Of several launches all together.
  std::vector<std::map<std::string, double>> in_place(const std::vector<Decisions>& variants, double expected,
                                                      const std::function<bool()>& stop);
  std::size_t timed() const { return timed_; }
  /// Why plans that have no time have none.
  const std::string& why_not() const { return why_not_; }

 private:
  static bool is_pure(const std::vector<Assembled>& plans);
  std::vector<Timings> measured(const std::vector<Assembled>& plans, const std::vector<std::size_t>& members,
                                int processes, double expected, const std::function<bool()>& stop);
  static std::size_t best_of(const std::vector<Candidate>& candidates);
  bool fits(const std::vector<Assembled>& plans, const std::vector<std::size_t>& members) const;
  Subject subject(runtime::Runner& runner, const Assembled& assembled);

  Planner& planner_;
  ExecutableData& data_;
  KernelTimer& timer_;
  runtime::BinaryStore* store_;
  std::vector<Array> arrays_;  // values that subjects read
  std::map<NodeId, std::size_t> array_of_;
  std::size_t timed_ = 0;
  std::string why_not_;
};

}  // namespace luminal
