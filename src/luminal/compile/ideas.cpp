#include "luminal/compile/ideas.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "luminal/codegen/schedule_text.h"
#include "luminal/codegen/variants.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

double gained(const TunedKernel& kernel) {
  return kernel.usual_seconds() > 0 ? kernel.best()->timing.seconds / kernel.usual_seconds() : 1;
}

/// The words of its text, of each nest for itself.
std::set<std::string> words_of(const codegen::Schedule& schedule) {
  std::set<std::string> words;
  std::istringstream text(codegen::text(schedule));
  int nest = 0;
  for (std::string word; text >> word;)
    if (word == ";")
      ++nest;
    else
      words.insert(cat(nest, " ", word));
  return words;
}

/// The words of the schedules that it tried.
std::set<std::string> words_of(const TunedKernel& kernel) {
  std::set<std::string> words;
  for (const auto& candidate : kernel.candidates) words.merge(words_of(candidate.schedule));
  return words;
}

/// Whether the schedule has others than these.
bool has_others(const std::set<std::string>& words, const codegen::Schedule& schedule) {
  const auto own = words_of(schedule);
  return !std::includes(words.begin(), words.end(), own.begin(), own.end());
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
  // What did well for the same nests says much, and alone soon.
  if (takes_long(kernel) && kernel.best() != nullptr && !result.empty()) return result;
  struct Idea {
    codegen::Schedule schedule;
    double promise;
    bool is_near;
  };
  std::vector<Idea> others;
  const auto consider = [&](const std::vector<codegen::Schedule>& schedules, bool are_near) {
    for (const auto& schedule : schedules)
      if (!wastes_time(kernel, schedule) && is_fresh(schedule))
        others.push_back({schedule, experience_.promise(kernel.prior.family, schedule), are_near});
  };
  consider(codegen::schedule_variants(kernel.kernel, machine_, dims_), false);
  for (const auto* good : kernel.best_few(breadth))
    consider(codegen::schedule_neighbours(kernel.kernel, good->schedule, machine_, dims_), true);
  std::stable_sort(others.begin(), others.end(),
                   [](const Idea& a, const Idea& b) { return a.promise < b.promise; });
  // What did well is not all there is: some are near what did, with words that the kernel never tried.
  const auto words = words_of(kernel);
  std::size_t curious = at_once / 4;
  std::vector<codegen::Schedule> rest;
  for (const auto& [schedule, promise, is_near] : others) {
    const bool is_curious = is_near && curious > 0 && has_others(words, schedule);
    if (is_curious) --curious;
    (is_curious ? result : rest).push_back(schedule);
  }
  result.insert(result.end(), rest.begin(), rest.end());
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
