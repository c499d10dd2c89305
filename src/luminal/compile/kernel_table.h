#pragma once
#include <map>
#include <string>

#include "luminal/compile/kernel_timer.h"
#include "luminal/compile/planner.h"

namespace luminal {

/// The kernels that runs of a plan need, by their keys, and how often.
using Uses = std::map<std::string, std::size_t>;

/// The kernels under search.
class KernelTable {
 public:
  KernelTable(Planner& planner, codegen::Machine machine) : planner_(planner), machine_(machine) {}
  /// By which kernels are priced that are seen for the first time from now on.
  void set_ceilings(const search::MachineModel& ceilings) { ceilings_ = ceilings; }
  /// Whose runs may take so many seconds while nothing is known of them.
  void set_patience(double seconds) { patience_ = seconds; }

  TunedKernel& of(const kernel::Kernel& kernel);
  TunedKernel& at(const std::string& key) { return kernels_.at(key); }
  const TunedKernel& at(const std::string& key) const { return kernels_.at(key); }
  const std::map<std::string, TunedKernel>& all() const { return kernels_; }

  /// The plan's kernels are in the table from now on.
  Uses uses(const Decisions& decisions);
  /// What a run takes by its kernels' times.
  double predicted(const Uses& uses) const;
  /// Schedules of all kernels.
  std::size_t tried() const;

 private:
  Planner& planner_;
  codegen::Machine machine_;
  search::MachineModel ceilings_;
  std::optional<double> patience_;
  std::map<std::string, TunedKernel> kernels_;
};

}  // namespace luminal
