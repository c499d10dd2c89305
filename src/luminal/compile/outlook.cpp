#include "luminal/compile/outlook.h"

#include <algorithm>
#include <vector>

namespace luminal {
/// By family, and of all, what a part of the kernels is below.
Outlook::Ratios Outlook::ratios(std::map<search::Family, std::vector<double>> measured, double part) {
  const auto quantile = [part](std::vector<double>& list) {
    std::sort(list.begin(), list.end());
    return list[static_cast<std::size_t>(part * static_cast<double>(list.size()))];
  };
  Ratios result;
  std::vector<double> all;
  for (auto& [family, list] : measured) {
    result.of_family[family] = quantile(list);
    all.insert(all.end(), list.begin(), list.end());
  }
  if (!all.empty()) result.of_all = quantile(all);
  return result;
}

double Outlook::Ratios::of(search::Family family) const {
  const auto found = of_family.find(family);
  return found != of_family.end() ? found->second : of_all;
}

Outlook::Outlook(const std::map<std::string, TunedKernel>& kernels, double doubt) : doubt_(doubt) {
  std::map<search::Family, std::vector<double>> usual;
  std::map<search::Family, std::vector<double>> tuned;
  for (const auto& [key, kernel] : kernels) {
    const double first = kernel.usual_seconds();
    if (first <= 0) continue;
    if (kernel.prior.seconds > 0) usual[kernel.prior.family].push_back(first / kernel.prior.seconds);
    if (kernel.is_tuned()) tuned[kernel.prior.family].push_back(kernel.best()->timing.seconds / first);
  }
  usual_ = ratios(std::move(usual), 1.0 / 3);  // hopeful: what is not known should be tried
  tuned_ = ratios(std::move(tuned), 1.0 / 2);
}

double Outlook::seconds(const search::Estimate& prior) const {
  return prior.seconds * usual_.of(prior.family) * tuned_.of(prior.family) * doubt_;
}

double Outlook::seconds(const TunedKernel& kernel) const {
  constexpr double avoided = 1000;  // it was tried, and nothing was right
  const auto* best = kernel.best();
  if (best == nullptr)
    return seconds(kernel.prior) * (kernel.candidates.empty() || kernel.is_unfit() ? 1 : avoided);
  return best->timing.seconds * (kernel.is_tuned() ? 1 : tuned_.of(kernel.prior.family));
}

MeasuredOracle::MeasuredOracle(const search::MachineModel& machine,
                               const std::map<std::string, TunedKernel>& kernels, const Outlook& outlook,
                               Priors& priors)
    : roofline_(machine), outlook_(outlook), priors_(priors) {
  for (const auto& [key, kernel] : kernels) kernels_.emplace(kernel::hash(kernel.kernel), &kernel);
}

std::optional<search::Estimate> MeasuredOracle::estimate(const kernel::Kernel& kernel, const DimMap& dims) {
  const std::uint64_t hash = kernel::hash(kernel);
  const auto [prior, fresh] = priors_.try_emplace(hash);
  if (fresh) prior->second = roofline_.estimate(kernel, dims);
  return scaled(hash, prior->second);
}

std::optional<std::optional<search::Estimate>> MeasuredOracle::recall(std::uint64_t hash) {
  const auto prior = priors_.find(hash);
  if (prior == priors_.end()) return std::nullopt;
  return scaled(hash, prior->second);
}

std::optional<search::Estimate> MeasuredOracle::scaled(std::uint64_t hash,
                                                       const std::optional<search::Estimate>& prior) const {
  if (!prior || prior->seconds <= 0) return prior;
  search::Estimate result = *prior;
  const auto known = kernels_.find(hash);
  result.seconds = known != kernels_.end() ? outlook_.seconds(*known->second) : outlook_.seconds(*prior);
  result.without_write *= result.seconds / prior->seconds;
  return result;
}

}  // namespace luminal
