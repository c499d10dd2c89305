#include "luminal/compile/measure.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <numeric>
#include <utility>

#include "luminal/compile/contest.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

std::string_view name(Timing::Outcome outcome) {
  constexpr std::string_view names[] = {"timed", "wrong", "crashed", "hung", "refused", "unfit"};
  return names[static_cast<std::size_t>(outcome)];
}

namespace {

using Message = ContestMessage;

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
      case Message::Kind::over:
        runs_[k].over = true;
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
  /// Where none has begun, it may be any of them.
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
  /// Before another child: it runs those again of whose contests the last one had not timed all.
  void restart() {
    for (std::size_t k = 0; k < timings_.size(); ++k) {
      if (runs_[k].over) close(k, false);
      runs_[k] = {};
    }
    current_.reset();
  }

  std::optional<std::size_t> current() const { return current_; }

  Timings finish(bool broken_off) {
    for (std::size_t k = 0; k < timings_.size(); ++k) close(k, broken_off);
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
    bool over = false;               // all of its contest were timed at a moment
    std::optional<Timing> shortest;  // of the moments that have ended
  };
  std::vector<Runs> runs_;
  std::optional<std::size_t> current_;  // the subject that runs

  void close(std::size_t k, bool broken_off) {
    if (timings_[k]) return;
    end_moment(k, broken_off);
    timings_[k] = std::move(runs_[k].shortest);
  }

  /// Times of runs that nothing disturbed, where there are some. Of what was broken off only those that were
  /// verified, and ran after their first run, have a time.
  void end_moment(std::size_t k, bool broken_off) {
    auto& runs = runs_[k];
    if (broken_off && !runs.verified) return;
    auto& list = !runs.sound.empty()                  ? runs.sound
                 : !runs.others.empty() || broken_off ? runs.others
                                                      : runs.first;
    if (list.empty()) return;
    Timing timing{.seconds = first_quartile(list)};
    timing.median = list[list.size() / 2];
    if (!runs.steps.empty()) timing.seconds = std::accumulate(runs.steps.begin(), runs.steps.end(), 0.0);
    timing.steps = std::move(runs.steps);
    if (!runs.shortest || timing.seconds < runs.shortest->seconds) runs.shortest = std::move(timing);
    for (auto* times : {&runs.first, &runs.sound, &runs.others, &runs.told, &runs.steps}) times->clear();
  }
};

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
  bool began_nothing = false;  // a child: that may be bad luck once
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
    if (!ledger.current() && !std::exchange(began_nothing, true)) continue;
    if (ending == Ending::silent) {
      const double patience = options[ledger.current().value_or(0)]->patience;
      ledger.fail_current(Timing::Outcome::hung, cat("did not end within ", patience, " s"));
    } else {
      ledger.fail_current(Timing::Outcome::crashed, death(status));
    }
    ledger.restart();
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
