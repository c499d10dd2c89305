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

/// Values that the interpreter may pull for the samples of one kernel: a fraction of a second.
constexpr std::size_t sampling_limit = 150'000;

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
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](const Candidate& c) { return codegen::text(c.schedule) == wanted; });
}

KernelTimer::KernelTimer(std::shared_ptr<runtime::Device> device, const DimMap& dims,
                         const CompileOptions& options, runtime::BinaryStore* store, Limits limits)
    : device_(std::move(device)),
      dims_(dims),
      store_(store),
      limits_(std::move(limits)),
      replay_(options.replay),
      fingerprint_(device_->fingerprint()) {}

std::string KernelTimer::key_of(const std::string& what) const {
  std::string text = cat(fingerprint_, "\n", what, "\n");
  for (const auto& [name, value] : dims_) text += cat(name, "=", value, "\n");
  return sha256(text).substr(0, 32);
}

std::optional<Timing> KernelTimer::known(const std::string& key) const {
  if (const auto mine = record_.find(key)) return mine;
  return replay_ != nullptr ? replay_->find(key) : std::nullopt;
}

void KernelTimer::learn(const std::string& key, const Timing& timing) {
  record_.add(key, timing);
}

bool KernelTimer::is_over() const {
  return (limits_.candidates != 0 && timed_ >= limits_.candidates) || (limits_.stop && limits_.stop());
}

runtime::Plan KernelTimer::plan_of(const TunedKernel& kernel, const codegen::Schedule& schedule) const {
  using runtime::BufferInfo;
  runtime::Plan plan;
  runtime::Step step;
  step.kernel = 0;
  // Outputs are external too: they begin as zeros, and a scatter adds to what is there.
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
  const bool positive = samples_.at(kernel.key).positive;
  Subject subject{.runner = &runner, .given = {}, .results = {}};
  const auto tasks = static_cast<double>(
      std::max<std::int64_t>(1, runner.plan().kernels[0].source.tasks.try_eval(dims_).value_or(1)));
  subject.parallel = std::ceil(tasks / device_->machine().workers) / tasks;
  const std::size_t inputs = kernel.kernel.inputs().size();
  for (std::size_t k = 0; k < inputs; ++k) {
    const auto& type = kernel.kernel.inputs()[k];
    subject.given.push_back(
        {runtime::BufferId(k), bank_.elements(type.dtype, bytes_of(type, dims_), k, positive)});
  }
  for (std::size_t k = 0; k < kernel.kernel.outputs().size(); ++k) {
    const auto& type = kernel.kernel.outputs()[k];
    // Integers of the bank are zeros.
    subject.given.push_back(
        {runtime::BufferId(inputs + k), bank_.elements(DType::u8, bytes_of(type, dims_), 0, false), true});
    subject.results.emplace_back(inputs + k);
  }
  return subject;
}

/// A few elements of what the kernel computes, by the interpreter: corners, and some inside.
void KernelTimer::sample(const TunedKernel& tuned) {
  if (samples_.contains(tuned.key)) return;
  Samples& samples = samples_[tuned.key];
  const kernel::Kernel& kernel = tuned.kernel;
  for (const bool positive : {false, true}) {
    samples = {.known = {}, .positive = positive};
    std::vector<std::span<const std::byte>> inputs;
    for (std::size_t k = 0; k < kernel.inputs().size(); ++k)
      inputs.push_back(
          bank_.elements(kernel.inputs()[k].dtype, bytes_of(kernel.inputs()[k], dims_), k, positive));
    bool finite = true;
    for (const auto& store : kernel.stores()) {
      // What is written twice, or added to, depends on more than one point.
      const bool ordered = store.mode == kernel::Store::Mode::add ||
                           std::any_of(store.index.begin(), store.index.end(),
                                       [](const Expr& e) { return !kernel::positions_of(e).empty(); });
      if (ordered) continue;
      std::uint64_t state = 1;
      for (int corner = 0; corner < 4; ++corner) {
        std::vector<std::int64_t> point;
        for (const auto loop : store.domain) {
          const std::int64_t extent = kernel.loop(loop).extent.eval(dims_);
          state = Hash(state).add(static_cast<std::uint64_t>(extent)).value();
          point.push_back(extent == 0   ? -1
                          : corner == 0 ? 0
                          : corner == 1
                              ? extent - 1
                              : static_cast<std::int64_t>(state % static_cast<std::uint64_t>(extent)));
        }
        if (std::find(point.begin(), point.end(), -1) != point.end()) continue;
        const auto found = kernel::interpret_at(kernel, inputs, dims_, store, point, sampling_limit / 4);
        if (!found) break;
        finite = finite && std::isfinite(to_double(found->value));
        samples.known.push_back({store.output, found->place, found->value});
      }
    }
    if (finite) return;
  }
  samples.known.clear();  // nothing that says anything
}

