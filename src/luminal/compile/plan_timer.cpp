#include "luminal/compile/plan_timer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "luminal/support/error.h"
#include "luminal/support/sha256.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::string plan_text(const runtime::Plan& plan) {
  std::string text = runtime::print(plan);
  for (const auto& kernel : plan.kernels) text += kernel.source.text;
  return text;
}

/// Whether all were timed, and one took less than this.
bool are_short(const std::vector<std::optional<Timing>>& timings, double seconds) {
  const auto is_timed = [](const auto& timing) {
    return timing && timing->outcome == Timing::Outcome::timed;
  };
  return std::all_of(timings.begin(), timings.end(), is_timed) &&
         std::any_of(timings.begin(), timings.end(),
                     [&](const auto& timing) { return timing->seconds < seconds; });
}

}  // namespace

void PlanTimer::require_dims() const {
  for (const auto& check : planner_.checks())
    if (const auto holds = check.holds.try_eval(planner_.dims()); !holds || *holds == 0) {
      std::string with;
      for (const auto& [name, value] : planner_.dims())
        with += cat(with.empty() ? " (with " : ", ", name, " = ", value);
      throw Error(cat("search: the dims to tune for are refused: ", check.problem,
                      with.empty() ? "" : with + ")", "; give others as tune_dims"),
                  check.where);
    }
}

std::size_t PlanTimer::bytes_of(const Decisions& decisions) const {
  const auto plan = planner_.assemble(decisions, {}).plan;
  const auto memory = runtime::plan_memory(plan, planner_.dims());
  std::set<std::size_t> apart;  // from the arena
  for (const auto& step : plan.steps)
    for (const auto* ids : {&step.inputs, &step.outputs})
      for (const auto id : *ids)
        if (plan.buffers[id.index()].role != runtime::BufferInfo::Role::intermediate)
          apart.insert(id.index());
  std::size_t bytes = memory.arena;
  for (const auto buffer : apart) bytes += memory.bytes[buffer];
  return bytes;
}

/// The graph's values where it has them in this size, else numbers of the bank.
Subject PlanTimer::subject(runtime::Runner& runner, const Assembled& assembled) {
  Subject subject{.runner = &runner, .given = {}, .results = {}};
  subject.parallel = 1.0 / planner_.device().machine().workers;
  const auto memory = runtime::plan_memory(runner.plan(), planner_.dims());
  std::size_t number = 0;
  for (const auto& [node, buffer] : assembled.sources) {
    const std::size_t bytes = memory.bytes[buffer.index()];
    const bool written = assembled.written.contains(node);
    const auto known = array_of_.find(node);
    if (known == array_of_.end() && data_.values->tensor(node).has_data()) {
      arrays_.push_back(data_.values->tensor(node).array().contiguous());
      array_of_.emplace(node, arrays_.size() - 1);
    }
    std::span<const std::byte> elements;
    if (const auto found = array_of_.find(node); found != array_of_.end()) {
      const Array& array = arrays_[found->second];
      elements = {array.bytes(), static_cast<std::size_t>(array.size()) * byte_size(array.dtype())};
    }
    if (elements.size() != bytes)
      elements = timer_.bank().elements(runner.plan().buffers[buffer.index()].type.dtype, bytes, number,
                                        {.places = 1});  // what is indexed is not known
    ++number;
    subject.given.push_back({buffer, elements, written});
    if (written) subject.results.push_back(buffer);
  }
  for (const auto& [value, buffer] : assembled.outputs) subject.results.push_back(buffer);
  return subject;
}

/// Whether all can be there at once: what is external is shared, the rest each has for itself.
bool PlanTimer::fits(const std::vector<Assembled>& plans, const std::vector<std::size_t>& members) const {
  double shared = 0;
  double own = 0;
  for (const auto k : members) {
    const auto memory = runtime::plan_memory(plans[k].plan, planner_.dims());
    double external = 0;
    own += static_cast<double>(memory.arena);
    for (std::size_t b = 0; b < memory.bytes.size(); ++b) {
      const auto role = plans[k].plan.buffers[b].role;
      if (role == runtime::BufferInfo::Role::external) external += static_cast<double>(memory.bytes[b]);
      if (role == runtime::BufferInfo::Role::loaded) own += static_cast<double>(memory.bytes[b]);
    }
    shared = std::max(shared, external);
  }
  return shared + own < 0.5 * static_cast<double>(planner_.device().memory_limit());
}

/// Host steps print, and custom ops may do anything there: such plans are not run for practice.
bool PlanTimer::is_pure(const std::vector<Assembled>& plans) {
  return std::all_of(plans.begin(), plans.end(), [](const Assembled& assembled) {
    return std::none_of(assembled.plan.steps.begin(), assembled.plan.steps.end(),
                        [](const runtime::Step& step) { return static_cast<bool>(step.host); });
  });
}

/// Runs those of the plans in turn, in several processes if they are short: one plan's time differs by a
/// fifth from process to process. By member.
std::vector<Timings> PlanTimer::measured(const std::vector<Assembled>& plans,
                                         const std::vector<std::size_t>& members, int processes,
                                         double expected, const std::function<bool()>& stop) {
  std::vector<runtime::Plan> copies;
  for (const auto k : members) copies.push_back(plans[k].plan);
  Compilation compilation(planner_.shared_device(), std::move(copies), store_);
  compilation.finish(stop);
  Contest contest;
  std::vector<std::size_t> made;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (compilation.made()[i].runner) {
      contest.subjects.push_back(subject(*compilation.made()[i].runner, plans[members[i]]));
      made.push_back(i);
    }
  MeasureOptions& options = contest.options;
  options = {.dims = planner_.dims(), .rounds = 8, .round_seconds = 5e-3, .keep_within = 1.3};
  if (expected >= long_run) options.rounds = 4;
  options.least_seconds = 0.7;
  options.warmed = true;
  options.steps = planner_.device().shares_host_processors();
  options.patience = 60;
  options.nudged = true;
  options.stop = stop;
  std::vector<Timings> result;
  for (int process = 0; process < processes && !stop(); ++process) {
    if (process > 0 && !are_short(result.back(), long_run)) break;
    result.emplace_back(members.size());
    const auto timings = measure(planner_.device(), std::span(&contest, 1)).front();
    for (std::size_t i = 0; i < made.size(); ++i) result.back()[made[i]] = timings[i];
  }
  return result;
}

