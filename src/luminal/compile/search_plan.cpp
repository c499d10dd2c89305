#include "luminal/compile/search_plan.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "luminal/codegen/schedule_text.h"
#include "luminal/codegen/variants.h"
#include "luminal/compile/ceilings.h"
#include "luminal/compile/experience.h"
#include "luminal/compile/fingerprint.h"
#include "luminal/compile/kernel_timer.h"
#include "luminal/compile/plan_timer.h"
#include "luminal/support/error.h"
#include "luminal/support/sha256.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

using Clock = std::chrono::steady_clock;

/// Kernels that were timed cost what they took; others what the roofline says, times what kernels of their
/// family took beyond it.
class MeasuredOracle : public search::CostOracle {
 public:
  MeasuredOracle(const search::MachineModel& machine, const std::map<std::string, TunedKernel>& kernels)
      : roofline_(machine), kernels_(kernels) {
    std::map<search::Family, std::vector<double>> ratios;
    for (const auto& [key, kernel] : kernels)
      if (const auto* best = kernel.best(); best != nullptr && kernel.prior.seconds > 0)
        ratios[kernel.prior.family].push_back(best->timing.seconds / kernel.prior.seconds);
    for (auto& [family, list] : ratios) {
      std::sort(list.begin(), list.end());
      factors_[family] = list[list.size() / 3];  // hopeful: what is not known should be tried
    }
  }

  std::optional<search::Estimate> estimate(const kernel::Kernel& kernel, const DimMap& dims) override {
    auto estimate = roofline_.estimate(kernel, dims);
    if (!estimate) return estimate;
    double factor = 1;
    const auto known = kernels_.find(kernel::key(kernel));
    if (known != kernels_.end() && known->second.best() != nullptr) {
      factor = known->second.best()->timing.seconds / estimate->seconds;
    } else if (const auto family = factors_.find(estimate->family); family != factors_.end()) {
      factor = family->second;
    }
    estimate->seconds *= factor;
    estimate->without_write *= factor;
    return estimate;
  }

 private:
  search::Roofline roofline_;
  const std::map<std::string, TunedKernel>& kernels_;
  std::map<search::Family, double> factors_;
};

class Search {
 public:
  Search(Planner& planner, const CompileOptions& options, runtime::BinaryStore& store, ExecutableData& data)
      : planner_(planner),
        options_(options),
        data_(data),
        machine_(planner.device().machine()),
        timer_(planner.shared_device(), planner.dims(),
               sha256(cat(build_fingerprint(), "\n", planner.text())), options, &store,
               {[this] { return is_late(); }, options.candidates}),
        plans_(planner, data, timer_, &store) {}

