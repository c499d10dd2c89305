#include "luminal/compile/kernel_timer.h"

#include <algorithm>
#include <cmath>

#include "luminal/codegen/schedule_text.h"
#include "luminal/kernel/interpret.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/sha256.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// Values that the interpreter may pull for the samples of one kernel, a fraction of a second, and for one
/// of them.
constexpr std::size_t sampling_limit = 150'000;
constexpr std::size_t element_limit = 600'000;

/// The input that a place on an axis is read from as it is; nullopt if it is computed.
std::optional<std::uint32_t> place_input(const kernel::Kernel& kernel, kernel::ValueId id) {
  const auto& value = kernel.value(id);
  if (const auto* load = value.try_get<kernel::value::Load>()) return load->input;
  const auto* map = value.try_get<kernel::value::Map>();
  return map != nullptr && map->op == Op::cast ? place_input(kernel, map->arguments[0]) : std::nullopt;
}

/// What numbers a kernel's inputs should be: integers that name places must lie on their axes.
/// Of inputs that places are computed from all are 0, or some from 1 to 9.
std::vector<DataBank::Numbers> numbers_of(const kernel::Kernel& kernel, const DimMap& dims, bool positive,
                                          bool zeros) {
  std::vector<DataBank::Numbers> numbers(kernel.inputs().size(), {.positive = positive});
  for (const auto& value : kernel.values()) {
    const auto* position = value.try_get<kernel::value::Position>();
    if (position == nullptr) continue;
    const auto input = place_input(kernel, position->argument);
    if (!input) {
      for (auto& each : numbers) each.places = zeros ? 1 : 0;
      return numbers;
    }
    std::int64_t& places = numbers[*input].places;
    const std::int64_t length = std::max<std::int64_t>(1, position->length.eval(dims));
    places = places == 0 ? length : std::min(places, length);
  }
  return numbers;
}

/// Whether a store's value depends on one point only.
bool is_plain(const kernel::Store& store) {
  return store.mode == kernel::Store::Mode::set &&
         std::none_of(store.index.begin(), store.index.end(),
                      [](const Expr& e) { return !kernel::positions_of(e).empty(); });
}

/// Whether every element of the outputs is written.
bool writes_everything(const kernel::Kernel& kernel, const DimMap& dims) {
  std::vector<std::int64_t> points(kernel.outputs().size(), 0);
  for (const auto& store : kernel.stores()) {
    if (!is_plain(store)) return false;
    std::int64_t count = 1;
    for (const auto loop : store.domain) count *= kernel.loop(loop).extent.eval(dims);
    points[store.output] += count;
  }
  for (std::size_t k = 0; k < points.size(); ++k)
    if (points[k] != kernel.outputs()[k].shape.element_count().eval(dims)) return false;
  return true;
}

/// Points of a domain: its corners, and places all over it.
std::vector<std::vector<std::int64_t>> points_of(const std::vector<std::int64_t>& extents,
                                                 std::size_t count) {
  std::uint64_t all = 1;
  for (const auto extent : extents) all *= static_cast<std::uint64_t>(extent);
  std::vector<std::vector<std::int64_t>> points;
  for (std::uint64_t k = 0; k < std::min<std::uint64_t>(count, all); ++k) {
    const std::uint64_t part = std::max<std::uint64_t>(1, all / count);
    std::uint64_t place = k == 0 ? 0 : k == 1 ? all - 1 : (k * part + Hash(7).add(k).value() % part) % all;
    std::vector<std::int64_t> point(extents.size());
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      point[axis] = static_cast<std::int64_t>(place % static_cast<std::uint64_t>(extents[axis]));
      place /= static_cast<std::uint64_t>(extents[axis]);
    }
    points.push_back(std::move(point));
  }
  return points;
}

/// How many points of a store the interpreter may pull: each takes at least all terms of its sums.
std::size_t affordable(const kernel::Kernel& kernel, const kernel::Store& store, const DimMap& dims) {
  double terms = 4;
  for (std::size_t k = 0; k < kernel.loops().size(); ++k)
    if (std::find(store.domain.begin(), store.domain.end(), kernel::LoopId(k)) == store.domain.end())
      terms *= static_cast<double>(std::max<std::int64_t>(1, kernel.loops()[k].extent.eval(dims)));
  const double points = static_cast<double>(sampling_limit) / terms;
  return static_cast<std::size_t>(std::clamp(points, 4.0, 64.0));
}

