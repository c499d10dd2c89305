#include "luminal/compile/measure.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <memory>
#include <numeric>

#include "luminal/compile/agreement.h"
#include "luminal/compile/data_bank.h"
#include "luminal/compile/stopwatch.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

std::string_view name(Timing::Outcome outcome) {
  constexpr std::string_view names[] = {"timed", "wrong", "crashed", "hung", "refused", "unfit"};
  return names[static_cast<std::size_t>(outcome)];
}

namespace {

using Clock = std::chrono::steady_clock;
using Results = std::vector<std::vector<std::byte>>;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The first one, of less than four the least; sorts them.
double quartile(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 4];
}

/// What a child tells its parent; short enough that a pipe keeps it whole.
struct Message {
  enum class Kind : std::int32_t {
    begins,
    verified,
    moment,
    timed,
    step,
    round,
    wrong,
    refused,
    unfit,
    unable,
    done
  };
  Kind kind = Kind::done;
  std::int32_t subject = 0;
  std::int32_t step = 0;  // of the subject's plan
  double seconds = 0;
  bool sound = true;   // of a time: nothing disturbed the run
  bool first = false;  // and nothing ran before it
  char text[200] = {};
};

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
    return options_.first_before > 0 && !times.empty() && quartile(times) > disturbed * options_.first_before;
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
    return round < 4 ? options_.keep_within : std::min(near, options_.keep_within);
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
            .seconds = quartile(steps[step])},
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

/// Collects what sessions tell.
class Ledger {
 public:
  explicit Ledger(std::size_t count) : timings_(count), runs_(count) {}

  void take(const Message& message) {
    const auto k = static_cast<std::size_t>(message.subject);
    if (k >= timings_.size()) return;
    switch (message.kind) {
      case Message::Kind::begins:
        current_ = k;
        return;
      case Message::Kind::verified:
        runs_[k].verified = true;
        return;
      case Message::Kind::moment:
        end_moment(k, false);
        return;
      case Message::Kind::timed:
        (message.first   ? runs_[k].first
         : message.sound ? runs_[k].sound
                         : runs_[k].others)
            .push_back(message.seconds);
        return;
      case Message::Kind::step:
        runs_[k].told.resize(static_cast<std::size_t>(message.step) + 1);
        runs_[k].told.back() = message.seconds;
        return;
      case Message::Kind::round:
        for (auto& runs : runs_) runs.steps = runs.told;
        return;
      case Message::Kind::wrong:
        return fail(k, Timing::Outcome::wrong, message.text);
      case Message::Kind::refused:
        return fail(k, Timing::Outcome::refused, message.text);
      case Message::Kind::unfit:
        return fail(k, Timing::Outcome::unfit, message.text);
      default:
        return;
    }
  }
  void fail(std::size_t k, Timing::Outcome outcome, const std::string& problem) {
    if (!timings_[k]) timings_[k] = Timing{.outcome = outcome, .problem = problem};
  }
  /// A child that has begun nothing is to blame all of them for.
  void fail_current(Timing::Outcome outcome, const std::string& problem) {
    for (const auto k : current_ ? std::vector<std::size_t>{*current_} : open()) fail(k, outcome, problem);
  }

  /// Those that may be timed yet.
  std::vector<std::size_t> open() const {
    std::vector<std::size_t> result;
    for (std::size_t k = 0; k < timings_.size(); ++k)
      if (!timings_[k]) result.push_back(k);
    return result;
  }
  /// Before another child.
  void forget() {
    for (auto& runs : runs_) runs = {};
    current_.reset();
  }

  std::optional<std::size_t> current() const { return current_; }

  Timings finish(bool broken_off) {
    for (std::size_t k = 0; k < timings_.size(); ++k) {
      if (timings_[k]) continue;
      end_moment(k, broken_off);
      timings_[k] = std::move(runs_[k].shortest);
    }
    return std::move(timings_);
  }

 private:
  std::vector<std::optional<Timing>> timings_;
  struct Runs {
    std::vector<double> first;
    std::vector<double> sound;
    std::vector<double> others;
    std::vector<double> told;   // of the steps, in the round that is told of
    std::vector<double> steps;  // after the last round of which all is told
    bool verified = false;
    std::optional<Timing> shortest;  // of the moments that are over
  };
  std::vector<Runs> runs_;
  std::optional<std::size_t> current_;  // the subject that runs

  /// Times of runs that nothing disturbed, where there are some. Of what was broken off only those that were
  /// verified, and ran after their first run, have a time.
  void end_moment(std::size_t k, bool broken_off) {
    auto& runs = runs_[k];
    if (broken_off && !runs.verified) return;
    auto& list = !runs.sound.empty()                  ? runs.sound
                 : !runs.others.empty() || broken_off ? runs.others
                                                      : runs.first;
    if (list.empty()) return;
    Timing timing{.seconds = quartile(list)};
    timing.median = list[list.size() / 2];
    if (!runs.steps.empty()) timing.seconds = std::accumulate(runs.steps.begin(), runs.steps.end(), 0.0);
    timing.steps = std::move(runs.steps);
    if (!runs.shortest || timing.seconds < runs.shortest->seconds) runs.shortest = std::move(timing);
    for (auto* times : {&runs.first, &runs.sound, &runs.others, &runs.told, &runs.steps}) times->clear();
  }
};

