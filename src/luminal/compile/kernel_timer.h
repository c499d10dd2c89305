#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "luminal/codegen/nest_shape.h"
#include "luminal/compile/compilation.h"
#include "luminal/compile/data_bank.h"
#include "luminal/compile/options.h"
#include "luminal/compile/timing_record.h"
#include "luminal/compile/traits.h"

namespace luminal {

/// A kernel under search: the schedules that were tried, and the best of them.
struct TunedKernel {
  kernel::Kernel kernel;
  std::string key;
  search::Estimate prior;
  Traits traits = {};
  codegen::Schedule usual;
  std::vector<codegen::NestShape> nests;
  struct Candidate {
    codegen::Schedule schedule;
    Timing timing;
    std::uint64_t source = 0;  // the hash of its program
  };
  std::vector<Candidate> candidates;
  std::set<std::string> same;                    // schedules, as text, that give the program of a candidate
  std::shared_ptr<runtime::Runner> best_runner;  // of the best candidate, if it was compiled here
  static constexpr std::size_t some = 4;         // candidates to begin with, where one says little
  std::size_t tried_first = 1;                   // candidates that it began with
  double patience = 10;                          // seconds that a run may take while nothing is known of it
  int steps = 0;                                 // of its tuning,
  double hope = 1;                               // and of the next one: falls with each that found nothing

  /// The fastest that was right; none if no candidate was.
  const Candidate* best() const;
  /// What the fastest took, or what the roofline says.
  double seconds() const { return best() != nullptr ? best()->timing.seconds : prior.seconds; }
  /// The few fastest that were right, the fastest first.
  std::vector<const Candidate*> best_few(std::size_t most) const;
  /// Whether it was tried, or gives the same program as one that was.
  bool has(const codegen::Schedule& schedule) const;
  /// How many schedules it has.
  std::size_t seen() const { return candidates.size() + same.size(); }
  /// The time of the usual schedule, which is tried first; 0 if it has none.
  double usual_seconds() const;
  /// Whether the usual schedule is one of tiles.
  bool has_tiles() const;
  /// The best time of the first so many candidates; 0 if they have none.
  double best_of_first(std::size_t many) const;
  /// Of those that it began with.
  double first_seconds() const { return best_of_first(tried_first); }
  /// Whether more was tried than at first.
  bool is_tuned() const { return candidates.size() > tried_first && best() != nullptr; }
  /// Whether it cannot be timed, for nobody knows inputs that it can read.
  bool is_unfit() const;
  /// Whether the usual schedule was found to be wrong, to crash or to hang.
  bool fails_as_usual() const;
  /// Whether it did not end in time.
  bool hangs_as_usual() const;
};

/// Times schedules of kernels, each once; in a replay what the record has is what they took.
class KernelTimer {
 public:
  /// Programs that are compiled together, to be timed one after the other.
  static constexpr std::size_t programs_at_once = 8;
  struct Limits {
    std::function<bool()> stop;       // the time is over, or it was interrupted
    std::function<bool()> cancelled;  // it was interrupted
    std::size_t candidates = 0;       // that may be timed; 0: any number
  };
  /// `scope` is a text for all that timings depend on, beside kernels and schedules.
  KernelTimer(std::shared_ptr<runtime::Device> device, const DimMap& dims, std::string scope,
              const CompileOptions& options, runtime::BinaryStore* store, Limits limits);

  /// What to try of one kernel.
  struct Request {
    TunedKernel* kernel = nullptr;
    std::vector<codegen::Schedule> schedules;
  };
  /// A schedule on its way: its timing is known, or it is compiled.
  struct Trial {
    codegen::Schedule schedule;
    std::string key;
    std::uint64_t source = 0;
    std::optional<Timing> timing = {};
    std::optional<std::size_t> compiled = {};  // its number among what the batch compiles
  };
  struct Step {
    TunedKernel* kernel = nullptr;
    std::vector<Trial> trials;
  };
  /// Steps that are compiled together.
  struct Batch {
    std::vector<Step> steps;
    std::unique_ptr<Compilation> compilation;
    std::size_t begun = 0;  // of its trials
  };
  /// Looks up what is known already, and begins to compile the rest, beside what the caller does.
  Batch begin(const std::vector<Request>& requests);
  /// Times them, kernel by kernel: they are candidates of their kernels from now on.
  void finish(Batch& batch);
  /// Does not: it is as if they had never been begun.
  void drop(Batch& batch);
  /// `begin` and `finish`.
  void time(const std::vector<Request>& requests);
  /// Whether the next batch may be begun before one is finished.
  bool may_begin_ahead() const { return !device_->shares_host_processors(); }
  /// What must be timed, whatever the limits say, is timed shortly: a kernel that was never run, if nobody
  /// interrupts; a kernel of which no right candidate is known, in any case.
  enum class Duty : std::uint8_t { none, unless_cancelled, always };
  void set_duty(Duty duty) { duty_ = duty; }
  /// What a plan reads and writes, so many bytes: see `Surroundings`.
  void set_surroundings(std::size_t bytes);

  /// Timings of whole plans, kept with the rest.
  std::optional<Timing> known(const std::string& key) const;
  void learn(const std::string& key, const Timing& timing);
  std::string key_of(const std::string& what) const;

  /// Whether nothing more may be timed.
  bool is_over() const;
  bool is_replay() const { return replay_ != nullptr; }
  std::size_t timed() const { return timed_; }
  const TimingRecord& record() const { return record_; }
  TimingRecord& record() { return record_; }
  DataBank& bank() { return bank_; }
  const DimMap& dims() const { return dims_; }

 private:
  runtime::Plan plan_of(const TunedKernel& kernel, const codegen::Schedule& schedule) const;
  Subject subject(const TunedKernel& kernel, runtime::Runner& runner);
  void sample(const TunedKernel& kernel);
  std::vector<KnownElement> known_elements(const kernel::Kernel& kernel,
                                           const std::vector<std::span<const std::byte>>& inputs) const;
  Step begun(const Request& request, std::vector<runtime::Plan>& plans);
  void begin_trial(Trial& trial, std::optional<runtime::Plan> plan, std::vector<runtime::Plan>& plans);
  std::string key_again(const std::string& what);
  /// By step: what its trials took, and last the kernel's best schedule of before; nothing where the time was
  /// over first.
  std::vector<Timings> measured(const std::vector<Step>& steps, const Compilation* compilation);
  MeasureOptions options_of(const TunedKernel& kernel, bool several) const;
  void conclude(const Step& step, const Timings& timings, const Compilation* compilation);
  void remember_best(TunedKernel& kernel, const std::optional<Timing>& measured);
  bool must_stop() const;

  /// Elements that the interpreter computed, and what numbers the inputs are then.
  struct Samples {
    std::vector<KnownElement> known;
    std::vector<DataBank::Numbers> inputs;
  };
  std::span<const std::byte> input(const TunedKernel& kernel, std::size_t number, const Samples& samples);

  std::shared_ptr<runtime::Device> device_;
  DimMap dims_;
  runtime::BinaryStore* store_;
  Limits limits_;
  const TimingRecord* replay_;
  TimingRecord record_;
  DataBank bank_;
  std::string scope_;
  std::map<std::string, std::size_t> asked_;  // how often, by key
  std::map<std::string, Samples> samples_;
  std::size_t timed_ = 0;
  std::size_t begun_ = 0;  // in steps that are not finished
  Duty duty_ = Duty::none;
  std::unique_ptr<Surroundings> surroundings_;
};

}  // namespace luminal