std::uint64_t hash_of(const codegen::Source& source) {
  return Hash(11).add(source.text).add(source.tasks.text()).add(source.scratch_bytes.text()).value();
}

std::size_t bytes_of(const kernel::ArrayType& type, const DimMap& dims) {
  std::size_t count = byte_size(type.dtype);
  for (const auto dim : type.shape.eval(dims)) count *= static_cast<std::size_t>(dim);
  return count;
}

}  // namespace

const TunedKernel::Candidate* TunedKernel::best() const {
  const Candidate* found = nullptr;
  for (const auto& candidate : candidates)
    if (candidate.timing.outcome == Timing::Outcome::timed &&
        (found == nullptr || candidate.timing.seconds < found->timing.seconds))
      found = &candidate;
  return found;
}

std::vector<const TunedKernel::Candidate*> TunedKernel::best_few(std::size_t most) const {
  std::vector<const Candidate*> right;
  for (const auto& candidate : candidates)
    if (candidate.timing.outcome == Timing::Outcome::timed) right.push_back(&candidate);
  std::stable_sort(right.begin(), right.end(), [](const Candidate* a, const Candidate* b) {
    return a->timing.seconds < b->timing.seconds;
  });
  if (right.size() > most) right.resize(most);
  return right;
}

bool TunedKernel::has(const codegen::Schedule& schedule) const {
  const std::string wanted = codegen::text(schedule);
  return same.contains(wanted) || std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) {
           return codegen::text(c.schedule) == wanted;
         });
}

double TunedKernel::usual_seconds() const {
  if (candidates.empty() || candidates.front().timing.outcome != Timing::Outcome::timed) return 0;
  return candidates.front().timing.seconds;
}

bool TunedKernel::has_tiles() const {
  return std::all_of(usual.nests.begin(), usual.nests.end(),
                     [](const auto& nest) { return nest.tiles.has_value(); });
}

double TunedKernel::best_of_first(std::size_t many) const {
  double least = 0;
  for (std::size_t k = 0; k < std::min(many, candidates.size()); ++k)
    if (const Timing& timing = candidates[k].timing;
        timing.outcome == Timing::Outcome::timed && (least == 0 || timing.seconds < least))
      least = timing.seconds;
  return least;
}

bool TunedKernel::is_unfit() const {
  return !candidates.empty() && candidates.front().timing.outcome == Timing::Outcome::unfit;
}

bool TunedKernel::hangs_as_usual() const {
  return !candidates.empty() && candidates.front().timing.outcome == Timing::Outcome::hung;
}

bool TunedKernel::fails_as_usual() const {
  const std::string wanted = codegen::text(usual);
  return std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
    return codegen::text(candidate.schedule) == wanted && candidate.timing.is_failure();
  });
}

KernelTimer::KernelTimer(std::shared_ptr<runtime::Device> device, const DimMap& dims, std::string scope,
                         const CompileOptions& options, runtime::BinaryStore* store, Limits limits)
    : device_(std::move(device)),
      dims_(dims),
      store_(store),
      limits_(std::move(limits)),
      replay_(options.replay),
      scope_(std::move(scope)) {}

std::string KernelTimer::key_of(const std::string& what) const {
  return sha256(cat(scope_, "\n", what)).substr(0, 32);
}

std::optional<Timing> KernelTimer::known(const std::string& key) const {
  if (const auto mine = record_.find(key)) return mine;
  return replay_ != nullptr ? replay_->find(key) : std::nullopt;
}

void KernelTimer::learn(const std::string& key, const Timing& timing) {
  record_.add(key, timing);
}

void KernelTimer::set_surroundings(std::size_t bytes) {
  surroundings_ = std::make_unique<Surroundings>(*device_, bytes);
}

bool KernelTimer::must_stop() const {
  switch (duty_) {
    case Duty::none:
      return limits_.stop && limits_.stop();
    case Duty::unless_cancelled:
      return limits_.cancelled && limits_.cancelled();
    case Duty::always:
      break;
  }
  return false;
}

bool KernelTimer::is_over() const {
  return (limits_.candidates != 0 && timed_ >= limits_.candidates) || (limits_.stop && limits_.stop());
}

