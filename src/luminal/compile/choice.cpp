#include "luminal/compile/choice.h"

#include <algorithm>
#include <utility>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

/// A kernel whose default schedule fails gets another one, whatever it takes.
void Choice::repair(TunedKernel& kernel) {
  constexpr std::size_t breadth = 16;
  timer_.set_duty(KernelTimer::Duty::always);
  while (kernel.best() == nullptr && kernel.fails_as_usual()) {
    const std::size_t seen = kernel.seen();
    timer_.time({{&kernel, ideas_.next(kernel, breadth)}});
    if (kernel.seen() == seen)
      throw Error(cat("search: no schedule of a ", search::name(kernel.prior.family),
                      " kernel gives right results: ", kernel.candidates.front().timing.problem));
  }
  timer_.set_duty(KernelTimer::Duty::none);
}

/// No kernel is taken that was never run: there may have been no time for it. Not after an interruption,
/// when nobody wants to wait.
void Choice::verify(Decisions& decisions) {
  const auto uses = kernels_.uses(decisions);
  std::vector<std::vector<KernelTimer::Request>> never_run;
  for (const auto& [key, count] : uses)
    if (TunedKernel& kernel = kernels_.at(key); kernel.candidates.empty()) {
      if (never_run.empty() || never_run.back().size() == KernelTimer::programs_at_once)
        never_run.emplace_back();
      never_run.back().push_back({&kernel, {kernel.usual}});
    }
  timer_.set_duty(KernelTimer::Duty::unless_cancelled);
  for (const auto& requests : never_run)
    if (!limits_.is_cancelled()) timer_.time(requests);
  timer_.set_duty(KernelTimer::Duty::none);
  for (const auto& [key, count] : uses) {
    TunedKernel& kernel = kernels_.at(key);
    repair(kernel);
    if (kernel.fails_as_usual() && !decisions.schedules.contains(key))
      decisions.schedules.emplace(key, kernel.best()->schedule);
  }
}

Decisions Choice::with_schedules(Decisions decisions) const {
  for (const auto& [key, kernel] : kernels_.all())
    if (const auto* best = kernel.best()) decisions.schedules.insert_or_assign(key, best->schedule);
  return decisions;
}

/// The plan that promises most, each kernel with that of its few best schedules, or the usual one, that is
/// the fastest among the plan's other kernels: only there it reads what these wrote, from where they did.
void Choice::add_chosen_in_place(std::vector<PlanTimer::Candidate>& candidates, double fast_seconds) {
  constexpr std::size_t few = 3;
  const PlanTimer::Candidate* most = nullptr;
  for (const auto& candidate : candidates)
    if (candidate.predicted > 0 && !candidate.timing &&
        (most == nullptr || candidate.predicted < most->predicted))
      most = &candidate;
  if (most == nullptr) return;
  const Decisions mapping = most->decisions;
  // By kernel, the schedule of each variant.
  std::map<std::string, std::vector<codegen::Schedule>> schedules;
  std::vector<Decisions> variants(few + 1, mapping);
  for (const auto& [key, count] : kernels_.uses(mapping)) {
    const TunedKernel& kernel = kernels_.at(key);
    const auto best = kernel.best_few(few);
    if (best.empty() || count == 0) continue;  // what runs when weights are set is no part of a run
    for (std::size_t k = 0; k < variants.size(); ++k) {
      const bool usual = k == few && !kernel.fails_as_usual();
      schedules[key].push_back(usual ? kernel.usual : best[std::min(k, best.size() - 1)]->schedule);
      variants[k].schedules.insert_or_assign(key, schedules[key].back());
    }
  }
  // The whole plans are to be timed yet.
  const double half = limits_.left() / 2;
  const double runs = fast_seconds < long_run ? 75 : 25;
  if (!timer_.is_replay() && runs * fast_seconds > half) return;
  const auto seconds =
      plans_.in_place(variants, fast_seconds, [&] { return limits_.is_late() || limits_.left() < half; });
  Decisions chosen = mapping;
  double sum = 0;
  for (const auto& [key, tried] : schedules) {
    std::optional<std::size_t> best;
    for (std::size_t k = 0; k < tried.size(); ++k)
      if (seconds[k].contains(key) && (!best || seconds[k].at(key) < seconds[*best].at(key))) best = k;
    if (!best) continue;
    chosen.schedules.insert_or_assign(key, tried[*best]);
    sum += seconds[*best].at(key);
  }
  if (sum > 0)
    candidates.push_back({"each kernel chosen in its place", std::move(chosen), sum, std::nullopt});
}

PlanTimer::Candidate Choice::candidate(const Mapped& mapped, bool tuned) {
  const auto uses = kernels_.uses(mapped.decisions);
  const bool known = std::all_of(uses.begin(), uses.end(), [&](const auto& use) {
    const TunedKernel& kernel = kernels_.at(use.first);
    return kernel.best() != nullptr || kernel.is_unfit();
  });
  const bool fails = std::any_of(uses.begin(), uses.end(), [&](const auto& use) {
    const TunedKernel& kernel = kernels_.at(use.first);
    return kernel.fails_as_usual() && (!tuned || kernel.best() == nullptr);
  });
  PlanTimer::Candidate result{mapped.name, tuned ? with_schedules(mapped.decisions) : mapped.decisions,
                              known && tuned ? kernels_.predicted(uses) : 0, std::nullopt};
  if (fails) result.timing = Timing{.outcome = Timing::Outcome::wrong, .problem = "one of its kernels fails"};
  return result;
}

Choice::Result Choice::choose(const Decisions& fast, double fast_seconds, const std::vector<Mapped>& others) {
  for (const auto& [key, count] : kernels_.uses(fast)) repair(kernels_.at(key));
  Result result;
  result.candidates.push_back(candidate({"as fast compiles it", fast}, false));
  result.candidates.push_back(candidate({"fast's kernels, tuned", fast}, true));
  // Of the mappings that were tuned, the best.
  std::vector<std::pair<double, const Mapped*>> best;
  for (const auto& mapped : others)
    best.emplace_back(kernels_.predicted(kernels_.uses(mapped.decisions)), &mapped);
  std::stable_sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  constexpr std::size_t most = 3;
  if (best.size() > most) best.resize(most);
  for (const auto& [seconds, mapped] : best) result.candidates.push_back(candidate(*mapped, true));
  add_chosen_in_place(result.candidates, fast_seconds);
  result.won = plans_.choose(result.candidates, fast_seconds, limits_.is_late);
  verify(result.candidates[result.won].decisions);
  return result;
}

}  // namespace luminal
