#include "luminal/compile/outlook.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "luminal/compile/layouts.h"
#include "luminal/support/hash.h"

namespace luminal {

/// By kind, and of all, what a third of the kernels is below: what is not known should be tried.
template <typename K>
Outlook::Ratios<K> Outlook::hopeful(const Pairs<K>& pairs) {
  const auto quantile = [](std::vector<double>& list) {
    std::sort(list.begin(), list.end());
    return list[list.size() / 3];
  };
  Ratios<K> result;
  std::vector<double> all;
  for (const auto& [kind, list] : pairs) {
    std::vector<double> ratios;
    for (const auto& [thought, took] : list) ratios.push_back(took / thought);
    all.insert(all.end(), ratios.begin(), ratios.end());
    result.of_kind[kind] = quantile(ratios);
  }
  if (!all.empty()) result.of_all = quantile(all);
  return result;
}

/// By kind, and of all, what is left of the time: plans promise sums, of which long kernels are the most.
template <typename K>
Outlook::Ratios<K> Outlook::weighted(const Pairs<K>& pairs) {
  Ratios<K> result;
  double all_thought = 0;
  double all_took = 0;
  for (const auto& [kind, list] : pairs) {
    double thought = 0;
    double took = 0;
    for (const auto& [one_thought, one_took] : list) {
      thought += one_thought;
      took += one_took;
    }
    result.of_kind[kind] = took / thought;
    all_thought += thought;
    all_took += took;
  }
  if (all_thought > 0) result.of_all = all_took / all_thought;
  return result;
}

Outlook::Outlook(const std::map<std::string, TunedKernel>& kernels, double doubt, double left)
    : doubt_(doubt), left_(left) {
  Pairs<search::Family> usual;
  Pairs<search::Family> tuned;
  Pairs<Kind> tuned_of_kind;
  for (const auto& [key, kernel] : kernels) {
    const double first = kernel.usual_seconds();
    const auto family = kernel.prior.family;
    constexpr double very_long = 100;
    if (kernel.hangs_as_usual() && kernel.best() == nullptr) usual[family].emplace_back(1, very_long);
    if (first <= 0) continue;
    if (kernel.prior.seconds > 0) usual[family].emplace_back(kernel.prior.seconds, first);
    if (!kernel.is_tuned()) continue;
    const double best = kernel.best()->timing.seconds;
    tuned[family].emplace_back(first, best);
    tuned_of_kind[{family, kernel.has_tiles(), false}].emplace_back(first, best);
    if (kernel.candidates.size() > TunedKernel::some)
      tuned_of_kind[{family, kernel.has_tiles(), true}].emplace_back(kernel.best_of_first(TunedKernel::some),
                                                                     best);
  }
  usual_ = hopeful(usual);
  tuned_ = weighted(tuned);
  tuned_of_kind_ = weighted(tuned_of_kind);
}

double Outlook::seconds(const search::Estimate& prior) const {
  return prior.seconds * usual_.of(prior.family) * tuned_.of(prior.family) * doubt_ * left_;
}

double Outlook::seconds(const TunedKernel& kernel) const {
  constexpr double avoided = 1000;  // it was tried, and nothing was right
  const auto* best = kernel.best();
  if (best == nullptr)
    return seconds(kernel.prior) * (kernel.candidates.empty() || kernel.is_unfit() ? 1 : avoided);
  if (kernel.is_tuned()) return best->timing.seconds;
  const auto family = kernel.prior.family;
  return best->timing.seconds * left_ *
         tuned_of_kind_.of({family, kernel.has_tiles(), kernel.tried_first > 1}, tuned_.of(family));
}

MeasuredOracle::MeasuredOracle(const search::MachineModel& machine,
                               const std::map<std::string, TunedKernel>& kernels, const Others& others,
                               const Outlook& outlook, Priors& priors, std::optional<std::uint64_t> dice)
    : roofline_(machine), outlook_(outlook), priors_(priors), dice_(dice) {
  for (const auto& [key, kernel] : kernels) kernels_.emplace(kernel::hash(kernel.kernel), &kernel);
  for (const auto& [key, replaced] : others) {
    const TunedKernel& other = kernels.at(key);
    if (other.best() == nullptr) continue;
    for (const auto& one : replaced) {
      const auto found = kernels.find(one);
      if (found == kernels.end()) continue;
      const double seconds = outlook.seconds(other) / other_layout_share;
      const auto [least, first] = others_.emplace(kernel::hash(found->second.kernel), seconds);
      if (!first) least->second = std::min(least->second, seconds);
    }
  }
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
  const bool timed = known != kernels_.end() && !known->second->candidates.empty();
  result.seconds = timed ? outlook_.seconds(*known->second) : outlook_.seconds(*prior) * luck(hash);
  if (const auto other = others_.find(hash); other != others_.end())
    result.seconds = std::min(result.seconds, other->second);
  result.without_write *= result.seconds / prior->seconds;
  return result;
}

double MeasuredOracle::luck(std::uint64_t hash) const {
  if (!dice_) return 1;
  constexpr double spread = 0.7;
  constexpr int throws = 4;
  double sum = 0;
  for (std::uint64_t k = 0; k < throws; ++k)
    sum += static_cast<double>(Hash(*dice_).add(hash).add(k).value() >> 11);
  const double mean = sum / throws / static_cast<double>(std::uint64_t{1} << 53);
  return std::exp(spread * (mean - 0.5) * std::sqrt(12.0 * throws));
}

}  // namespace luminal
