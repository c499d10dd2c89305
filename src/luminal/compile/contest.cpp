#include "luminal/compile/contest.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>

#include "luminal/compile/agreement.h"
#include "luminal/compile/data_bank.h"
#include "luminal/compile/stopwatch.h"
#include "luminal/support/text.h"

namespace luminal {

namespace {

using Clock = std::chrono::steady_clock;
using Message = ContestMessage;
using Results = std::vector<std::vector<std::byte>>;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Runs and checks a contest's subjects, and tells what happens.
class Session {
 public:
  Session(runtime::Device& device, std::span<const Subject> subjects, std::vector<std::size_t> members,
          const MeasureOptions& options, std::function<void(const Message&)> tell)
      : device_(device),
        subjects_(subjects),
        members_(std::move(members)),
        options_(options),
        tell_(std::move(tell)),
        best_(subjects.size(), -1),
        steps_(subjects.size()),
        disturbed_steps_(subjects.size()) {}

  /// Runs and compares all, then times them at the first moment.
  void begin() {
    verify();
    time_rounds();
    for (const auto k : members_) tell({.kind = Message::Kind::over}, k);
  }

  /// Times them at another moment, if that is wanted.
  void go_on() {
    constexpr double too_long = 0.2;  // nobody will want it
    constexpr double far = 1.3;
    const double fastest = least();
    const bool again = (options_.moments > 1 && fastest < too_long) || is_disturbed();
    if (!again || fastest < 0) return;
    for (const auto k : members_) {
      tell({.kind = Message::Kind::moment}, k);
      if (best_[k] > far * fastest) best_[k] = -1;
    }
    time_rounds();
  }

 private:
  void verify() {
    if (options_.nudged && members_.size() > 1) nudged_ = nudged_results(members_[0]);
    for (const auto k : members_) first_run(k);
    check_agreement();
    for (const auto k : members_) tell({.kind = Message::Kind::verified}, k);
    opinions_.clear();
    results_.clear();
    if (options_.steps)
      for (const auto k : members_) subjects_[k].runner->set_timing(true);
    is_verified_ = true;
  }

  /// The shortest time; below 0 if none is right.
  double least() const {
    double fastest = -1;
    for (const auto k : members_)
      if (best_[k] >= 0 && (fastest < 0 || best_[k] < fastest)) fastest = best_[k];
    return fastest;
  }

  /// Whether the first subject takes longer than it did.
  bool is_disturbed() const {
    constexpr double disturbed = 1.15;
    std::vector<double> times = first_times_;
    return options_.first_before > 0 && !times.empty() &&
           first_quartile(times) > disturbed * options_.first_before;
  }

  void time_rounds() {
    double fastest = least();
    const auto begin = Clock::now();
    for (int round = 0; round < options_.rounds || since(begin) < options_.least_seconds; ++round) {
      if (std::none_of(members_.begin(), members_.end(), [&](std::size_t k) { return best_[k] >= 0; })) break;
      for (const auto k : members_)
        if (best_[k] >= 0 && (fastest < 0 || best_[k] <= fastest * limit(round, fastest))) timed_round(k);
      fastest = least();
      for (const auto k : members_) tell_steps(k);
      tell({.kind = Message::Kind::round});
      if (since(begin) > options_.most_seconds || (options_.stop && options_.stop())) break;
    }
  }

  /// First runs are cold, threads that sleep wake late, and others use the machine for moments: they tell
  /// little of what takes microseconds, and enough of a kernel that takes long.
  double limit(int round, double fastest) const {
    constexpr double far = 40;
    constexpr double near = 1.2;
    constexpr double long_kernel = 1e-2;
    if (fastest > long_kernel && !options_.warmed) return std::min(near, options_.keep_within);
    const int patient = options_.warmed ? 2 : fastest < 2e-3 ? 1 : 0;
    if (round < patient) return std::max(far, options_.keep_within);
    return round < patient + 2 ? options_.keep_within : std::min(near, options_.keep_within);
  }

  void tell(Message message, std::size_t subject = 0, const std::string& text = {}) {
    message.subject = static_cast<std::int32_t>(subject);
    std::strncpy(message.text, text.c_str(), sizeof(message.text) - 1);
    tell_(message);
  }

