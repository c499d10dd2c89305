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

  /// Schedules of one kernel, on their way.
  struct Step {
    TunedKernel* kernel = nullptr;
    std::vector<codegen::Schedule> schedules;
    std::vector<std::string> keys;
    std::vector<TunedKernel::Candidate> known;  // these were timed before
    std::unique_ptr<Compilation> compilation;
  };
  /// Looks up what is known already, and prepares the rest; `beside`: it is compiled beside what the caller
  /// does.
  Step begin(TunedKernel& kernel, const std::vector<codegen::Schedule>& schedules, bool beside);
  /// Times them: they are candidates of the kernel from now on.
  void finish(Step& step);
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
