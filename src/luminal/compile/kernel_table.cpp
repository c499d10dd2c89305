#include "luminal/compile/kernel_table.h"

namespace luminal {

TunedKernel& KernelTable::of(const kernel::Kernel& kernel) {
  const std::string key = kernel::key(kernel);
  const auto found = kernels_.find(key);
  if (found != kernels_.end()) return found->second;
  TunedKernel& fresh = kernels_[key];
  fresh.kernel = kernel;
  fresh.key = key;
  search::Roofline roofline(ceilings_);
  if (const auto estimate = roofline.estimate(kernel, planner_.dims())) fresh.prior = *estimate;
  fresh.traits = traits_of(kernel, fresh.prior, ceilings_, planner_.dims());
  fresh.usual = codegen::default_schedule(kernel, machine_, planner_.dims());
  fresh.nests = codegen::nest_shapes(kernel, planner_.dims());
  if (patience_) fresh.patience = *patience_;
  return fresh;
}

Uses KernelTable::uses(const Decisions& decisions) {
  Uses counts;
  for (const auto& [key, launched] : planner_.launches(decisions)) {
    of(*launched.first);
    counts[key] = launched.second;
  }
  return counts;
}

double KernelTable::predicted(const Uses& uses) const {
  double sum = 0;
  for (const auto& [key, count] : uses) sum += static_cast<double>(count) * kernels_.at(key).seconds();
  return sum;
}

std::size_t KernelTable::tried() const {
  std::size_t sum = 0;
  for (const auto& [key, kernel] : kernels_) sum += kernel.candidates.size();
  return sum;
}

}  // namespace luminal