std::vector<std::map<std::string, double>> PlanTimer::in_place(const std::vector<Decisions>& variants,
                                                               double expected,
                                                               const std::function<bool()>& stop) {
  std::vector<std::map<std::string, double>> result(variants.size());
  if (!timer_.is_replay() && stop()) return result;
  std::vector<Assembled> plans;
  std::vector<std::size_t> members;
  std::vector<std::string> keys;
  for (const auto& variant : variants) {
    members.push_back(plans.size());
    plans.push_back(planner_.assemble(variant, {}));
    keys.push_back(sha256(plan_text(plans.back().plan)));
  }
  const auto key_of = [&](std::size_t plan, const std::string& kernel) {
    return timer_.key_of(cat("in place ", keys[plan], " ", kernel));
  };
  if (!timer_.is_replay() && is_pure(plans) && fits(plans, members))
    for (const auto& timings : measured(plans, members, 1, expected, stop))
      for (std::size_t k = 0; k < plans.size(); ++k) {
        const auto& steps = plans[k].plan.steps;
        if (!timings[k] || timings[k]->steps.size() != steps.size()) continue;
        std::map<std::string, double> sums;
        for (std::size_t step = 0; step < steps.size(); ++step)
          if (steps[step].kernel)
            sums[kernel::key(plans[k].plan.kernels[*steps[step].kernel].kernel)] += timings[k]->steps[step];
        for (const auto& [kernel, seconds] : sums) timer_.learn(key_of(k, kernel), {.seconds = seconds});
      }
  // Plans that are equal have one time, in a replay too.
  for (std::size_t k = 0; k < plans.size(); ++k)
    for (const auto& step : plans[k].plan.steps) {
      if (!step.kernel) continue;
      const std::string kernel = kernel::key(plans[k].plan.kernels[*step.kernel].kernel);
      const auto known = timer_.known(key_of(k, kernel));
      if (!known) continue;
      result[k][kernel] = known->seconds;
      timer_.learn(key_of(k, kernel), *known);
    }
  return result;
}

std::size_t PlanTimer::choose(std::vector<Candidate>& candidates, double expected,
                              const std::function<bool()>& stop) {
  std::vector<Assembled> plans;
  std::vector<std::string> keys;
  std::vector<std::size_t> different;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    plans.push_back(planner_.assemble(candidates[k].decisions, {}));
    keys.push_back(timer_.key_of(cat("plan ", sha256(plan_text(plans.back().plan)))));
    if (std::find(keys.begin(), keys.end() - 1, keys.back()) == keys.end() - 1) different.push_back(k);
  }
  std::vector<std::size_t> members;
  for (const auto k : different)
    if (!candidates[k].timing && !timer_.known(keys[k]) && !timer_.is_replay()) members.push_back(k);
  const bool pure = is_pure(plans);
  why_not_ = !pure                   ? "steps on the host are not run for practice"
             : different.size() < 2  ? "all plans are equal"
             : timer_.is_replay()    ? "the record has no time of it"
             : !fits(plans, members) ? "the plans are too large to be in memory together"
                                     : "there was no time for it";
  if (pure && different.size() > 1 && !members.empty() && fits(plans, members) && !stop()) {
    Timings timings(members.size());
    for (const auto& again : measured(plans, members, 2, expected, stop)) keep_better(timings, again);
    for (std::size_t i = 0; i < members.size(); ++i)
      if (timings[i]) {
        timings[i]->steps.clear();
        timer_.learn(keys[members[i]], *timings[i]);
      }
  }
  std::set<std::string> timed;
  for (std::size_t k = 0; k < candidates.size(); ++k)
    if (const auto timing = candidates[k].timing ? std::nullopt : timer_.known(keys[k])) {
      candidates[k].timing = timing;
      timer_.learn(keys[k], *timing);
      timed.insert(keys[k]);
    }
  timed_ = timed.size();
  return best_of(candidates);
}

/// The first is what `fast` does: another must be right, and faster.
std::size_t PlanTimer::best_of(const std::vector<Candidate>& candidates) {
  const auto is_timed = [&](std::size_t k) {
    return candidates[k].timing && candidates[k].timing->outcome == Timing::Outcome::timed;
  };
  std::optional<std::size_t> best;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    if (!is_timed(k)) continue;
    if (!best || candidates[k].timing->seconds < candidates[*best].timing->seconds) best = k;
  }
  if (best) return *best;
  // Never timed whole. Schedules that were tried were checked one by one, and so were the kernels of a plan
  // of which all were timed.
  for (std::size_t k = 1; k < candidates.size(); ++k) {
    if (candidates[k].timing && candidates[k].timing->is_failure()) continue;
    if (!best || (candidates[k].predicted > 0 && candidates[*best].predicted > 0 &&
                  candidates[k].predicted < candidates[*best].predicted))
      best = k;
  }
  return best.value_or(0);
}

}  // namespace luminal
