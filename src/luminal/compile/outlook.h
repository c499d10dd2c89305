#pragma once
#include <map>
#include <string>
#include <unordered_map>

#include "luminal/compile/kernel_timer.h"
#include "luminal/search/cost.h"

namespace luminal {

/// What kernels should take once they are tuned: what was measured, else what others of their family gained.
/// So a kernel that nobody tuned yet is not behind one that somebody did.
class Outlook {
 public:
  /// `doubt`: how much longer than promised kernels took that were never timed before.
  explicit Outlook(const std::map<std::string, TunedKernel>& kernels, double doubt = 1);

  double seconds(const TunedKernel& kernel) const;
  /// Of one that was never timed.
  double seconds(const search::Estimate& prior) const;

 private:
  /// What kernels of a family take, by what one thought they would.
  struct Ratios {
    std::map<search::Family, double> of_family;
    double of_all = 1;  // where nothing is known of the family
    double of(search::Family family) const;
  };
  static Ratios ratios(std::map<search::Family, std::vector<double>> measured, double part);

  Ratios usual_;  // the usual schedule, by the roofline
  Ratios tuned_;  // the best schedule, by the usual one
  double doubt_;
};

/// What the roofline says of kernels, by their hashes: it does not change while a search learns.
using Priors = std::unordered_map<std::uint64_t, std::optional<search::Estimate>>;

/// Prices by the outlook: the roofline's estimates, scaled.
class MeasuredOracle : public search::CostOracle {
 public:
  MeasuredOracle(const search::MachineModel& machine, const std::map<std::string, TunedKernel>& kernels,
                 const Outlook& outlook, Priors& priors);
  std::optional<search::Estimate> estimate(const kernel::Kernel& kernel, const DimMap& dims) override;
  std::optional<std::optional<search::Estimate>> recall(std::uint64_t hash) override;

 private:
  std::optional<search::Estimate> scaled(std::uint64_t hash,
                                         const std::optional<search::Estimate>& prior) const;

  search::Roofline roofline_;
  std::unordered_map<std::uint64_t, const TunedKernel*> kernels_;  // by their hashes
  const Outlook& outlook_;
  Priors& priors_;
};

}  // namespace luminal