/// The contests of which some subjects may be timed yet, one after the other.
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

/// Nothing of the caller's is called in a child, and nothing leaves it but messages.
[[noreturn]] void be_child(runtime::Device& device, std::span<const Contest> contests,
                           const std::vector<std::size_t>& members, int pipe) {
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM}) std::signal(number, SIG_DFL);
  std::signal(SIGINT, SIG_IGN);  // the parent decides
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const auto tell = [pipe](const Message& message) {
    while (::write(pipe, &message, sizeof(message)) < 0 && errno == EINTR) {
    }
  };
  try {
    std::vector<Contest> own(contests.begin(), contests.end());
    for (auto& contest : own) contest.options.stop = {};  // the parent asks
    if (device.restart_in_child())
      hold(device, own, members, tell);
    else
      tell({.kind = Message::Kind::unable});
    ::_exit(0);
  } catch (...) {
    ::_exit(1);
  }
}

/// A process that measures, ended with this at the latest.
class Child {
 public:
  Child(pid_t process, int pipe) : process_(process), pipe_(pipe) {}
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  int pipe() const { return pipe_; }
  /// Whatever it does; its status. One that is done ends by itself.
  int end() {
    int status = 0;
    if (process_ < 0) return status;
    ::close(pipe_);
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
  }

 private:
  pid_t process_;
  int pipe_;
};

enum class Ending : std::uint8_t { done, unable, died, silent, stopped };

/// Reads what the child tells until it ends, or has to be ended. It is silent only while this process runs:
/// whoever stops the one stops the other.
Ending listen(int pipe, const std::vector<const MeasureOptions*>& options, Ledger& ledger) {
  constexpr int wait = 20;  // ms
  double silent = 0;
  for (;;) {
    const auto& stop = options.front()->stop;
    if (stop && stop()) return Ending::stopped;
    pollfd waiting{.fd = pipe, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, wait);
    if (ready < 0 && errno != EINTR) return Ending::died;
    if (ready <= 0) {
      silent += wait * 1e-3;
      if (silent > options[ledger.current().value_or(0)]->patience) return Ending::silent;
      continue;
    }
    Message message;
    const ssize_t size = ::read(pipe, &message, sizeof(message));
    if (size < 0 && errno == EINTR) continue;
    if (size != static_cast<ssize_t>(sizeof(message))) return Ending::died;
    silent = 0;
    if (message.kind == Message::Kind::done) return Ending::done;
    if (message.kind == Message::Kind::unable) return Ending::unable;
    ledger.take(message);
  }
}

/// How a child that died did.
std::string death(int status) {
  if (WIFSIGNALED(status))
    return cat("killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  return cat("its process ended with status ", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

}  // namespace

void keep_better(Timings& timings, const Timings& again) {
  for (std::size_t k = 0; k < again.size(); ++k) {
    if (!again[k]) continue;
    const bool failed = again[k]->outcome != Timing::Outcome::timed;
    if (failed || !timings[k] ||
        (timings[k]->outcome == Timing::Outcome::timed && again[k]->seconds < timings[k]->seconds))
      timings[k] = again[k];
  }
}

std::vector<Timings> measure(runtime::Device& device, std::span<const Contest> contests) {
  std::vector<const MeasureOptions*> options;  // by subject
  for (const auto& contest : contests)
    options.insert(options.end(), contest.subjects.size(), &contest.options);
  Ledger ledger(options.size());
  bool broken_off = false;
  for (;;) {
    const auto members = ledger.open();
    if (members.empty()) break;
    int ends[2] = {-1, -1};
    device.settle();  // a child does not tell what it learnt of the machine
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error("search: cannot make a pipe to time candidates");
    const pid_t child = ::fork();
    if (child < 0) {
      ::close(ends[0]);
      ::close(ends[1]);
      throw Error("search: cannot start a process to time candidates");
    }
    if (child == 0) {
      ::close(ends[0]);
      be_child(device, contests, members, ends[1]);
    }
    ::close(ends[1]);
    Child running(child, ends[0]);
    const Ending ending = listen(running.pipe(), options, ledger);
    const int status = running.end();
    if (ending == Ending::unable) {
      hold(device, contests, members, [&](const Message& message) { ledger.take(message); });
      break;
    }
    broken_off = ending == Ending::stopped;
    if (ending == Ending::done || broken_off) break;
    if (ending == Ending::silent) {
      const double patience = options[ledger.current().value_or(0)]->patience;
      ledger.fail_current(Timing::Outcome::hung, cat("did not end within ", patience, " s"));
    } else {
      ledger.fail_current(Timing::Outcome::crashed, death(status));
    }
    ledger.forget();
  }
  const Timings all = ledger.finish(broken_off);
  std::vector<Timings> result;
  auto from = all.begin();
  for (const auto& contest : contests) {
    const auto to = from + static_cast<std::ptrdiff_t>(contest.subjects.size());
    result.emplace_back(from, to);
    from = to;
  }
  return result;
}

}  // namespace luminal
