#include "luminal/compile/search_plan.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "luminal/compile/alternatives.h"
#include "luminal/compile/ceilings.h"
#include "luminal/compile/choice.h"
#include "luminal/compile/fingerprint.h"
#include "luminal/compile/gains.h"
#include "luminal/compile/ideas.h"
#include "luminal/compile/kernel_table.h"
#include "luminal/compile/outlook.h"
#include "luminal/compile/plan_timer.h"
#include "luminal/compile/work.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/sha256.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

using Clock = std::chrono::steady_clock;

class Search {
 public:
  Search(Planner& planner, const CompileOptions& options, runtime::BinaryStore& store, ExecutableData& data)
      : planner_(planner),
        options_(options),
        data_(data),
        machine_(planner.device().machine()),
        timer_(planner.shared_device(), planner.dims(),
               sha256(cat(build_fingerprint(), "\n", planner.text())), options, &store,
               {[this] { return is_late(); }, [this] { return is_cancelled(); }, options.candidates}),
        plans_(planner, data, timer_, &store),
        kernels_(planner, machine_),
        ideas_(machine_, planner.dims()) {}

  Decisions run() {
    plans_.require_dims();
    require_record();
    find_ceilings();
    search::Roofline usual;
    best_ = fast_ = planner_.decide(usual);
    if (!timer_.is_replay()) timer_.set_surroundings(plans_.bytes_of(fast_));
    // Most of the time, if it must be: no kernel is taken that was never run.
    limit_ = 0.7;
    time_untimed("kernels", kernels_.uses(fast_), limit_, [] { return true; });
    fast_seconds_ = best_seconds_ = predicted(fast_);
    // In place of fast's kernels nobody wants what takes longer.
    if (fast_seconds_ > 0) kernels_.set_patience(std::max(2.0, 10 * fast_seconds_));
    // Many short rounds: what a mapping promises shows after a few steps, and decides what the next one is.
    // How long they are depends on the time that has passed, and hardly on the budget: a longer search begins
    // as one of a minute does, and goes on.
    limit_ = 1 - reserve();
    constexpr std::size_t rounds = 100;
    constexpr double growth = 0.1;
    constexpr std::size_t mappings = 12;  // in a round
    gains_ = Gains(fast_seconds_);
    const double budget = options_.budget.count();
    const double patience = std::min(20.0, budget / 3);
    for (round_ = 0; round_ < rounds && gains_.are_worthwhile(patience); ++round_) {
      const double begin = elapsed() / budget + owed_;
      const double seconds = std::max({std::min(4.0, budget / 15), 8 * mapping_seconds_, growth * elapsed()});
      const double end = std::min(limit_, begin + seconds / budget);
      const double before = predicted(best_);
      constexpr double quick = 0.3;
      const double tuned = begin + gains_.tuning_share(mapping_seconds_ < quick) * (end - begin);
      tune(tuned);
      gains_.by_tuning(before, predicted(best_));
      follow_leads((tuned + end) / 2);
      return_to_best();
      // When all that is promised was tried, one asks what there is but for one kernel; then chance finds
      // what is left.
      MeasuredOracle::Detour detour;
      for (std::size_t k = 0; k < mappings * (1 + gains_.stale()); ++k) {
        const auto learnt = map_again(end, std::min(limit_, end + seconds / budget), detour);
        if (!learnt) break;
        detour = {};
        if (!*learnt) detour.avoided = next_avoided();
        if (!*learnt && detour.avoided.empty()) detour.dice = Hash(round_).add(k).value();
      }
      owed_ = std::max(0.0, elapsed() / budget - end);
      gains_.end_round(least_predicted(), kernels_.tried(), passed());
      doubt_ = 1;  // hope again: of what did not hold the time is known
    }
    was_late_ = is_late();
    return choose();
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool is_cancelled() const { return options_.cancel != nullptr && *options_.cancel; }
  bool is_late() const {
    tell();
    return is_cancelled() || elapsed() > options_.budget.count() * limit_;
  }
  /// Nothing more is begun in this stage; what runs may end.
  bool is_due() const { return elapsed() > options_.budget.count() * share_; }

  void tell() const {
    if (!options_.progress || elapsed() - told_ < 0.1) return;
    told_ = elapsed();
    options_.progress({doing_, timer_.timed() + plans_.timed(), elapsed(), options_.budget.count(),
                       fast_seconds_, best_seconds_});
  }

  /// Seconds, as they are recorded after each round.
  double passed() {
    const std::string key = timer_.key_of(cat("seconds after round ", round_));
    const auto known = timer_.is_replay() ? timer_.known(key) : std::nullopt;
    const double seconds = known ? known->seconds : elapsed();
    timer_.learn(key, {.seconds = seconds});
    return seconds;
  }
  /// The share of the budget that is kept for timing whole plans.
  double reserve() const {
    const double runs = fast_seconds_ < long_run ? 200 : 55;
    return std::clamp((3 + runs * fast_seconds_) / options_.budget.count(), 0.05, 0.2);
  }

  /// Steps of a stage: as many as the time allows, or as the record has.
  template <typename F>
  void stage(std::string_view name, double share, F&& step) {
    doing_ = name;
    share_ = share;
    const std::string key = timer_.key_of(cat("steps of ", name, " ", ++stages_));
    double allowed = std::numeric_limits<double>::infinity();
    if (timer_.is_replay()) {
      const auto known = timer_.known(key);
      allowed = known ? known->seconds : 0;
    }
    std::size_t steps = 0;
    while (static_cast<double>(steps) < allowed && !is_cancelled() &&
           (timer_.is_replay() || !(timer_.is_over() || is_due())) && step())
      ++steps;
    timer_.learn(key, {.seconds = static_cast<double>(steps)});
  }

  /// `Error` if the timings to be replayed are not those of this search, or its own would mix with another's.
  void require_record() const {
    if (options_.record != nullptr && options_.record->find(timer_.key_of("search")))
      throw Error("search: the record holds a search of this graph with these dims and options already");
    if (options_.replay == nullptr) return;
    if (!options_.replay->find(timer_.key_of("search")) || !options_.replay->ceilings())
      throw Error(
          "replay: the record holds no search of this graph with these dims and options, on a device of this "
          "kind, by this build of the library");
  }

  void find_ceilings() {
    std::optional<search::MachineModel> known;
    if (options_.replay != nullptr)
      known = options_.replay->ceilings();
    else if (options_.record != nullptr)
      known = options_.record->ceilings();  // of another bucket
    ceilings_ = known ? *known : measure_ceilings(planner_.device());
    timer_.record().set_ceilings(ceilings_);
    kernels_.set_ceilings(ceilings_);
  }

  /// What is not known should be tried; the longer nothing is found, the more is hoped of it.
  Outlook::Mood mood() const {
    return {.doubt = doubt_, .luck = -0.5, .left = std::pow(0.9, static_cast<double>(gains_.stale()))};
  }
  /// What kernels should take when all are tuned.
  double expected(const Uses& counts) const {
    const Outlook outlook(kernels_.all(), &forecast_, mood());
    double sum = 0;
    for (const auto& [key, count] : counts)
      sum += static_cast<double>(count) * outlook.seconds(kernels_.at(key));
    return sum;
  }
  double expected(const Decisions& decisions) { return expected(kernels_.uses(decisions)); }
  double predicted(const Decisions& decisions) { return kernels_.predicted(kernels_.uses(decisions)); }

  /// What a kernel is judged by before it is tuned: the schedule that `fast` would give it, which says much
  /// of one with tiles, and little of others. Of these more is tried once it is known what does well, unless
  /// they take long.
  std::vector<codegen::Schedule> first_ideas(const TunedKernel& kernel) const {
    constexpr double much = 3e-4;
    if (kernel.has_tiles() || round_ == 0 || kernel.prior.seconds > much) {
      std::vector<codegen::Schedule> schedules = {kernel.usual};
      if (const auto lead = ideas_.lead(kernel)) schedules.push_back(*lead);
      return schedules;
    }
    auto schedules = ideas_.next(kernel, 1);
    if (schedules.size() > TunedKernel::some) schedules.resize(TunedKernel::some);
    return schedules;
  }

  /// Times those of the kernels that were never timed, some at once and the long ones first, while the others
  /// are worth it.
  template <typename F>
  void time_untimed(std::string_view name, const Uses& counts, double share, F&& worthwhile) {
    std::vector<std::pair<double, TunedKernel*>> waiting;
    for (const auto& [key, count] : counts)
      if (TunedKernel& kernel = kernels_.at(key); kernel.candidates.empty())
        waiting.emplace_back(kernel.prior.seconds * static_cast<double>(count), &kernel);
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::size_t next = 0;
    const auto begin = [&] {
      std::vector<KernelTimer::Request> requests;
      for (std::size_t programs = 0; next < waiting.size() && programs < KernelTimer::programs_at_once;
           ++next) {
        TunedKernel& kernel = *waiting[next].second;
        requests.push_back({&kernel, first_ideas(kernel)});
        programs += requests.back().schedules.size();
      }
      return timer_.begin(requests);
    };
    std::optional<KernelTimer::Batch> ahead;
    stage(name, share, [&] {
      if ((!ahead && next == waiting.size()) || !worthwhile()) return false;
      auto batch = ahead ? std::move(*ahead) : begin();
      ahead.reset();
      if (timer_.may_begin_ahead() && next < waiting.size()) ahead = begin();
      timer_.finish(batch);
      for (const auto& step : batch.steps) {
        step.kernel->tried_first = std::max<std::size_t>(1, step.kernel->candidates.size());
        ideas_.learn(*step.kernel, 0);
      }
      return true;
    });
    if (ahead) timer_.drop(*ahead);
  }

  /// Tries what did well for nests of the same shape in kernels that are in no plan now: those were left as
  /// they are usually scheduled, when others in their place were tuned.
  void follow_leads(double share) {
    constexpr double little = 0.01;
    const double total = predicted(best_);
    std::vector<TunedKernel*> waiting;
    const auto counts = kernels_.uses(best_);
    for (const auto& [key, kernel] : kernels_.all())
      if (!counts.contains(key) && kernel.best() != nullptr && kernel.seconds() > little * total &&
          kernel.prior.seconds < 0.5 * total)
        waiting.push_back(&kernels_.at(key));
    std::size_t next = 0;
    stage("leads", share, [&] {
      std::vector<KernelTimer::Request> requests;
      for (; next < waiting.size() && requests.size() < KernelTimer::programs_at_once; ++next)
        if (auto lead = ideas_.lead(*waiting[next])) requests.push_back({waiting[next], {std::move(*lead)}});
      if (requests.empty()) return false;
      std::vector<std::size_t> tried;
      for (const auto& request : requests) tried.push_back(request.kernel->candidates.size());
      timer_.time(requests);
      for (std::size_t k = 0; k < requests.size(); ++k) {
        TunedKernel& kernel = *requests[k].kernel;
        if (kernel.tried_first == tried[k])
          kernel.tried_first = kernel.candidates.size();  // one is no tuning
        if (kernel.candidates.size() > tried[k]) ideas_.learn(kernel, tried[k]);
      }
      return true;
    });
  }

  /// What was promised of the plan to go on with may not hold: another one is better then.
  void return_to_best() {
    const Decisions* best = &fast_;
    double least = expected(fast_);
    for (const auto& mapped : mapped_)
      if (const double seconds = expected(mapped.counts); seconds < least) {
        least = seconds;
        best = &mapped.decisions;
      }
    best_ = *best;
  }

  /// What the kernels of the best plan took.
  double least_predicted() {
    double least = predicted(fast_);
    for (const auto& mapped : mapped_) least = std::min(least, kernels_.predicted(mapped.counts));
    return least;
  }

  /// The longest kernel of the best plan that was never avoided, if it takes a part that matters.
  std::string next_avoided() {
    constexpr double little = 0.02;
    double longest = little * predicted(best_);
    std::string result;
    for (const auto& [key, count] : kernels_.uses(best_)) {
      const double seconds = static_cast<double>(count) * kernels_.at(key).seconds();
      if (avoided_.contains(key) || seconds < longest) continue;
      longest = seconds;
      result = key;
    }
    if (!result.empty()) avoided_.insert(result);
    return result;
  }

  /// Maps on what is known by now, and times what that made new. A plan that promises more is the one to go
  /// on with. Whether anything was new; nothing if there was no time to begin.
  std::optional<bool> map_again(double share, double longest, const MeasuredOracle::Detour& detour) {
    std::optional<Decisions> again;
    stage("mapping", share, [&] {
      if (again || (!timer_.is_replay() && elapsed() + mapping_seconds_ > limit_ * options_.budget.count()))
        return false;
      const auto start = Clock::now();
      learn(forecast_, kernels_.all());
      const Outlook outlook(kernels_.all(), &forecast_, mood());
      MeasuredOracle oracle(ceilings_, kernels_.all(), alternatives_.others(), outlook, priors_, detour);
      again = planner_.decide(oracle, true, &best_);
      mapping_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
      return true;
    });
    if (!again) return std::nullopt;
    const auto is_unknown = [&](const auto& use) { return kernels_.at(use.first).candidates.empty(); };
    const auto counts = kernels_.uses(*again);
    const bool is_detour = detour.dice || !detour.avoided.empty();
    const double far = is_detour ? 1.5 + static_cast<double>(gains_.stale()) : 1.1;
    std::map<std::string, double> promised;
    for (const auto& use : counts)
      if (is_unknown(use)) promised.emplace(use.first, expected({use}));
    time_untimed("new kernels", counts, longest, [&] { return expected(counts) < far * expected(best_); });
    // What did not hold is doubted the next time.
    double hoped = 0;
    double missed = 0;  // logarithms: one that takes for ever tells nothing of the others
    for (const auto& [key, seconds] : promised) {
      const std::pair<const std::string, std::size_t> use{key, counts.at(key)};
      if (is_unknown(use)) continue;
      const double now = expected({use});
      if (!(seconds > 0 && now > 0 && std::isfinite(now / seconds))) continue;
      hoped += seconds;
      missed += seconds * std::log(now / seconds);
    }
    constexpr double most = 4;
    if (hoped > 0) doubt_ = std::clamp(doubt_ * std::exp(missed / hoped), 1.0, most);
    const bool better =
        std::none_of(counts.begin(), counts.end(), is_unknown) && expected(counts) < expected(best_);
    alternatives_.note(*again);
    if (better) {
      gains_.by_mapping(expected(best_), expected(counts));
      best_ = std::move(*again);
      if (std::none_of(mapped_.begin(), mapped_.end(),
                       [&](const auto& mapped) { return mapped.counts == counts; }))
        mapped_.push_back({round_, best_, counts});
    }
    constexpr double little = 0.003;
    const auto others = alternatives_.beside(kernels_.uses(best_), promised, little * expected(best_));
    const auto unknown = std::count_if(others.begin(), others.end(), is_unknown);
    // While new plans are found they are worth it beside the best one, or if they are few.
    constexpr std::ptrdiff_t few = 16;
    time_untimed("others", others, share, [&] { return better || hoped == 0 || unknown <= few; });
    return better || hoped > 0 || std::count_if(others.begin(), others.end(), is_unknown) < unknown;
  }

  /// What one kernel should try next; empty: nothing more to gain.
  std::vector<codegen::Schedule> ideas(const TunedKernel& kernel) const {
    return ideas_.next(kernel, std::min<std::size_t>(3 + round_, 16));
  }

  /// Tunes the schedules of the best plan's kernels and of what could take their place, always those of which
  /// most is to be expected.
  void tune(double share) {
    std::vector<Work> works;
    double total = 0;
    for (const auto& [key, count] : kernels_.uses(best_)) {
      TunedKernel& kernel = kernels_.at(key);
      works.push_back({.kernel = &kernel, .count = static_cast<double>(count), .now = {&kernel}});
      total += works.back().count * kernel.seconds();
    }
    alternatives_.add_to(works, kernels_.uses(best_));
    const auto choose = [&](const TunedKernel* but) -> Work* {
      constexpr double little = 0.001;
      Work* chosen = nullptr;
      for (auto& work : works)
        if (work.kernel != but && work.gain() > little * total &&
            (chosen == nullptr || work.worth() > chosen->worth()))
          chosen = &work;
      return chosen;
    };
    const auto begin = [&](Work& work) {
      auto schedules = ideas(*work.kernel);
      if (schedules.empty()) work.hope = 0;
      return timer_.begin({{work.kernel, std::move(schedules)}});
    };
    Work* ahead_of = nullptr;
    std::optional<KernelTimer::Batch> ahead;
    stage("schedules", share, [&] {
      Work* work = ahead_of != nullptr ? ahead_of : choose(nullptr);
      if (work == nullptr) return false;
      auto batch = ahead_of != nullptr ? std::move(*ahead) : begin(*work);
      ahead.reset();
      ahead_of = timer_.may_begin_ahead() ? choose(work->kernel) : nullptr;
      if (ahead_of != nullptr) ahead = begin(*ahead_of);
      const double before = work->kernel->seconds();
      const std::size_t tried = work->kernel->candidates.size();
      timer_.finish(batch);
      ideas_.learn(*work->kernel, tried);
      if (batch.steps[0].trials.empty()) return true;  // they give programs that were tried
      work->learn(before, tried);
      best_seconds_ = least_predicted();
      tell();
      return true;
    });
    if (ahead) timer_.drop(*ahead);
  }

  /// The best few plans, timed whole.
  Decisions choose() {
    doing_ = "plans";
    limit_ = 1;
    std::vector<Choice::Mapped> mapped;
    for (const auto& one : mapped_)
      mapped.push_back({cat("mapped on measured times, round ", one.round + 1), one.decisions});
    Choice choice(kernels_, timer_, plans_, ideas_,
                  {[this] { return is_late(); }, [this] { return is_cancelled(); },
                   [this] { return options_.budget.count() - elapsed(); }});
    const auto [candidates, won] = choice.choose(fast_, fast_seconds_, mapped);
    timer_.learn(timer_.key_of("search"), {});
    if (candidates[0].timing) fast_seconds_ = candidates[0].timing->seconds;
    best_seconds_ = candidates[won].timing ? candidates[won].timing->seconds : candidates[won].predicted;
    make_report(candidates, won);
    if (options_.record != nullptr) options_.record->add(timer_.record());
    told_ = -1;
    tell();
    return candidates[won].decisions;
  }

  void make_report(const std::vector<PlanTimer::Candidate>& candidates, std::size_t won) {
    auto report = std::make_shared<SearchReport>();
    report->ceilings = ceilings_;
    report->candidates = timer_.timed() + plans_.timed();
    report->seconds = elapsed();
    report->stopped = is_cancelled()       ? "it was interrupted"
                      : timer_.is_replay() ? "it was replayed"
                      : was_late_          ? "the time was over"
                      : options_.candidates != 0 && timer_.timed() >= options_.candidates
                          ? "all candidates were timed that it may time"
                          : "nothing more was to be gained";
    report->untimed = plans_.why_not();
    for (std::size_t k = 0; k < candidates.size(); ++k)
      report->plans.push_back(
          {candidates[k].name, candidates[k].predicted, candidates[k].timing.value_or(Timing{}), k == won});
    const auto counts = kernels_.uses(candidates[won].decisions);
    const auto& schedules = candidates[won].decisions.schedules;
    for (const auto& [key, kernel] : kernels_.all()) {
      const auto count = counts.find(key);
      const auto chosen = schedules.find(key);
      report->kernels.push_back(report_of(kernel, ceilings_,
                                          count != counts.end() ? std::optional(count->second) : std::nullopt,
                                          chosen != schedules.end() ? chosen->second : kernel.usual));
    }
    tell_failures(*report, options_.sink);
    data_.search = std::move(report);
  }

  Planner& planner_;
  const CompileOptions& options_;
  ExecutableData& data_;
  Clock::time_point start_ = Clock::now();
  double share_ = 1;  // of the budget: when a stage begins nothing more,
  double limit_ = 1;  // and when what runs is broken off
  bool was_late_ = false;
  std::string_view doing_ = "starting";
  mutable double told_ = -1;
  double fast_seconds_ = 0;
  double best_seconds_ = 0;
  codegen::Machine machine_;
  KernelTimer timer_;
  PlanTimer plans_;
  search::MachineModel ceilings_;
  KernelTable kernels_;
  Alternatives alternatives_{kernels_};
  Ideas ideas_;
  Decisions fast_;
  Decisions best_;
  /// A plan that was the best, with what its runs need.
  struct Mapped {
    std::size_t round;
    Decisions decisions;
    Uses counts;
  };
  std::vector<Mapped> mapped_;
  std::set<std::string> avoided_;  // kernels, to see what else there is
  std::size_t round_ = 0;
  std::size_t stages_ = 0;      // begun
  double mapping_seconds_ = 0;  // the last one's, of a graph that is saturated
  double doubt_ = 1;            // see `Outlook`
  double owed_ = 0;             // to tuning, by mappings that took longer than they should; of the budget
  Gains gains_{0};
  Forecast forecast_;
  Priors priors_;
};

}  // namespace

Decisions search_plan(Planner& planner, const CompileOptions& options, runtime::BinaryStore& store,
                      ExecutableData& data) {
  return Search(planner, options, store, data).run();
}

}  // namespace luminal