runtime::Plan KernelTimer::plan_of(const TunedKernel& kernel, const codegen::Schedule& schedule) const {
  using runtime::BufferInfo;
  runtime::Plan plan;
  runtime::Step step;
  step.kernel = 0;
  // Outputs are external too: what they begin as is known, and a scatter adds to what is there.
  for (const auto& type : kernel.kernel.inputs()) {
    step.inputs.emplace_back(plan.buffers.size());
    plan.buffers.push_back({type, BufferInfo::Role::external, false, ""});
  }
  for (const auto& type : kernel.kernel.outputs()) {
    step.outputs.emplace_back(plan.buffers.size());
    plan.buffers.push_back({type, BufferInfo::Role::external, false, ""});
  }
  plan.kernels.push_back(
      {kernel.kernel, schedule, codegen::print_kernel(kernel.kernel, device_->dialect(), schedule), "", 0});
  plan.dims = plan.kernels[0].source.dims;
  plan.steps.push_back(std::move(step));
  return plan;
}

Subject KernelTimer::subject(const TunedKernel& kernel, runtime::Runner& runner) {
  const Samples& samples = samples_.at(kernel.key);
  Subject subject{.runner = &runner, .given = {}, .results = {}};
  const auto tasks = static_cast<double>(
      std::max<std::int64_t>(1, runner.plan().kernels[0].source.tasks.try_eval(dims_).value_or(1)));
  subject.parallel = std::ceil(tasks / device_->machine().workers) / tasks;
  const std::size_t inputs = kernel.kernel.inputs().size();
  for (std::size_t k = 0; k < inputs; ++k)
    subject.given.push_back({runtime::BufferId(k), input(kernel, k, samples)});
  subject.writes_everything = writes_everything(kernel.kernel, dims_);
  const std::byte before = subject.writes_everything ? DataBank::unwritten : std::byte{0};
  for (std::size_t k = 0; k < kernel.kernel.outputs().size(); ++k) {
    const auto& type = kernel.kernel.outputs()[k];
    subject.given.push_back(
        {runtime::BufferId(inputs + k), bank_.filled(bytes_of(type, dims_), before), true});
    subject.results.emplace_back(inputs + k);
  }
  return subject;
}

std::span<const std::byte> KernelTimer::input(const TunedKernel& kernel, std::size_t number,
                                              const Samples& samples) {
  const auto& type = kernel.kernel.inputs()[number];
  return bank_.elements(type.dtype, bytes_of(type, dims_), number, samples.inputs[number]);
}

/// Elements of what the kernel computes, by the interpreter, on numbers that say something.
void KernelTimer::sample(const TunedKernel& tuned) {
  if (samples_.contains(tuned.key)) return;
  Samples& samples = samples_[tuned.key];
  const kernel::Kernel& kernel = tuned.kernel;
  std::vector<DataBank::Numbers> fitting;  // all places are on their axes
  for (const auto& [positive, zeros] :
       {std::pair(false, true), {true, true}, {false, false}, {true, false}}) {
    samples = {.known = {}, .inputs = numbers_of(kernel, dims_, positive, zeros)};
    std::vector<std::span<const std::byte>> inputs;
    for (std::size_t k = 0; k < kernel.inputs().size(); ++k) inputs.push_back(input(tuned, k, samples));
    try {
      samples.known = known_elements(kernel, inputs);
    } catch (const Error&) {
      continue;  // a place is outside of its axis
    }
    fitting = samples.inputs;
    if (std::all_of(samples.known.begin(), samples.known.end(),
                    [](const KnownElement& known) { return std::isfinite(to_double(known.value)); }))
      return;
  }
  samples.known.clear();  // nothing that says anything
  if (!fitting.empty()) samples.inputs = std::move(fitting);
}

/// As many as the interpreter can afford. `Error` if the inputs name places that are not there.
std::vector<KnownElement> KernelTimer::known_elements(
    const kernel::Kernel& kernel, const std::vector<std::span<const std::byte>>& inputs) const {
  std::vector<KnownElement> result;
  for (const auto& store : kernel.stores()) {
    if (!is_plain(store)) continue;
    std::vector<std::int64_t> extents;
    for (const auto loop : store.domain) extents.push_back(kernel.loop(loop).extent.eval(dims_));
    std::size_t limit = element_limit;  // one at least, if it can be
    for (const auto& point : points_of(extents, affordable(kernel, store, dims_))) {
      const auto found = kernel::interpret_at(kernel, inputs, dims_, store, point, limit);
      if (!found) break;
      limit = sampling_limit / 4;
      result.push_back({store.output, found->place, found->value});
    }
  }
  return result;
}

