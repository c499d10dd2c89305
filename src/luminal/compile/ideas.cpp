#include "luminal/compile/ideas.h"

#include <algorithm>
#include <optional>
#include <set>

#include "luminal/codegen/schedule_text.h"
#include "luminal/codegen/variants.h"

namespace luminal {
namespace {

double gained(const TunedKernel& kernel) {
  return kernel.usual_seconds() > 0 && kernel.best() != nullptr
             ? kernel.best()->timing.seconds / kernel.usual_seconds()
             : 1;
}

/// Whether to time a kernel takes longer than to compile it.
bool takes_long(const TunedKernel& kernel) {
  return kernel.prior.seconds > 1e-3;
}

/// Whether a nest has no tiles that has them in the kernel's best schedule. Where there is much to compute
/// that takes many times as long, and longer to find out than what tiles are best.
bool wastes_time(const TunedKernel& kernel, const codegen::Schedule& schedule) {
  if (!takes_long(kernel) || kernel.best() == nullptr) return false;
  for (std::size_t k = 0; k < schedule.nests.size(); ++k)
    if (kernel.best()->schedule.nests[k].tiles && !schedule.nests[k].tiles) return true;
  return false;
}

}  // namespace

std::optional<codegen::Schedule> Ideas::lead(const TunedKernel& kernel) const {
  if (kernel.best() == nullptr && !kernel.candidates.empty()) return std::nullopt;
  codegen::Schedule result = kernel.best() != nullptr ? kernel.best()->schedule : kernel.usual;
  bool found = false;
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
      found = true;
    }
  }
  if (!found || kernel.has(result)) return std::nullopt;
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
  // What did well for the same nests says much, and alone soon.
  if (takes_long(kernel) && kernel.best() != nullptr && !result.empty()) return result;
  std::vector<codegen::Schedule> others;
  const auto consider = [&](const std::vector<codegen::Schedule>& schedules) {
    for (const auto& schedule : schedules)
      if (!wastes_time(kernel, schedule) && is_fresh(schedule)) others.push_back(schedule);
  };
  consider(codegen::schedule_variants(kernel.kernel, machine_, dims_));
  for (const auto* good : kernel.best_few(breadth))
    consider(codegen::schedule_neighbours(kernel.kernel, good->schedule, machine_, dims_));
  if (result.size() < at_once)
    for (const auto place : experience_.pick(kernel, others, at_once - result.size()))
      result.push_back(others[place]);
  return result;
}

void Ideas::learn(const TunedKernel& kernel, std::size_t first) {
  if (kernel.usual_seconds() <= 0) return;
  for (std::size_t k = first; k < kernel.candidates.size(); ++k) {
    const auto& candidate = kernel.candidates[k];
    if (candidate.timing.outcome == Timing::Outcome::timed)
      experience_.add(kernel, candidate.schedule, candidate.timing.seconds / kernel.usual_seconds());
  }
  if (!kernel.is_tuned()) return;
  for (std::size_t k = 0; k < kernel.nests.size(); ++k)
    nests_[kernel.nests[k].text][kernel.key] = {kernel.best()->schedule.nests[k], kernel.nests[k],
                                                gained(kernel)};
}

}  // namespace luminal
