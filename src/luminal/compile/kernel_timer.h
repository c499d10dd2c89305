#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "luminal/compile/compilation.h"
#include "luminal/compile/data_bank.h"
#include "luminal/compile/options.h"
#include "luminal/compile/timing_record.h"

namespace luminal {

/// A kernel under search: the schedules that were tried, and the best of them.
struct TunedKernel {
  kernel::Kernel kernel;
  std::string key;
  search::Estimate prior;
  codegen::Schedule usual;
  struct Candidate {
    codegen::Schedule schedule;
    Timing timing;
  };
  std::vector<Candidate> candidates;
  std::shared_ptr<runtime::Runner> best_runner;  // of the best candidate, if it was compiled here

  /// The fastest that was right; none if no candidate was.
  const Candidate* best() const;
  /// The few fastest that were right, the fastest first.
  std::vector<const Candidate*> best_few(std::size_t most) const;
  bool has(const codegen::Schedule& schedule) const;
  /// The time of the usual schedule, which is tried first; 0 if it has none.
  double usual_seconds() const;
  /// Whether more than the usual schedule was tried.
  bool is_tuned() const { return candidates.size() > 1 && best() != nullptr; }
};

/// Times schedules of kernels, each once; in a replay what the record has is what they took.
class KernelTimer {
 public:
  struct Limits {
    std::function<bool()> stop;  // the time is over
    std::size_t candidates = 0;  // that may be timed; 0: any number
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
    std::optional<Timing> timing;
    std::optional<std::size_t> compiled;  // its number among what the batch compiles
  };
  struct Step {
    TunedKernel* kernel = nullptr;
    std::vector<Trial> trials;
  };
  /// Steps that are compiled together.
  struct Batch {
    std::vector<Step> steps;
    std::unique_ptr<Compilation> compilation;
  };
  /// Looks up what is known already, and begins to compile the rest, beside what the caller does.
  Batch begin(const std::vector<Request>& requests);
  /// Times them, kernel by kernel: they are candidates of their kernels from now on.
  void finish(Batch& batch);
  /// `begin` and `finish`.
  void time(const std::vector<Request>& requests);
  /// Whether the next batch may be begun before one is finished.
  bool may_begin_ahead() const { return !device_->shares_host_processors(); }
  /// While on, no limit holds and little is timed: a kernel of which no right candidate is known must get
  /// one.
  void set_obliged(bool on) { obliged_ = on; }

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
  Step begun(const Request& request, std::vector<runtime::Plan>& plans);
  std::string key_again(const std::string& what);
  /// What a step's trials took, and last the kernel's best schedule of before; nothing where the time was
  /// over first.
  using Timings = std::vector<std::optional<Timing>>;
  Timings measured(const Step& step, const Compilation* compilation, int rounds, const Timings& before);
  static bool is_disturbed(const TunedKernel& kernel, const Timings& timings);
  void conclude(const Step& step, const Timings& timings, const Compilation* compilation);
  void remember_best(TunedKernel& kernel, const std::optional<Timing>& measured);
  bool must_stop() const { return !obliged_ && limits_.stop && limits_.stop(); }

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
  bool obliged_ = false;
};

}  // namespace luminal