KernelTimer::Step KernelTimer::begin(TunedKernel& kernel, const std::vector<codegen::Schedule>& schedules,
                                     bool beside) {
  Step step{.kernel = &kernel, .schedules = {}, .keys = {}, .known = {}, .compilation = nullptr};
  std::vector<runtime::Plan> plans;
  for (const auto& schedule : schedules) {
    if (kernel.has(schedule)) continue;
    const std::string key = key_of(cat(kernel.key, codegen::text(schedule)));
    if (const auto timing = known(key)) {
      step.known.push_back({schedule, *timing});
      if (!record_.find(key)) ++timed_;
      learn(key, *timing);
      continue;
    }
    if (replay_ != nullptr) continue;  // the time was over then
    if (limits_.candidates != 0 && timed_ + begun_ >= limits_.candidates && !obliged_) break;
    ++begun_;
    try {
      plans.push_back(plan_of(kernel, schedule));
    } catch (const std::exception& error) {
      const Timing timing{.outcome = Timing::Outcome::refused, .problem = error.what()};
      --begun_;
      step.known.push_back({schedule, timing});
      learn(key, timing);
      continue;
    }
    step.schedules.push_back(schedule);
    step.keys.push_back(key);
  }
  if (plans.empty()) return step;
  step.compilation = std::make_unique<Compilation>(device_, std::move(plans), store_);
  if (beside) step.compilation->begin();
  return step;
}

void KernelTimer::finish(Step& step) {
  TunedKernel& kernel = *step.kernel;
  kernel.candidates.insert(kernel.candidates.end(), step.known.begin(), step.known.end());
  begun_ -= step.schedules.size();
  if (!step.compilation) return;
  sample(kernel);
  const auto stop = [&] { return !obliged_ && limits_.stop && limits_.stop(); };
  step.compilation->finish(stop);
  // The best so far runs among them: noise that lasts longer than one kernel does not decide.
  std::vector<Subject> subjects;
  std::vector<std::size_t> members;
  const TunedKernel::Candidate* const before = kernel.best();
  const bool anchored = before != nullptr && kernel.best_runner;
  if (anchored) subjects.push_back(subject(kernel, *kernel.best_runner));
  const auto& made = step.compilation->made();
  for (std::size_t k = 0; k < made.size(); ++k) {
    if (made[k].runner) {
      subjects.push_back(subject(kernel, *made[k].runner));
      members.push_back(k);
    } else if (!made[k].problem.empty()) {
      const Timing timing{.outcome = Timing::Outcome::refused, .problem = made[k].problem};
      kernel.candidates.push_back({step.schedules[k], timing});
      learn(step.keys[k], timing);
    }
  }
  if (members.empty()) return;
  MeasureOptions options{.dims = dims_, .known = samples_.at(kernel.key).known, .stop = stop};
  // What takes long shows its differences in few runs.
  if (before != nullptr && before->timing.seconds > 4e-3) options.rounds = 3;
  options.patience = before == nullptr ? 10 : std::max(1.5, 40 * before->timing.seconds);
  const auto timings = measure(*device_, subjects, options);
  double scale = 1;
  const double known_seconds = before != nullptr ? before->timing.seconds : 0;
  if (anchored && timings[0] && timings[0]->outcome == Timing::Outcome::timed && timings[0]->seconds > 0)
    // Never downwards: noise would add up, one best after the other.
    scale = std::max(1.0, known_seconds / timings[0]->seconds);
  for (std::size_t k = 0; k < members.size(); ++k) {
    const auto& timing = timings[k + (anchored ? 1 : 0)];
    if (!timing) continue;
    Timing scaled = *timing;
    scaled.seconds *= scale;
    scaled.median *= scale;
    ++timed_;
    const double best = kernel.best() != nullptr ? kernel.best()->timing.seconds : 0;
    kernel.candidates.push_back({step.schedules[members[k]], scaled});
    learn(step.keys[members[k]], scaled);
    if (scaled.outcome == Timing::Outcome::timed && (best == 0 || scaled.seconds < best))
      kernel.best_runner = made[members[k]].runner;
  }
}

}  // namespace luminal
