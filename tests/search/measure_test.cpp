// Timing: what is told of runs that are broken off, disturbed, or timed step by step.
#include "luminal/compile/measure.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "luminal/compile/data_bank.h"
#include "luminal/luminal.h"
#include "luminal/support/text.h"
#include "wrapped_device.h"

namespace luminal {
namespace {

using Clock = std::chrono::steady_clock;

/// Runners of one small graph, each with statements of its own at the beginning of its kernel, and at its
/// end.
class Runners {
 public:
  explicit Runners(const std::vector<std::string>& statements, const std::vector<std::string>& ends = {}) {
    const Tensor x = g_.named_tensor("x", {64});
    (x * 2.0F).retrieve();
    for (std::size_t n = 0; n < statements.size(); ++n) {
      const auto device = std::make_shared<test::WrappedDevice>([&](const codegen::Source& source) {
        codegen::Source changed = source;
        changed.text = test::with_statement(source, statements[n]);
        return n < ends.size() ? test::with_end(changed, ends[n]) : changed.text;
      });
      CompileOptions options;
      options.cache = false;
      runtime::Plan plan = compile(g_, device, options).plan();
      Subject subject{.runner = nullptr, .given = {}, .results = {}};
      for (std::size_t k = 0; k < plan.buffers.size(); ++k) {
        auto& buffer = plan.buffers[k];
        if (buffer.is_output) {
          subject.results.emplace_back(k);
          subject.given.push_back({runtime::BufferId(k), unwritten_, true});
          subject.writes_everything = true;
          buffer.role = runtime::BufferInfo::Role::external;
        } else if (buffer.role == runtime::BufferInfo::Role::external) {
          subject.given.push_back({runtime::BufferId(k), std::as_bytes(std::span(elements_))});
        }
      }
      runners_.push_back(
          std::make_unique<runtime::Runner>(device, std::make_shared<const runtime::Plan>(std::move(plan))));
      subject.runner = runners_.back().get();
      subjects_.push_back(std::move(subject));
    }
  }
  std::vector<std::optional<Timing>> measured(const MeasureOptions& options, runtime::Device& device) {
    const Contest own = contest(options);
    return measure(device, std::span(&own, 1)).front();
  }
  std::vector<std::optional<Timing>> measured(const MeasureOptions& options) {
    return measured(options, *luminal::device("cpu"));
  }
  Contest contest(const MeasureOptions& options) const { return {subjects_, options}; }
  const runtime::Plan& plan() const { return runners_.front()->plan(); }