KernelTimer::Batch KernelTimer::begin(const std::vector<Request>& requests) {
  Batch batch;
  std::vector<runtime::Plan> plans;
  for (const auto& request : requests) batch.steps.push_back(begun(request, plans));
  if (plans.empty()) return batch;
  batch.begun = plans.size();
  begun_ += batch.begun;
  batch.compilation = std::make_unique<Compilation>(device_, std::move(plans), store_);
  batch.compilation->begin();
  return batch;
}

/// What the time was over for, and is asked again: a replay must not know it the first time.
std::string KernelTimer::key_again(const std::string& what) {
  std::string key = key_of(what);
  if (const std::size_t before = asked_[key]++; before > 0) key += cat(".", before);
  return key;
}

/// Schedules that give the same program as another one are no trials.
KernelTimer::Step KernelTimer::begun(const Request& request, std::vector<runtime::Plan>& plans) {
  TunedKernel& kernel = *request.kernel;
  Step step{.kernel = request.kernel, .trials = {}};
  std::set<std::uint64_t> here;
  for (const auto& schedule : request.schedules) {
    if (kernel.has(schedule)) continue;
    Trial trial{.schedule = schedule, .key = {}};
    std::optional<runtime::Plan> plan;
    try {
      plan = plan_of(kernel, schedule);
      trial.source = hash_of(plan->kernels[0].source);
    } catch (const std::exception& error) {
      trial.timing = Timing{.outcome = Timing::Outcome::refused, .problem = error.what()};
    }
    if (plan && std::any_of(kernel.candidates.begin(), kernel.candidates.end(),
                            [&](const auto& candidate) { return candidate.source == trial.source; })) {
      kernel.same.insert(codegen::text(schedule));
      continue;
    }
    if (plan && !here.insert(trial.source).second) continue;
    trial.key = key_again(cat(kernel.key, codegen::text(schedule)));
    begin_trial(trial, std::move(plan), plans);
    step.trials.push_back(std::move(trial));
  }
  return step;
}

/// Its timing is known, or it is compiled; neither if that was not to be.
void KernelTimer::begin_trial(Trial& trial, std::optional<runtime::Plan> plan,
                              std::vector<runtime::Plan>& plans) {
  if (const auto before = known(trial.key)) {
    ++timed_;
    trial.timing = before;
  }
  if (trial.timing) return learn(trial.key, *trial.timing);
  const bool is_full = limits_.candidates != 0 && timed_ + begun_ + plans.size() >= limits_.candidates;
  if (replay_ != nullptr || (is_full && duty_ == Duty::none)) return;  // the time was over then, or is now
  plans.push_back(std::move(*plan));
  trial.compiled = plans.size() - 1;
}

void KernelTimer::drop(Batch& batch) {
  begun_ -= batch.begun;
  batch = {};
}

void KernelTimer::finish(Batch& batch) {
  begun_ -= batch.begun;
  for (const auto& step : batch.steps)
    if (std::any_of(step.trials.begin(), step.trials.end(),
                    [](const Trial& trial) { return trial.compiled.has_value(); }) &&
        !must_stop())
      sample(*step.kernel);
  if (batch.compilation) batch.compilation->finish([this] { return must_stop(); });
  const auto timings = measured(batch.steps, batch.compilation.get());
  for (std::size_t k = 0; k < batch.steps.size(); ++k)
    conclude(batch.steps[k], timings[k], batch.compilation.get());
}

void KernelTimer::time(const std::vector<Request>& requests) {
  Batch batch = begin(requests);
  finish(batch);
}