  void get_results(const Subject& subject, Results& results) const {
    const auto memory = runtime::plan_memory(subject.runner->plan(), options_.dims);
    results.resize(subject.results.size());
    for (std::size_t r = 0; r < results.size(); ++r) {
      const auto id = subject.results[r];
      results[r].resize(memory.bytes[id.index()]);
      subject.runner->get(id, results[r]);
    }
  }

  /// Gives a subject what it reads, and what it writes to.
  void give(const Subject& subject, const std::vector<Subject::Given>& given) const {
    const auto& first = subjects_[members_[0]].runner;
    for (const auto& [buffer, elements, written] : given) {
      if (written && options_.one_memory && subject.runner != first && first->has(buffer))
        subject.runner->adopt(buffer, *first, buffer);
      subject.runner->set(buffer, elements, nullptr, written);
    }
  }

  /// A subject's results where the last bits of its inputs are others: of as many inputs as little memory
  /// holds, the small ones first. None if it fails; its first run will tell why.
  Results nudged_results(std::size_t k) {
    constexpr std::size_t most = 256 << 20;
    tell({.kind = Message::Kind::begins}, k);
    const Subject& subject = subjects_[k];
    std::vector<Subject::Given> given = subject.given;
    std::stable_sort(given.begin(), given.end(),
                     [](const auto& a, const auto& b) { return a.elements.size() < b.elements.size(); });
    std::vector<std::vector<std::byte>> copies;
    std::size_t bytes = 0;
    try {
      for (auto& [buffer, elements, written] : given) {
        const DType dtype = subject.runner->plan().buffers[buffer.index()].type.dtype;
        if (is_floating(dtype) && bytes + elements.size() <= most) {
          bytes += elements.size();
          elements = copies.emplace_back(luminal::nudged(dtype, elements));
        }
      }
      give(subject, given);
      subject.runner->prepare(options_.dims);
      subject.runner->load();
      subject.runner->run();
      Results results;
      get_results(subject, results);
      return results;
    } catch (const std::exception&) {
      return {};
    }
  }

  /// By what the first subject's results differ from those of changed inputs.
  void find_noise() {
    constexpr double margin = 8;  // two plans round at more places than inputs have last bits
    noise_.assign(results_.size(), 0);
    for (std::size_t r = 0; r < std::min(nudged_.size(), results_.size()); ++r)
      noise_[r] = margin * largest_difference(dtype(members_[0], r), nudged_[r], results_[r]);
  }

  void first_run(std::size_t k) {
    tell({.kind = Message::Kind::begins}, k);
    const Subject& subject = subjects_[k];
    try {
      give(subject, subject.given);
      subject.runner->prepare(options_.dims);
      subject.runner->load();  // no run's time
      device_.settle();
      const Stopwatch watch;
      subject.runner->run();
      const double seconds = watch.seconds(subject.parallel);
      tell({.kind = Message::Kind::begins}, k);  // large results take long to be compared
      get_results(subject, results_);
      if (k == members_[0]) find_noise();
      auto problem = against_oracle(k);
      if (!problem && subject.writes_everything) problem = unwritten(k);
      if (problem) {
        tell({.kind = Message::Kind::wrong}, k, *problem);
        return;
      }
      best_[k] = seconds;
      note_opinion(k);
      // The time of one that is given up after it, or that is always disturbed.
      if (!options_.warmed) tell({.kind = Message::Kind::timed, .seconds = seconds, .first = true}, k);
      // A first run wakes threads, fills caches and touches memory that nobody did: no reason to give up.
      if (options_.warmed) timed_run(k);
      constexpr double is_short = 2e-2;
      if (best_[k] < is_short) timed_run(k);
    } catch (const runtime::IndexError& error) {
      tell({.kind = Message::Kind::unfit}, k, error.what());
    } catch (const std::exception& error) {
      tell({.kind = Message::Kind::refused}, k, error.what());
    }
  }