 private:
  Graph g_;
  std::vector<float> elements_ = std::vector<float>(64, 3);
  std::vector<std::byte> unwritten_ = std::vector<std::byte>(64 * sizeof(float), DataBank::unwritten);
  std::vector<std::unique_ptr<runtime::Runner>> runners_;
  std::vector<Subject> subjects_;
};

std::vector<Timing::Outcome> outcomes(const std::vector<std::optional<Timing>>& timings) {
  std::vector<Timing::Outcome> result;
  for (const auto& timing : timings) result.push_back(timing.value().outcome);
  return result;
}

/// The result's elements are 6; afterwards one is something else.
std::string wrong(std::string_view element) {
  return cat("  if (task == 0) ((float*)buffers[1])[5] = ", element, ";\n");
}

constexpr auto timed = Timing::Outcome::timed;
constexpr auto is_wrong = Timing::Outcome::wrong;

/// What another one has written into the memory that all share is no excuse.
TEST(Measure, WhoWritesNothingIsWrong) {
  for (const bool one_memory : {false, true}) {
    Runners runners({"", "  return;\n", ""});
    EXPECT_EQ(outcomes(runners.measured({.one_memory = one_memory})), (std::vector{timed, is_wrong, timed}));
  }
}

TEST(Measure, TheMajorityIsRight) {
  const std::vector<std::string> same(5);
  // Rounding explains 0.012.
  EXPECT_EQ(outcomes(Runners(same, {"", wrong("6.01f"), "", wrong("5.99f"), ""}).measured({})),
            (std::vector{timed, timed, timed, timed, timed}));
  EXPECT_EQ(outcomes(Runners(same, {wrong("7"), wrong("7"), "", "", ""}).measured({})),
            (std::vector{is_wrong, is_wrong, timed, timed, timed}));
  EXPECT_EQ(outcomes(Runners(same, {"", wrong("7"), "", wrong("8"), wrong("9")}).measured({})),
            (std::vector{timed, is_wrong, timed, is_wrong, is_wrong}))
      << "where nobody has a majority, the first is right";
  EXPECT_EQ(outcomes(Runners({"", ""}, {"", wrong("7")}).measured({})), (std::vector{timed, is_wrong}));
}

/// A NaN is like no number: it does not excuse the others, nor they it.
TEST(Measure, NotANumberIsAnOpinion) {
  for (const std::string_view other : {"__builtin_nanf(\"\")", "__builtin_inff()"}) {
    const std::vector<std::string> same(3);
    EXPECT_EQ(outcomes(Runners(same, {wrong(other), "", ""}).measured({})),
              (std::vector{is_wrong, timed, timed}));
    EXPECT_EQ(outcomes(Runners(same, {"", "", wrong(other)}).measured({})),
              (std::vector{timed, timed, is_wrong}));
    EXPECT_EQ(outcomes(Runners(same, {wrong(other), wrong(other), wrong(other)}).measured({})),
              (std::vector{timed, timed, timed}));
  }
}

std::string spinning(long rounds) {
  return cat("  if (task == 0) for (volatile long spin = 0; spin < ", rounds, "; ++spin) {}\n");
}

/// Nobody has compared the first one's results yet.
TEST(Measure, WhatIsBrokenOffBeforeItIsVerifiedHasNoTime) {
  Runners runners({"", spinning(3'000'000'000)});
  const auto start = Clock::now();
  MeasureOptions options;
  options.stop = [&] { return Clock::now() - start > std::chrono::milliseconds(300); };
  const auto timings = runners.measured(options);
  EXPECT_FALSE(timings[0]);
  EXPECT_FALSE(timings[1]);
}

TEST(Measure, WhatIsBrokenOffLaterHasItsTimeUntilThen) {
  Runners runners({"", spinning(1000)});
  const auto start = Clock::now();
  MeasureOptions options;
  options.least_seconds = 1000;
  options.stop = [&] { return Clock::now() - start > std::chrono::milliseconds(500); };
  const auto timings = runners.measured(options);
  ASSERT_TRUE(timings[0] && timings[1]);
  EXPECT_GT(timings[0]->seconds, 0);
  EXPECT_LT(timings[0]->seconds, timings[1]->seconds);
}

/// Counts how often something is about to be timed in this process, or in a child as it begins.
class Counting : public test::WrappedDevice {
 public:
  explicit Counting(bool children)
      : WrappedDevice([](const codegen::Source& source) { return source.text; }), children_(children) {}
  bool restart_in_child() override { return children_ && WrappedDevice::restart_in_child(); }
  void settle() override { ++settled; }
  int settled = 0;

 private:
  bool children_;
};

/// A device of which the first children die before they begin anything.
class Dying : public Counting {
 public:
  explicit Dying(int deaths) : Counting(true), deaths_(deaths) {}
  bool restart_in_child() override {
    if (settled <= deaths_) ::_exit(3);
    return Counting::restart_in_child();
  }

 private:
  int deaths_;
};

TEST(Measure, ADeathBeforeTheFirstKernelMayBeBadLuckOnce) {
  const Runners runners({"", ""});
  const Contest contest = runners.contest({});
  Dying once(1);
  EXPECT_EQ(outcomes(measure(once, std::span(&contest, 1)).front()), (std::vector{timed, timed}));
  Dying twice(2);
  const auto timings = measure(twice, std::span(&contest, 1)).front();
  EXPECT_EQ(outcomes(timings), (std::vector{Timing::Outcome::crashed, Timing::Outcome::crashed}));
  EXPECT_EQ(timings[0]->problem, "its process ended with status 3");
}

/// A device whose children share memory: kernels write down there which children ran them.
class Numbering : public Counting {
 public:
  Numbering() : Counting(true) {
    void* memory = ::mmap(nullptr, kernels * sizeof(long) + sizeof(long), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory to share");
    words_ = static_cast<long*>(memory);
  }
  ~Numbering() override { ::munmap(words_, kernels * sizeof(long) + sizeof(long)); }
  Numbering(const Numbering&) = delete;
  Numbering& operator=(const Numbering&) = delete;
  bool restart_in_child() override {
    ++words_[kernels];
    return Counting::restart_in_child();
  }
  std::string statement(int kernel) const {
    const auto address = [this](int word) { return reinterpret_cast<std::uintptr_t>(words_ + word); };
    return cat("  if (task == 0) *(volatile long*)", address(kernel), "UL |= 1L << *(volatile long*)",
               address(kernels), "UL;\n");
  }
  /// The first child is 1.
  bool was_run(int kernel, int child) const { return (words_[kernel] >> child & 1) != 0; }

 private:
  static constexpr int kernels = 3;
  long* words_;
};

TEST(Measure, ACrashCostsOnlyItsContestASecondRun) {
  Numbering device;
  const Runners before({device.statement(0)});
  const Runners crashing({device.statement(1), "  *(volatile int*)0 = 1;\n"});
  const Runners after({device.statement(2)});
  const Contest contests[] = {before.contest({}), crashing.contest({}), after.contest({})};
  const auto timings = measure(device, contests);
  EXPECT_EQ(outcomes(timings[0]), std::vector{timed});
  EXPECT_GT(timings[0][0]->seconds, 0);
  EXPECT_EQ(outcomes(timings[1]), (std::vector{timed, Timing::Outcome::crashed}));
  EXPECT_EQ(outcomes(timings[2]), std::vector{timed});
  EXPECT_TRUE(device.was_run(0, 1) && !device.was_run(0, 2)) << "its times were known";
  EXPECT_TRUE(device.was_run(1, 1) && device.was_run(1, 2));
  EXPECT_TRUE(!device.was_run(2, 1) && device.was_run(2, 2));
}

TEST(Measure, ContestsShareAChild) {
  const Runners good({"", ""});
  const Runners bad({"", "  *(volatile int*)0 = 1;\n", "  return;\n", ""});
  const Runners last({""});
  const Contest contests[] = {good.contest({}), bad.contest({}), last.contest({.moments = 2})};
  Counting device(true);
  const auto timings = measure(device, contests);
  EXPECT_EQ(device.settled, 2) << "here before each child: the first, and the one after the crash";
  ASSERT_EQ(timings.size(), 3U);
  EXPECT_EQ(outcomes(timings[0]), (std::vector{timed, timed}));
  EXPECT_EQ(outcomes(timings[1]), (std::vector{timed, Timing::Outcome::crashed, is_wrong, timed}));
  EXPECT_EQ(outcomes(timings[2]), std::vector{timed});
}

TEST(Measure, AnotherMomentIsWantedOrNeeded) {
  const auto settled = [](const MeasureOptions& options) {
    Counting device(false);
    Runners({spinning(100'000)}).measured(options, device);
    return device.settled;
  };
  constexpr int rounds = 6;
  const int once = settled({.rounds = rounds});
  EXPECT_EQ(once, 1 + 1 + rounds);  // for all, for the first run, for each round
  EXPECT_EQ(settled({.rounds = rounds, .moments = 2}), once + rounds);
  EXPECT_EQ(settled({.rounds = rounds, .first_before = 1e-9}), once + rounds) << "it took longer than before";
  EXPECT_EQ(settled({.rounds = rounds, .first_before = 10}), once);
}

/// Where all runs are interrupted, their times are all there is.
TEST(Measure, BusyMachinesHaveTimesToo) {
  std::atomic<bool> over{false};
  std::vector<std::thread> busy;
  for (unsigned k = 0; k < 2 * std::max(2U, std::thread::hardware_concurrency()); ++k)
    busy.emplace_back([&] {
      while (!over) {
      }
    });
  Runners runners({spinning(8'000'000), spinning(8'000'001)});
  const auto timings = runners.measured({.rounds = 3, .warmed = true});
  over = true;
  for (auto& thread : busy) thread.join();
  for (const auto& timing : timings) {
    ASSERT_TRUE(timing);
    EXPECT_EQ(timing->outcome, Timing::Outcome::timed);
    EXPECT_GT(timing->seconds, 0);
  }
}

TEST(Measure, StepsMakeUpTheWhole) {
  Runners runners({spinning(100'000), spinning(100'001)});
  const auto timings = runners.measured({.warmed = true, .steps = true});
  for (const auto& timing : timings) {
    ASSERT_TRUE(timing);
    EXPECT_EQ(timing->steps.size(), runners.plan().steps.size());
    EXPECT_GT(timing->seconds, 0);
    EXPECT_DOUBLE_EQ(timing->seconds, std::accumulate(timing->steps.begin(), timing->steps.end(), 0.0));
    EXPECT_LE(timing->seconds, timing->median);
  }
}

/// Of ten runs one is short, by luck.
TEST(Measure, TheShortestRunsAreLuck) {
  const std::string lucky =
      "  static long luck = 0;\n"
      "  if (++luck % 10 != 0) for (volatile long spin = 0; spin < 30000; ++spin) {}\n";
  for (const bool steps : {false, true}) {
    Runners runners({lucky, lucky});
    for (const auto& timing : runners.measured({.steps = steps})) {
      ASSERT_TRUE(timing);
      EXPECT_GT(timing->seconds, 0.3 * timing->median) << (steps ? "by steps" : "whole");
    }
  }
}

/// Sizes of every kind: no word, a part of one, fewer than workers, much, more than stays in caches.
TEST(Surroundings, LeaveWhatKernelsReadAsItIs) {
  const auto device = luminal::device("cpu");
  const Surroundings surroundings(*device, 3 << 20);
  const Surroundings nothing_else(*device, 0);
  for (const std::size_t bytes : {0U, 3U, 8U, 12U, 24U, 4001U, 1U << 20, 9U << 20}) {
    std::vector<std::byte> elements(bytes);
    for (std::size_t k = 0; k < bytes; ++k) elements[k] = static_cast<std::byte>(k * 7 + k / 251);
    const std::vector<std::byte> before = elements;
    const std::span<const std::byte> inputs[] = {elements, elements};
    for (const auto* which : {&surroundings, &nothing_else}) which->restore(inputs);
    EXPECT_EQ(elements, before) << bytes << " bytes";
  }
}

/// The CPU, in this process, with its launches counted.
class CountingDevice : public test::WrappedDevice {
 public:
  CountingDevice() : WrappedDevice([](const codegen::Source& source) { return source.text; }) {}
  bool restart_in_child() override { return false; }
  void run(const runtime::Launch& launch) override {
    ++launches;
    WrappedDevice::run(launch);
  }
  std::atomic<int> launches = 0;
};

/// The kernel counts its runs where the test sees it.
TEST(Surroundings, AreThereBeforeEveryTimedRun) {
  static std::atomic<int> runs;
  runs = 0;
  CountingDevice device;
  const Surroundings surroundings(device, 1 << 20);
  Runners runners({cat("  ++*(volatile int*)", reinterpret_cast<std::uintptr_t>(&runs), "ULL;\n")});
  const auto timings = runners.measured({.surroundings = &surroundings}, device);
  ASSERT_TRUE(timings[0]);
  EXPECT_EQ(timings[0]->outcome, Timing::Outcome::timed) << timings[0]->problem;
  EXPECT_GT(runs, 6);
  // Not before the first run, whose time does not count; the memory of others, and the one input.
  EXPECT_EQ(device.launches, 2 * (runs - 1));
}

}  // namespace
}  // namespace luminal