/// Times each step's schedules, and the kernel's best one among them: noise that lasts longer than one kernel
/// does not decide.
std::vector<Timings> KernelTimer::measured(const std::vector<Step>& steps, const Compilation* compilation) {
  std::vector<Timings> timings;
  std::vector<Contest> contests;
  std::vector<std::optional<Timing>*> places;  // of all contests' subjects
  for (const auto& step : steps) timings.emplace_back(step.trials.size() + 1);
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const TunedKernel& kernel = *steps[n].kernel;
    if (!samples_.contains(kernel.key) || must_stop()) continue;
    Contest contest{{}, options_of(kernel, steps.size() > 1)};
    std::vector<std::optional<Timing>*> own;
    if (kernel.best() != nullptr && kernel.best_runner) {
      contest.subjects.push_back(subject(kernel, *kernel.best_runner));
      contest.options.first_before = kernel.best()->timing.seconds;
      own.push_back(&timings[n].back());
    }
    const std::size_t others = own.size();
    for (std::size_t k = 0; k < steps[n].trials.size(); ++k) {
      const auto number = steps[n].trials[k].compiled;
      if (!number || !compilation->made()[*number].runner) continue;
      contest.subjects.push_back(subject(kernel, *compilation->made()[*number].runner));
      own.push_back(&timings[n][k]);
    }
    if (own.size() == others) continue;
    contests.push_back(std::move(contest));
    places.insert(places.end(), own.begin(), own.end());
  }
  if (contests.empty()) return timings;
  std::size_t next = 0;
  for (auto& found : measure(*device_, contests))
    for (auto& timing : found) *places[next++] = std::move(timing);
  return timings;
}

/// Little or nothing runs in turn with a kernel's only schedule: beside other kernels half of its rounds are
/// at another moment.
MeasureOptions KernelTimer::options_of(const TunedKernel& kernel, bool several) const {
  MeasureOptions options{
      .dims = dims_, .known = samples_.at(kernel.key).known, .stop = [this] { return must_stop(); }};
  options.round_seconds = 5e-4;
  options.one_memory = true;
  options.most_seconds = 1;
  options.patience =
      kernel.best() == nullptr ? kernel.patience : std::max(1.5, 40 * kernel.best()->timing.seconds);
  if (duty_ != Duty::none) {
    options.rounds = 1;
    return options;
  }
  // What takes long shows its differences in few runs.
  options.rounds = several || kernel.seconds() > 4e-3 ? 3 : 6;
  options.moments = several ? 2 : 1;
  options.surroundings = surroundings_.get();
  return options;
}

/// The best schedule ran once more, or did when the record was taken: if it took less time, that is its time;
/// if it failed beside others, it has failed.
void KernelTimer::remember_best(TunedKernel& kernel, const std::optional<Timing>& measured) {
  const auto best = std::find_if(kernel.candidates.begin(), kernel.candidates.end(),
                                 [&](const auto& candidate) { return &candidate == kernel.best(); });
  if (best == kernel.candidates.end()) return;
  const std::string key = key_again(cat(kernel.key, "best of ", kernel.candidates.size()));
  const auto timing = replay_ != nullptr ? known(key) : measured;
  const bool is_shorter =
      timing && timing->outcome == Timing::Outcome::timed && timing->seconds < best->timing.seconds;
  if (!timing || (!timing->is_failure() && !is_shorter)) return;
  best->timing = *timing;
  learn(key, *timing);
  if (timing->is_failure()) kernel.best_runner.reset();
}

void KernelTimer::conclude(const Step& step, const Timings& timings, const Compilation* compilation) {
  TunedKernel& kernel = *step.kernel;
  remember_best(kernel, timings.back());
  for (std::size_t k = 0; k < step.trials.size(); ++k) {
    const Trial& trial = step.trials[k];
    std::optional<Timing> timing = trial.timing;
    if (!timing && trial.compiled) {
      timing = timings[k];
      if (timing) ++timed_;
      if (const auto& problem = compilation->made()[*trial.compiled].problem; !timing && !problem.empty())
        timing = Timing{.outcome = Timing::Outcome::refused, .problem = problem};
      if (timing) learn(trial.key, *timing);
    }
    // What the others took says nothing without the usual one, which comes first.
    const bool first = kernel.candidates.empty();
    if (!timing || (first && codegen::text(trial.schedule) != codegen::text(kernel.usual))) continue;
    const double best = kernel.best() != nullptr ? kernel.best()->timing.seconds : 0;
    kernel.candidates.push_back({trial.schedule, *timing, trial.source});
    if (trial.compiled && timing->outcome == Timing::Outcome::timed && (best == 0 || timing->seconds < best))
      kernel.best_runner = compilation->made()[*trial.compiled].runner;
  }
}

}  // namespace luminal
