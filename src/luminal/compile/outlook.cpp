#include "luminal/compile/outlook.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "luminal/compile/layouts.h"
#include "luminal/support/hash.h"

namespace luminal {

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

Outlook::Outlook(const std::map<std::string, TunedKernel>& kernels, const Forecast* forecast,
                 const Mood& mood)
    : forecast_(forecast), mood_(mood) {
  Pairs<search::Family> tuned;
  Pairs<Kind> tuned_of_kind;
  for (const auto& [key, kernel] : kernels) {
    const double first = kernel.usual_seconds();
    const auto family = kernel.prior.family;
    if (first <= 0 || !kernel.is_tuned()) continue;
    const double best = kernel.best()->timing.seconds;
    tuned[family].emplace_back(first, best);
    tuned_of_kind[{family, kernel.has_tiles(), false}].emplace_back(first, best);
    if (kernel.candidates.size() > TunedKernel::some)
      tuned_of_kind[{family, kernel.has_tiles(), true}].emplace_back(kernel.best_of_first(TunedKernel::some),
                                                                     best);
  }
  tuned_ = weighted(tuned);
  tuned_of_kind_ = weighted(tuned_of_kind);
}

double Outlook::seconds(const search::Estimate& prior, const Traits& traits,
                        std::optional<double> luck) const {
  const auto [mean, spread] = forecast_ != nullptr ? forecast_->ratio(traits) : Forecast::Ratio{};
  return prior.seconds * mean * std::exp(luck.value_or(mood_.luck) * spread) * mood_.doubt * mood_.left;
}

double Outlook::seconds(const TunedKernel& kernel) const {
  constexpr double avoided = 1000;  // it was tried, and nothing was right
  const auto* best = kernel.best();
  if (best == nullptr)
    return seconds(kernel.prior, kernel.traits) *
           (kernel.candidates.empty() || kernel.is_unfit() ? 1 : avoided);
  if (kernel.is_tuned()) return best->timing.seconds;
  const auto family = kernel.prior.family;
  return best->timing.seconds * mood_.left *
         tuned_of_kind_.of({family, kernel.has_tiles(), kernel.tried_first > 1}, tuned_.of(family));
}

void learn(Forecast& forecast, const std::map<std::string, TunedKernel>& kernels) {
  constexpr double very_long = 100;
  const auto hangs = [](const TunedKernel& kernel) {
    return kernel.hangs_as_usual() && kernel.best() == nullptr;
  };
  for (const auto& [key, kernel] : kernels)
    if (kernel.prior.seconds > 0 && (kernel.best() != nullptr || hangs(kernel)))
      forecast.add(key, kernel.traits);
  const Outlook outlook(kernels);
  forecast.fit([&](const std::string& key) {
    const TunedKernel& kernel = kernels.at(key);
    return hangs(kernel) || kernel.best() == nullptr ? very_long
                                                     : outlook.seconds(kernel) / kernel.prior.seconds;
  });
}

MeasuredOracle::MeasuredOracle(const search::MachineModel& machine,
                               const std::map<std::string, TunedKernel>& kernels, const Others& others,
                               const Outlook& outlook, Priors& priors, const Detour& detour)
    : machine_(machine), roofline_(machine), outlook_(outlook), priors_(priors), dice_(detour.dice) {
  for (const auto& [key, kernel] : kernels) kernels_.emplace(kernel::hash(kernel.kernel), &kernel);
  if (const auto found = kernels.find(detour.avoided); found != kernels.end())
    avoided_ = kernel::hash(found->second.kernel);
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
  if (fresh) {
    prior->second.estimate = roofline_.estimate(kernel, dims);
    if (prior->second.estimate)
      prior->second.traits = traits_of(kernel, *prior->second.estimate, machine_, dims);
  }
  return scaled(hash, prior->second);
}

std::optional<std::optional<search::Estimate>> MeasuredOracle::recall(std::uint64_t hash) {
  const auto prior = priors_.find(hash);
  if (prior == priors_.end()) return std::nullopt;
  return scaled(hash, prior->second);
}

std::optional<search::Estimate> MeasuredOracle::scaled(std::uint64_t hash, const Prior& prior) const {
  if (!prior.estimate || prior.estimate->seconds <= 0) return prior.estimate;
  search::Estimate result = *prior.estimate;
  const auto known = kernels_.find(hash);
  const bool timed = known != kernels_.end() && !known->second->candidates.empty();
  result.seconds =
      timed ? outlook_.seconds(*known->second) : outlook_.seconds(*prior.estimate, prior.traits, luck(hash));
  if (const auto other = others_.find(hash); other != others_.end())
    result.seconds = std::min(result.seconds, other->second);
  if (avoided_ == hash) result.seconds *= 2;
  result.without_write *= result.seconds / prior.estimate->seconds;
  return result;
}

std::optional<double> MeasuredOracle::luck(std::uint64_t hash) const {
  if (!dice_) return std::nullopt;
  constexpr int throws = 4;
  double sum = 0;
  for (std::uint64_t k = 0; k < throws; ++k)
    sum += static_cast<double>(Hash(*dice_).add(hash).add(k).value() >> 11);
  const double mean = sum / throws / static_cast<double>(std::uint64_t{1} << 53);
  return (mean - 0.5) * std::sqrt(12.0 * throws);
}

}  // namespace luminal