  void surround(std::size_t k) {
    if (options_.surroundings == nullptr) return;
    const auto begin = Clock::now();
    std::vector<std::span<const std::byte>> inputs;
    for (const auto& given : subjects_[k].given)
      if (!given.written) inputs.push_back(given.elements);
    options_.surroundings->restore(inputs);
    surrounding_ = since(begin);
  }

  void timed_run(std::size_t k) {
    surround(k);
    const Stopwatch watch;
    subjects_[k].runner->run();
    const bool sound = !watch.disturbed();
    const double seconds = watch.seconds(subjects_[k].parallel);
    best_[k] = std::min(best_[k], seconds);
    tell({.kind = Message::Kind::timed, .seconds = seconds, .sound = sound}, k);
    if (k == 0 && is_verified_) first_times_.push_back(seconds);
    if (!options_.steps || !is_verified_) return;
    const auto& each = subjects_[k].runner->step_seconds();
    auto& steps = (sound ? steps_ : disturbed_steps_)[k];
    steps.resize(each.size());
    for (std::size_t step = 0; step < each.size(); ++step) steps[step].push_back(each[step]);
  }

  void tell_steps(std::size_t k) {
    auto& steps = (steps_[k].empty() ? disturbed_steps_ : steps_)[k];
    for (std::size_t step = 0; step < steps.size(); ++step)
      tell({.kind = Message::Kind::step,
            .step = static_cast<std::int32_t>(step),
            .seconds = first_quartile(steps[step])},
           k);
  }

  /// The first element of floating-point results that no task wrote.
  std::optional<std::string> unwritten(std::size_t k) const {
    for (std::size_t r = 0; r < results_.size(); ++r) {
      const DType type = dtype(k, r);
      if (!is_floating(type)) continue;  // -1 is a number
      if (const auto place = DataBank::first_unwritten(results_[r], byte_size(type)))
        return cat("element ", *place, " is not written");
    }
    return std::nullopt;
  }

  DType dtype(std::size_t subject, std::size_t result) const {
    const auto& s = subjects_[subject];
    return s.runner->plan().buffers[s.results[result].index()].type.dtype;
  }

  /// How large elements of a result are, by the first of them.
  double scale_of(std::size_t k, std::size_t result) const {
    const DType type = dtype(k, result);
    const auto& elements = results_[result];
    const std::size_t size = byte_size(type);
    double scale = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(elements.size() / size, 4096); ++i)
      if (const double e = to_double(load(type, elements.data() + i * size)); std::isfinite(e))
        scale = std::max(scale, std::abs(e));
    return scale;
  }

  std::optional<std::string> against_oracle(std::size_t k) const {
    std::vector<double> scales;
    for (std::size_t r = 0; r < results_.size(); ++r) scales.push_back(scale_of(k, r));
    for (const auto& known : options_.known) {
      const DType type = dtype(k, known.result);
      const auto& elements = results_[known.result];
      const std::size_t size = byte_size(type);
      const double got = to_double(load(type, elements.data() + known.place * size));
      const double expected = to_double(known.value);
      // The scale of a wrong result must not excuse it.
      const double scale = std::min(scales[known.result], std::max(10 * std::abs(expected), 1.0));
      if (!agrees(type, got, expected, std::max(scale, std::abs(expected))))
        return cat("element ", known.place, " is ", got, ", and ", expected, " by the interpreter");
    }
    return std::nullopt;
  }

  /// What some subjects' results are, within what rounding explains.
  struct Opinion {
    Results results;                       // of the first who had it
    std::vector<std::string> differences;  // by subject: where its results differ; empty: nowhere
  };

  /// Where results of subjects like `k` differ; empty: nowhere.
  std::string disagreement(std::size_t k, const Results& got, const Results& expected) {
    tell({.kind = Message::Kind::begins}, k);  // large ones take long
    for (std::size_t r = 0; r < got.size() && r < expected.size(); ++r)
      if (const auto found = difference(dtype(k, r), got[r], expected[r], r < noise_.size() ? noise_[r] : 0))
        return *found;
    return {};
  }