  Decisions run() {
    plans_.require_dims();
    require_record();
    find_ceilings();
    search::Roofline usual;
    fast_ = planner_.decide(usual);
    explore();
    const double most = 1 - reserve();
    tune("schedules", 0.77 * most);
    map_again("mapping", 0.81 * most);
    tune("new schedules", 0.97 * most);
    map_again("last mapping", most);
    repair();
    return choose();
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool is_cancelled() const { return options_.cancel != nullptr && *options_.cancel; }
  bool is_late() const {
    tell();
    return is_cancelled() || elapsed() > options_.budget.count() * share_;
  }

  void tell() const {
    if (!options_.progress || elapsed() - told_ < 0.1) return;
    told_ = elapsed();
    options_.progress({doing_, timer_.timed() + plans_.timed(), elapsed(), options_.budget.count(),
                       fast_seconds_, best_seconds_});
  }

  /// The share of the budget that is kept for timing whole plans.
  double reserve() const {
    constexpr double runs = 40;
    return std::clamp((1 + runs * fast_seconds_) / options_.budget.count(), 0.05, 0.2);
  }

  /// Steps of a stage: as many as the time allows, or as the record has.
  template <typename F>
  void stage(std::string_view name, double share, F&& step) {
    doing_ = name;
    share_ = share;
    const std::string key = timer_.key_of(cat("steps of ", name));
    double allowed = std::numeric_limits<double>::infinity();
    if (timer_.is_replay()) {
      const auto known = timer_.known(key);
      allowed = known ? known->seconds : 0;
    }
    std::size_t steps = 0;
    while (static_cast<double>(steps) < allowed && !is_cancelled() &&
           (timer_.is_replay() || !timer_.is_over()) && step())
      ++steps;
    timer_.learn(key, {.seconds = static_cast<double>(steps)});
  }

  /// `Error` if the timings to be replayed are not those of this search.
  void require_record() const {
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
  }

  TunedKernel& known_kernel(const kernel::Kernel& kernel) {
    const std::string key = kernel::key(kernel);
    const auto found = kernels_.find(key);
    if (found != kernels_.end()) return found->second;
    TunedKernel& fresh = kernels_[key];
    fresh.kernel = kernel;
    fresh.key = key;
    search::Roofline roofline(ceilings_);
    if (const auto estimate = roofline.estimate(kernel, planner_.dims())) fresh.prior = *estimate;
    fresh.usual = codegen::default_schedule(kernel, machine_, planner_.dims());
    return fresh;
  }

  /// The kernels that runs of a plan need, and how often.
  std::map<std::string, std::size_t> uses(const Decisions& decisions) {
    std::map<std::string, std::size_t> counts;
    for (const auto& [key, launched] : planner_.launches(decisions)) {
      known_kernel(*launched.first);
      counts[key] = launched.second;
    }
    return counts;
  }

  double predicted(const std::map<std::string, std::size_t>& counts) const {
    double sum = 0;
    for (const auto& [key, count] : counts) {
      const TunedKernel& kernel = kernels_.at(key);
      const auto* best = kernel.best();
      sum += static_cast<double>(count) * (best != nullptr ? best->timing.seconds : kernel.prior.seconds);
    }
    return sum;
  }

  /// Kernels of a plan that were never timed, and those that could stand in their place.
  std::vector<TunedKernel*> untimed(const Decisions& decisions) {
    std::vector<std::pair<double, TunedKernel*>> found;
    for (const auto& [key, count] : uses(decisions)) {
      TunedKernel& kernel = kernels_.at(key);
      if (kernel.candidates.empty())
        found.emplace_back(kernel.prior.seconds * static_cast<double>(count), &kernel);
    }
    for (const auto& [key, region] : decisions.regions)
      for (const auto& [kernel, replaces] : region.others) {
        TunedKernel& other = known_kernel(kernel);
        if (other.candidates.empty()) found.emplace_back(other.prior.seconds, &other);
      }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<TunedKernel*> result;
    for (const auto& [seconds, kernel] : found)
      if (std::find(result.begin(), result.end(), kernel) == result.end()) result.push_back(kernel);
    return result;
  }

  /// Times what near-best plans are made of, maps again on that, until every kernel of the plan is known.
  void explore() {
    best_ = fast_;
    std::vector<TunedKernel*> waiting = untimed(fast_);
    std::size_t next = 0;
    int rounds = 0;
    std::optional<KernelTimer::Step> ahead;
    stage("kernels", 0.3, [&] {
      if (next == waiting.size()) {
        if (++rounds > 3) return false;
        Decisions again = remapped();
        waiting = untimed(again);
        next = 0;
        ahead.reset();
        if (waiting.empty()) return false;
      }
      TunedKernel& kernel = *waiting[next++];
      auto step =
          ahead && ahead->kernel == &kernel ? std::move(*ahead) : timer_.begin(kernel, {kernel.usual}, false);
      ahead.reset();
      if (next < waiting.size()) ahead = timer_.begin(*waiting[next], {waiting[next]->usual}, true);
      timer_.finish(step);
      return true;
    });
    fast_seconds_ = best_seconds_ = predicted(uses(fast_));
  }

  Decisions remapped() {
    MeasuredOracle oracle(ceilings_, kernels_);
    return planner_.decide(oracle, true);
  }

  /// Maps on what is known by now; a plan that promises more is the one to go on with.
  void map_again(std::string_view name, double share) {
    bool done = false;
    stage(name, share, [&] {
      if (std::exchange(done, true)) return false;
      last_ = remapped();
      if (predicted(uses(*last_)) < predicted(uses(best_))) best_ = *last_;
      return true;
    });
  }

  /// What one kernel should try next; empty: nothing more to gain.
  std::vector<codegen::Schedule> ideas(const TunedKernel& kernel) const {
    constexpr std::size_t at_once = 12;
    std::vector<codegen::Schedule> all = {kernel.usual};
    const auto variants = codegen::schedule_variants(kernel.kernel, machine_, planner_.dims());
    all.insert(all.end(), variants.begin(), variants.end());
    for (const auto* good : kernel.best_few(3)) {
      const auto near =
          codegen::schedule_neighbours(kernel.kernel, good->schedule, machine_, planner_.dims());
      all.insert(all.end(), near.begin(), near.end());
    }
    std::vector<std::pair<double, codegen::Schedule>> fresh;
    std::set<std::string> seen;
    for (const auto& schedule : all)
      if (!kernel.has(schedule) && seen.insert(codegen::text(schedule)).second)
        fresh.emplace_back(&schedule == all.data()
                               ? -std::numeric_limits<double>::infinity()  // the usual one
                               : experience_.promise(kernel.prior.family, schedule),
                           schedule);
    std::stable_sort(fresh.begin(), fresh.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<codegen::Schedule> result;
    for (std::size_t k = 0; k < std::min(fresh.size(), at_once); ++k) result.push_back(fresh[k].second);
    return result;
  }

  /// The usual schedule's time; 0 if it has none.
  static double as_usual(const TunedKernel& kernel) {
    const auto* found = kernel.candidates.empty() ? nullptr : &kernel.candidates.front().timing;
    return found != nullptr && found->outcome == Timing::Outcome::timed ? found->seconds : 0;
  }

  /// Keeps what the candidates from the given one on tell about schedules.
  void learn_from(const TunedKernel& kernel, std::size_t first) {
    for (std::size_t k = first; k < kernel.candidates.size() && as_usual(kernel) > 0; ++k) {
      const auto& [schedule, timing] = kernel.candidates[k];
      if (timing.outcome == Timing::Outcome::timed)
        experience_.add(kernel.prior.family, schedule, timing.seconds / as_usual(kernel));
    }
  }

  /// Kernels that could take the place of one of the plan's, and are about as fast before either is tuned.
  std::vector<std::pair<TunedKernel*, const TunedKernel*>> promising(const Decisions& decisions) {
    const auto counts = uses(decisions);
    std::vector<std::pair<TunedKernel*, const TunedKernel*>> result;
    std::set<std::string> seen;
    for (const auto& [key, region] : decisions.regions)
      for (const auto& [kernel, replaces] : region.others) {
        if (!counts.contains(replaces)) continue;
        TunedKernel& other = known_kernel(kernel);
        const TunedKernel& replaced = kernels_.at(replaces);
        constexpr double about = 1.1;
        if (as_usual(other) > 0 && as_usual(other) < about * as_usual(replaced) &&
            !counts.contains(other.key) && seen.insert(other.key).second)
          result.emplace_back(&other, &replaced);
      }
    return result;
  }

  /// Tunes the schedules of the best plan's kernels and of what could take their place, always those of which
  /// most is to be expected.
  void tune(std::string_view name, double share) {
    struct Work {
      TunedKernel* kernel;
      double count;
      double hope = 1;  // falls with every step that found nothing
    };
    std::vector<Work> works;
    const auto counts = uses(best_);
    for (const auto& [key, count] : counts) works.push_back({&kernels_.at(key), static_cast<double>(count)});
    for (const auto& [other, replaced] : promising(best_))
      works.push_back({other, static_cast<double>(counts.at(replaced->key))});
    const auto seconds = [](const Work& work) {
      const auto* best = work.kernel->best();
      return work.count * (best != nullptr ? best->timing.seconds : work.kernel->prior.seconds);
    };
    // What the ceilings leave to be gained, at most.
    const auto gain = [&](const Work& work) {
      const double limit = work.count * std::min(work.kernel->prior.seconds, seconds(work) / work.count);
      return work.hope * (seconds(work) - 0.7 * limit);
    };
    const auto choose = [&](const TunedKernel* but) -> Work* {
      Work* chosen = nullptr;
      double total = 0;
      for (auto& work : works) total += seconds(work);
      for (auto& work : works)
        if (work.kernel != but && gain(work) > 0.001 * total &&
            (chosen == nullptr || gain(work) > gain(*chosen)))
          chosen = &work;
      return chosen;
    };
    Work* ahead_of = nullptr;
    std::optional<KernelTimer::Step> ahead;
    stage(name, share, [&] {
      Work* work = ahead_of != nullptr ? ahead_of : choose(nullptr);
      if (work == nullptr) return false;
      auto step =
          ahead_of != nullptr ? std::move(*ahead) : timer_.begin(*work->kernel, ideas(*work->kernel), false);
      ahead.reset();
      const double before = seconds(*work);
      const std::size_t tried = work->kernel->candidates.size();
      ahead_of = choose(work->kernel);
      if (ahead_of != nullptr) ahead = timer_.begin(*ahead_of->kernel, ideas(*ahead_of->kernel), true);
      timer_.finish(step);
      learn_from(*work->kernel, tried);
      if (tried == work->kernel->candidates.size()) work->hope = 0;
      work->hope *= seconds(*work) < 0.97 * before ? 1.0 : 0.6;
      best_seconds_ = predicted(uses(best_));
      tell();
      return true;
    });
  }

  Decisions with_schedules(Decisions decisions) const {
    for (const auto& [key, kernel] : kernels_)
      if (const auto* best = kernel.best()) decisions.schedules.insert_or_assign(key, best->schedule);
    return decisions;
  }

  /// Whether the kernel's default schedule was found to be wrong, to crash or to hang.
  static bool fails_as_usual(const TunedKernel& kernel) {
    const std::string usual = codegen::text(kernel.usual);
    return std::any_of(kernel.candidates.begin(), kernel.candidates.end(), [&](const auto& candidate) {
      return codegen::text(candidate.schedule) == usual && candidate.timing.outcome != Timing::Outcome::timed;
    });
  }

  /// A kernel whose default schedule fails gets another one, whatever it takes. `Error` if none is right.
  void repair(TunedKernel& kernel) {
    timer_.set_obliged(true);
    while (kernel.best() == nullptr && fails_as_usual(kernel)) {
      const std::size_t tried = kernel.candidates.size();
      auto step = timer_.begin(kernel, ideas(kernel), false);
      timer_.finish(step);
      if (kernel.candidates.size() == tried)
        throw Error(cat("search: no schedule of a ", search::name(kernel.prior.family),
                        " kernel gives right results: ", kernel.candidates.front().timing.problem));
    }
    timer_.set_obliged(false);
  }

  void repair() {
    for (const auto& [key, count] : uses(fast_)) repair(kernels_.at(key));
  }

  /// No kernel is taken that was never run: there may have been no time for it. Not after an interruption,
  /// when nobody wants to wait.
  void verify(Decisions& decisions) {
    for (const auto& [key, count] : uses(decisions)) {
      if (is_cancelled()) return;
      TunedKernel& kernel = kernels_.at(key);
      if (kernel.candidates.empty()) {
        timer_.set_obliged(true);
        auto step = timer_.begin(kernel, {kernel.usual}, false);
        timer_.finish(step);
        timer_.set_obliged(false);
      }
      repair(kernel);
      if (fails_as_usual(kernel) && !decisions.schedules.contains(key))
        decisions.schedules.emplace(key, kernel.best()->schedule);
    }
  }

  /// The best few plans, timed whole.
  Decisions choose() {
    doing_ = "plans";
    share_ = 0.97;
    std::vector<PlanTimer::Candidate> candidates;
    const auto add = [&](const std::string& name, const Decisions& decisions, bool tuned) {
      const auto counts = uses(decisions);
      const bool known = std::all_of(counts.begin(), counts.end(), [&](const auto& use) {
        return kernels_.at(use.first).best() != nullptr;
      });
      const bool fails = std::any_of(counts.begin(), counts.end(), [&](const auto& use) {
        const TunedKernel& kernel = kernels_.at(use.first);
        return fails_as_usual(kernel) && (!tuned || kernel.best() == nullptr);
      });
      candidates.push_back({name, tuned ? with_schedules(decisions) : decisions,
                            known && tuned ? predicted(counts) : 0, std::nullopt});
      if (fails)
        candidates.back().timing =
            Timing{.outcome = Timing::Outcome::wrong, .problem = "one of its kernels fails"};
    };
    add("as fast compiles it", fast_, false);
    add("fast's kernels, tuned", fast_, true);
    add("the best plan while tuning", best_, true);
    if (last_) add("mapped again on measured times", *last_, true);
    const std::size_t won = plans_.choose(candidates, [this] { return is_late(); });
    verify(candidates[won].decisions);
    timer_.learn(timer_.key_of("search"), {});
    if (candidates[0].timing) fast_seconds_ = candidates[0].timing->median;
    best_seconds_ = candidates[won].timing ? candidates[won].timing->median : candidates[won].predicted;
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
    report->stopped = is_cancelled()                              ? "it was interrupted"
                      : timer_.is_replay()                        ? "it was replayed"
                      : elapsed() > 0.8 * options_.budget.count() ? "the time was over"
                      : options_.candidates != 0 && timer_.timed() >= options_.candidates
                          ? "all candidates were timed that it may time"
                          : "nothing more was to be gained";
    for (std::size_t k = 0; k < candidates.size(); ++k)
      report->plans.push_back(
          {candidates[k].name, candidates[k].predicted, candidates[k].timing.value_or(Timing{}), k == won});
    const auto counts = uses(candidates[won].decisions);
    for (const auto& [key, kernel] : kernels_) {
      SearchReport::Kernel entry{
          .key = key,
          .family = std::string(search::name(kernel.prior.family)),
          .estimated = kernel.prior.seconds,
          .limit = ceilings_.least_seconds(kernel.prior.bytes, kernel.prior.operations),
          .runs = counts.contains(key) ? counts.at(key) : 0,
          .candidates = {}};
      const auto& schedules = candidates[won].decisions.schedules;
      const auto chosen = schedules.find(key);
      const std::string taken = codegen::text(chosen != schedules.end() ? chosen->second : kernel.usual);
      for (const auto& candidate : kernel.candidates) {
        const std::string text = codegen::text(candidate.schedule);
        entry.candidates.push_back({text, candidate.timing, text == taken && entry.runs > 0});
      }
      report->kernels.push_back(std::move(entry));
    }
    if (options_.sink)
      for (const auto& kernel : report->kernels)
        for (const auto& candidate : kernel.candidates)
          if (candidate.timing.outcome != Timing::Outcome::timed)
            options_.sink(cat("search: a candidate of a ", kernel.family, " kernel was ",
                              name(candidate.timing.outcome), ": ", candidate.timing.problem, " (",
                              candidate.schedule, ")"));
    data_.search = std::move(report);
  }

  Planner& planner_;
  const CompileOptions& options_;
  ExecutableData& data_;
  Clock::time_point start_ = Clock::now();
  double share_ = 1;
  std::string_view doing_ = "starting";
  mutable double told_ = -1;
  double fast_seconds_ = 0;
  double best_seconds_ = 0;
  codegen::Machine machine_;
  KernelTimer timer_;
  PlanTimer plans_;
  search::MachineModel ceilings_;
  std::map<std::string, TunedKernel> kernels_;
  Experience experience_;
  Decisions fast_;
  Decisions best_;
  std::optional<Decisions> last_;
};

}  // namespace

Decisions search_plan(Planner& planner, const CompileOptions& options, runtime::BinaryStore& store,
                      ExecutableData& data) {
  return Search(planner, options, store, data).run();
}

}  // namespace luminal
