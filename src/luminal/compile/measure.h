#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/compile/surroundings.h"
#include "luminal/op/scalar.h"
#include "luminal/runtime/runner.h"

namespace luminal {

/// How a candidate fared.
struct Timing {
  enum class Outcome : std::uint8_t {
    timed,
    wrong,    // its results are not those of the others, or of the oracle
    crashed,  // it took its process with it
    hung,     // it did not end in the time it was given
    refused,  // it could not be compiled or prepared
    unfit,    // it names places outside of an axis, for its inputs were invented
  };
  Outcome outcome = Outcome::timed;
  /// The first quartile of the runs, of less than four the shortest: the shortest of many is good luck that a
  /// plan does not have every time, and others on the machine make the long ones.
  double seconds = 0;
  double median = 0;
  std::string problem = {};
  /// The same of the runner's steps, where they are asked for; `seconds` is their sum then: what
  /// disturbs a run disturbs one step of it.
  std::vector<double> steps = {};
  /// Whether it must not be taken.
  bool is_failure() const { return outcome != Outcome::timed && outcome != Outcome::unfit; }
  friend bool operator==(const Timing&, const Timing&) = default;
};
std::string_view name(Timing::Outcome outcome);

/// Something to time: a runner, and where the elements of its external buffers lie.
struct Subject {
  runtime::Runner* runner = nullptr;
  struct Given {
    runtime::BufferId buffer;
    std::span<const std::byte> elements;
    bool written = false;  // by runs: each subject has a copy of its own; else see `Surroundings::restore`
  };
  std::vector<Given> given;
  /// What is compared after the first run.
  std::vector<runtime::BufferId> results;
  /// The results begin as `DataBank::unwritten`, and no element of them may stay so.
  bool writes_everything = false;
  /// The part of a run's work that the busiest worker does: see `Stopwatch`.
  double parallel = 1;
};

/// An element that the oracle computed: of result `result`, at this place.
struct KnownElement {
  std::size_t result = 0;
  std::size_t place = 0;
  Scalar value;
};

/// Runs of so many seconds hardly notice what ran before them, and differ little from process to process.
inline constexpr double long_run = 5e-2;

struct MeasureOptions {
  DimMap dims = {};
  int rounds = 6;
  /// So many times that many rounds: what ran between differs, and the lesser time counts. Who is far behind
  /// after the first time is not timed again.
  int moments = 1;
  /// What the first subject took before, if that is known. If it takes longer by more than luck, something
  /// else uses the machine, and all are timed at another moment.
  double first_before = 0;
  /// More rounds, until this much time has passed.
  double least_seconds = 0;
  /// No further round after this much time.
  double most_seconds = std::numeric_limits<double>::infinity();
  /// About what the runs of one subject take in one round.
  double round_seconds = 1e-3;
  /// Whether a subject's first run tells nothing, nor the first one of each round if it is no long one:
  /// memory is touched for the first time, and another subject has filled the caches.
  bool warmed = false;
  /// Only those within this factor of the fastest are timed further, once that is known well enough.
  double keep_within = 1.5;
  /// Seconds after which a silent subject is given up; those in which this process did not run do not count.
  double patience = 10;
  /// Whether each step of a runner is timed.
  bool steps = false;
  /// Whether all subjects write to the same memory: they are programs of one kernel, which write the same
  /// elements.
  bool one_memory = false;
  /// What leaves the caches as they are in a plan, before every timed run.
  const Surroundings* surroundings = nullptr;
  std::vector<KnownElement> known = {};
  /// Whether results may differ by what the last bits of the inputs decide: an optimiser divides gradients
  /// that are nothing but rounding by their size. The first subject runs on changed inputs to find out.
  bool nudged = false;
  /// Asked now and then; true: what has been timed until now is the answer.
  std::function<bool()> stop = {};
};

/// Subjects that compute the same, to be timed against each other.
struct Contest {
  std::vector<Subject> subjects;
  MeasureOptions options;
};
/// By subject; nothing where `stop` came before it was verified and timed.
using Timings = std::vector<std::optional<Timing>>;

/// Times the subjects of each contest: interleaved, several rounds, in a child process, so that one that
/// crashes or hangs costs its contest another child, and the other contests nothing. Subjects whose results
/// disagree with known elements, or with the majority, are wrong. Contests share the child, and what stops
/// the first one stops all; a further moment of one comes after the first moments of all. Devices whose
/// programs cannot run in a child are measured in this process.
std::vector<Timings> measure(runtime::Device& device, std::span<const Contest> contests);

/// Takes what was faster the second time, and what failed then.
void keep_better(Timings& timings, const Timings& again);

}  // namespace luminal