  /// Compares the results of subject `k`, which are at hand now, with those of the subjects before it.
  void note_opinion(std::size_t k) {
    bool shared = false;
    for (auto& opinion : opinions_) {
      opinion.differences[k] = disagreement(k, results_, opinion.results);
      shared = shared || opinion.differences[k].empty();
    }
    if (shared) return;
    Opinion own{std::move(results_), std::vector<std::string>(subjects_.size())};
    results_.clear();
    // Whoever is of another opinion that is near enough is of this one, too.
    std::vector<bool> agrees(subjects_.size());
    for (const auto& opinion : opinions_) {
      const std::string problem = disagreement(k, opinion.results, own.results);
      for (const auto other : members_)
        if (other != k && best_[other] >= 0 && opinion.differences[other].empty()) {
          agrees[other] = agrees[other] || problem.empty();
          own.differences[other] = agrees[other] ? std::string() : problem;
        }
    }
    opinions_.push_back(std::move(own));
  }

  /// Those that are not of an opinion that at least half have are wrong; if there is none, those that are not
  /// of the first.
  void check_agreement() {
    std::vector<std::size_t> sound;
    for (const auto k : members_)
      if (best_[k] >= 0) sound.push_back(k);
    if (opinions_.empty()) return;
    const Opinion* right = &opinions_.front();
    for (const auto& opinion : opinions_) {
      const auto others = std::count_if(sound.begin(), sound.end(),
                                        [&](std::size_t k) { return !opinion.differences[k].empty(); });
      if (static_cast<std::size_t>(others) * 2 > sound.size() && sound.size() > 2) continue;
      right = &opinion;
      break;
    }
    for (const auto k : sound) {
      if (right->differences[k].empty()) continue;
      best_[k] = -1;
      tell({.kind = Message::Kind::wrong}, k, right->differences[k]);
    }
  }

  void timed_round(std::size_t k) {
    tell({.kind = Message::Kind::begins}, k);
    const double each = std::max(best_[k], 1e-7) + surrounding_;
    const int runs = std::clamp(static_cast<int>(options_.round_seconds / each), 1, 64);
    try {
      device_.settle();
      if (options_.warmed && best_[k] < long_run) subjects_[k].runner->run();
      for (int run = 0; run < runs; ++run) timed_run(k);
    } catch (const std::exception& error) {
      best_[k] = -1;
      tell({.kind = Message::Kind::refused}, k, error.what());
    }
  }

  runtime::Device& device_;
  std::span<const Subject> subjects_;
  std::vector<std::size_t> members_;
  const MeasureOptions& options_;
  std::function<void(const Message&)> tell_;
  Results results_;  // of the subject that ran last for the first time
  std::vector<Opinion> opinions_;
  Results nudged_;
  std::vector<double> noise_;  // by result
  std::vector<double> best_;
  double surrounding_ = 0;  // seconds that it took last
  bool is_verified_ = false;
  std::vector<double> first_times_;  // of the first subject
  /// Times by subject and step, of runs that nothing disturbed, and of the others.
  using StepTimes = std::vector<std::vector<std::vector<double>>>;
  StepTimes steps_;
  StepTimes disturbed_steps_;
};

}  // namespace

void hold(runtime::Device& device, std::span<const Contest> contests, const std::vector<std::size_t>& members,
          const std::function<void(const Message&)>& tell) {
  std::vector<std::unique_ptr<Session>> sessions;
  std::size_t first = 0;
  auto next = members.begin();
  for (const auto& contest : contests) {
    std::vector<std::size_t> own;
    const std::size_t end = first + contest.subjects.size();
    for (; next != members.end() && *next < end; ++next) own.push_back(*next - first);
    if (!own.empty())
      sessions.push_back(std::make_unique<Session>(device, contest.subjects, std::move(own), contest.options,
                                                   [first, &tell](Message message) {
                                                     message.subject += static_cast<std::int32_t>(first);
                                                     tell(message);
                                                   }));
    first = end;
  }
  const auto& stop = contests.front().options.stop;
  for (const auto& session : sessions)
    if (!stop || !stop()) session->begin();
  for (const auto& session : sessions)
    if (!stop || !stop()) session->go_on();
  tell({.kind = Message::Kind::done});
}

double first_quartile(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 4];
}

}  // namespace luminal
