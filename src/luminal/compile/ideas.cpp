#include "luminal/compile/ideas.h"

#include <algorithm>
#include <optional>
#include <set>

#include "luminal/codegen/schedule_text.h"
#include "luminal/codegen/variants.h"

namespace luminal {
namespace {

double gained(const TunedKernel& kernel) {
  return kernel.usual_seconds() > 0 ? kernel.best()->timing.seconds / kernel.usual_seconds() : 1;
}

}  // namespace

/// The best schedule with its nests as they are in kernels that have a nest of the same shape, and gained
/// more.
std::optional<codegen::Schedule> Ideas::lead(const TunedKernel& kernel) const {
  if (kernel.best() == nullptr) return std::nullopt;
  codegen::Schedule result = kernel.best()->schedule;
  for (std::size_t k = 0; k < kernel.nests.size(); ++k) {
    const auto known = nests_.find(kernel.nests[k].text);
    if (known == nests_.end()) continue;
    double least = gained(kernel);
    for (const auto& [key, other] : known->second) {
      const bool calls = other.schedule.tiles && other.schedule.tiles->library;  // what fits one nest only
      if (key == kernel.key || other.gained >= least || calls) continue;
      const auto there = codegen::moved(other.schedule, other.shape, kernel.nests[k]);
      if (!there) continue;
      least = other.gained;
      result.nests[k] = *there;
    }
  }
  return result;
}

std::vector<codegen::Schedule> Ideas::next(const TunedKernel& kernel, std::size_t breadth) const {
  if (kernel.is_unfit()) return {};
  const auto at_once = static_cast<std::size_t>(std::max(8, machine_.workers));
  std::vector<codegen::Schedule> result;
  std::set<std::string> seen;
  const auto is_fresh = [&](const codegen::Schedule& schedule) {
    return !kernel.has(schedule) && seen.insert(codegen::text(schedule)).second;
  };
  const auto add = [&](const codegen::Schedule& schedule) {
    if (is_fresh(schedule)) result.push_back(schedule);
  };
  add(kernel.usual);
  if (const auto schedule = lead(kernel)) add(*schedule);
  std::vector<std::pair<double, codegen::Schedule>> others;
  const auto consider = [&](const std::vector<codegen::Schedule>& schedules) {
    for (const auto& schedule : schedules)
      if (is_fresh(schedule))
        others.emplace_back(experience_.promise(kernel.prior.family, schedule), schedule);
  };
  consider(codegen::schedule_variants(kernel.kernel, machine_, dims_));
  for (const auto* good : kernel.best_few(breadth))
    consider(codegen::schedule_neighbours(kernel.kernel, good->schedule, machine_, dims_));
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [value, schedule] : others) result.push_back(schedule);
  if (result.size() > at_once) result.resize(at_once);
  return result;
}

void Ideas::learn(const TunedKernel& kernel, std::size_t first) {
  if (kernel.usual_seconds() <= 0) return;
  for (std::size_t k = first; k < kernel.candidates.size(); ++k) {
    const auto& candidate = kernel.candidates[k];
    if (candidate.timing.outcome == Timing::Outcome::timed)
      experience_.add(kernel.prior.family, candidate.schedule,
                      candidate.timing.seconds / kernel.usual_seconds());
  }
  if (!kernel.is_tuned()) return;
  for (std::size_t k = 0; k < kernel.nests.size(); ++k)
    nests_[kernel.nests[k].text][kernel.key] = {kernel.best()->schedule.nests[k], kernel.nests[k],
                                                gained(kernel)};
}

}  // namespace luminal
