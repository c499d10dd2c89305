// The measured search: what it finds is right, within its budget, and the same again from its record.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "luminal/codegen/schedule_text.h"
#include "luminal/codegen/variants.h"
#include "luminal/compile/timing_record.h"
#include "luminal/kernel/serial.h"
#include "luminal/luminal.h"
#include "luminal/support/hash.h"
#include "src/luminal/cli/models.h"
#include "tests/compile/compare.h"
#include "tests/compile/random_model.h"
#include "wrapped_device.h"

namespace luminal {
namespace {

using namespace std::chrono_literals;
using test::searching;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Mlp {
  Mlp() {
    const nn::Scope scope(g);
    const nn::Linear first(scope / "first", 96, 160);
    const nn::Linear second(scope / "second", 160, 40);
    second(first(g.named_tensor("x", {48, 96})).gelu()).softmax(-1).retrieve();
    cli::fill(g);
  }
  Graph g;
};

void expect_right(Graph& graph, Executable exe) {
  exe.run();
  graph.execute();
  for (const auto& value : graph.dag().outputs()) {
    const auto wrong = test::difference(exe.array(graph.at(value)), graph.at(value).array(), false, 5e-4);
    EXPECT_FALSE(wrong) << *wrong;
  }
}

/// Everything that a plan is.
std::string bytes_of(const Executable& exe) {
  std::string text = runtime::print(exe.plan());
  for (const auto& kernel : exe.plan().kernels)
    text += codegen::text(kernel.schedule) + "\n" + kernel.source.text;
  return text;
}

TEST(Search, TimesCandidatesAndIsRight) {
  Mlp model;
  Executable exe = compile(model.g, device("cpu"), searching(60s, 60));
  ASSERT_NE(exe.search_report(), nullptr);
  const SearchReport& report = *exe.search_report();
  EXPECT_GE(report.candidates, 20U);
  std::set<std::string> distinct;
  for (const auto& kernel : report.kernels)
    for (const auto& candidate : kernel.candidates) distinct.insert(kernel.key + candidate.schedule);
  EXPECT_GE(distinct.size(), 20U);
  std::size_t chosen = 0;
  for (const auto& plan : report.plans) chosen += plan.chosen ? 1 : 0;
  EXPECT_EQ(chosen, 1U);
  expect_right(model.g, exe);
}

TEST(Search, TrainingStepsAndDynamicDimsAreRight) {
  for (const auto* name : {"mnist-training", "llama-decode", "bert"}) {
    SCOPED_TRACE(name);
    for (const auto& model : cli::model_suite()) {
      if (model.name != name) continue;
      Graph g = model.build(true);
      cli::fill(g);
      expect_right(g, compile(g, device("cpu"), searching(3s)));
    }
  }
}

/// Benchmarks of training steps measure numbers, not NaNs.
TEST(Search, ModelsThatTrainStayFinite) {
  for (const auto& model : cli::model_suite()) {
    if (!model.trains) continue;
    SCOPED_TRACE(model.name);
    Graph g = model.build(true);
    cli::fill(g);
    Executable exe = compile(g, device("cpu"));
    for (int run = 0; run < 3; ++run) exe.run();
    for (const auto& [state, value] : g.dag().assignments()) {
      const Array array = exe.array(g.at(state));
      for (std::int64_t i = 0; i < array.size(); ++i)
        ASSERT_TRUE(std::isfinite(to_double(array.at(i)))) << g.dag().node(state).name;
    }
  }
}

TEST(Search, ReplayIsByteIdentical) {
  const Mlp model;
  TimingRecord record;
  CompileOptions options = searching(60s, 40);
  options.record = &record;
  const std::string first = bytes_of(compile(model.g, device("cpu"), options));
  const TimingRecord kept = TimingRecord::parse(record.text());
  EXPECT_EQ(kept.text(), record.text());
  for (int again = 0; again < 10; ++again) {
    TimingRecord taken;
    CompileOptions replaying = searching(1ms, 40);  // time does not count
    replaying.replay = &kept;
    replaying.record = &taken;
    EXPECT_EQ(bytes_of(compile(model.g, device("cpu"), replaying)), first);
    EXPECT_EQ(taken.text(), record.text());
  }
}

/// What is compiled while candidates are timed changes nothing.
TEST(Search, DevicesWithProcessorsOfTheirOwnCompileAhead) {
  Mlp model;
  const auto apart =
      std::make_shared<test::WrappedDevice>([](const codegen::Source& source) { return source.text; }, true);
  TimingRecord record;
  CompileOptions options = searching(60s, 60);
  options.record = &record;
  const Executable exe = compile(model.g, apart, options);
  EXPECT_GE(exe.search_report()->candidates, 60U);
  expect_right(model.g, exe);
  CompileOptions replaying = searching(1ms, 60);
  replaying.replay = &record;
  EXPECT_EQ(bytes_of(compile(model.g, apart, replaying)), bytes_of(exe));
}

TEST(Search, CandidateBudget) {
  const Mlp model;
  for (const std::size_t most : {1U, 7U, 30U}) {
    const Executable exe = compile(model.g, device("cpu"), searching(60s, most));
    EXPECT_LE(exe.search_report()->candidates, most + 5) << "five whole plans beside the kernels";
    EXPECT_GE(exe.search_report()->candidates, std::min<std::size_t>(most, 1));
  }
}

TEST(Search, TimeBudget) {
  Mlp model;
  for (const auto budget : {1ms, 1000ms, 3000ms}) {
    const auto start = std::chrono::steady_clock::now();
    const Executable exe = compile(model.g, device("cpu"), searching(budget));
    // What is begun is ended: one batch of kernels, or one run, on a busy machine.
    EXPECT_LT(seconds_since(start), std::chrono::duration<double>(budget).count() * 1.1 + 8);
    expect_right(model.g, exe);
  }
}

TEST(Search, CancelAtAnyInstantLeavesAPlan) {
  Mlp model;
  for (const auto after : {0ms, 20ms, 150ms, 600ms, 1500ms}) {
    std::atomic<bool> cancel{false};
    CompileOptions options = searching(30s);
    options.cancel = &cancel;
    std::thread other([&] {
      std::this_thread::sleep_for(after);
      cancel = true;
    });
    const auto start = std::chrono::steady_clock::now();
    Executable exe = compile(model.g, device("cpu"), options);
    EXPECT_LT(seconds_since(start), std::chrono::duration<double>(after).count() + 6);
    other.join();
    expect_right(model.g, exe);
  }
}

std::size_t count(const SearchReport& report, Timing::Outcome outcome) {
  std::size_t found = 0;
  for (const auto& kernel : report.kernels)
    for (const auto& candidate : kernel.candidates) {
      found += candidate.timing.outcome == outcome ? 1 : 0;
      if (candidate.timing.outcome != Timing::Outcome::timed) {
        EXPECT_FALSE(candidate.chosen);
      }
    }
  return found;
}

/// A third of the programs does nothing: faster than anything right, and wrong.
TEST(Search, WrongKernelsAreCaught) {
  Mlp model;
  for (const std::uint64_t which : {0U, 1U, 2U}) {
    std::size_t changed = 0;
    const auto wrong = std::make_shared<test::WrappedDevice>([&](const codegen::Source& source) {
      if (Hash(5).add(source.text).value() % 3 != which) return source.text;
      ++changed;
      return test::with_statement(source, "  return;\n");
    });
    const Executable exe = compile(model.g, wrong, searching(60s, 40));
    EXPECT_GT(changed, 0U);
    EXPECT_GT(count(*exe.search_report(), Timing::Outcome::wrong), 0U);
    expect_right(model.g, exe);
  }
}

/// Wrong in the last task only: what a tail handled badly looks like.
TEST(Search, KernelsThatAreWrongInPlacesAreCaught) {
  Mlp model;
  std::size_t changed = 0;
  const auto wrong = std::make_shared<test::WrappedDevice>([&](const codegen::Source& source) {
    if (Hash(6).add(source.text).value() % 4 != 0) return source.text;
    ++changed;
    return test::with_statement(source, "  if (task == 1) return;\n");
  });
  const Executable exe = compile(model.g, wrong, searching(60s, 40));
  EXPECT_GT(changed, 0U);
  EXPECT_GT(count(*exe.search_report(), Timing::Outcome::wrong), 0U);
  expect_right(model.g, exe);
}

TEST(Search, CrashesAreContained) {
  Mlp model;
  const auto crashing = std::make_shared<test::WrappedDevice>([&](const codegen::Source& source) {
    if (Hash(7).add(source.text).value() % 5 != 0) return source.text;
    return test::with_statement(source, "  *(volatile int*)8 = 1;\n");
  });
  const Executable exe = compile(model.g, crashing, searching(60s, 40));
  EXPECT_GT(count(*exe.search_report(), Timing::Outcome::crashed), 0U);
  expect_right(model.g, exe);
}

TEST(Search, HangsAreContained) {
  Mlp model;
  std::set<std::string> hung;
  const auto hanging = std::make_shared<test::WrappedDevice>([&](const codegen::Source& source) {
    // One candidate only, a while into the search: waiting for it costs seconds.
    if (hung.empty() && Hash(8).add(source.text).value() % 7 == 0) hung.insert(source.text);
    if (!hung.contains(source.text)) return source.text;
    return test::with_statement(source, "  volatile i64 forever = 1; while (forever) { }\n");
  });
  const Executable exe = compile(model.g, hanging, searching(60s, 40));
  ASSERT_EQ(hung.size(), 1U);
  EXPECT_EQ(count(*exe.search_report(), Timing::Outcome::hung), 1U);
  expect_right(model.g, exe);
}

TEST(Search, DimsThatChecksRefuseAreAnError) {
  Graph g;
  const Tensor x = g.named_tensor("x", {Expr("n"), 8});
  x.reshape({Expr("n") / 2, 16}).sum().retrieve();
  CompileOptions options = searching(1s);
  options.tune_dims = {{"n", 3}};
  EXPECT_THROW(compile(g, device("cpu"), options), Error);
}

TEST(Search, SchedulesAndKernelsReadBackAsWritten) {
  const auto machine = device("cpu")->machine();
  std::size_t kernels = 0;
  for (std::uint64_t seed = 1; seed < 25; ++seed) {
    test::RandomModel model(seed);
    CompileOptions options;
    options.cache = false;
    const Executable exe = compile(model.graph, device("cpu"), options);
    for (const auto& planned : exe.plan().kernels) {
      ++kernels;
      kernel::Writer out;
      out.kernel(planned.kernel);
      const std::string text = out.take();
      kernel::Reader in(text);
      const kernel::Kernel read = in.kernel();
      EXPECT_TRUE(in.at_end());
      EXPECT_EQ(kernel::print(read), kernel::print(planned.kernel));
      kernel::Writer again;
      again.kernel(read);
      EXPECT_EQ(again.take(), text);
      std::set<std::string> seen = {codegen::text(planned.schedule)};
      for (const auto& variant : codegen::schedule_variants(planned.kernel, machine, {})) {
        EXPECT_TRUE(seen.insert(codegen::text(variant)).second) << "twice: " << codegen::text(variant);
        EXPECT_EQ(codegen::text(codegen::parse_schedule(codegen::text(variant))), codegen::text(variant));
      }
    }
  }
  EXPECT_GT(kernels, 20U);
  for (const auto* bad : {"lanes", "lanes=x", "tile=3", "cover=-1", "what=1", "lanes=1  grain=2"})
    EXPECT_THROW(codegen::parse_schedule(bad), Error) << bad;
}

TEST(Search, RecordsRefuseWhatIsNoRecord) {
  const std::string head = "luminal timings 2\n";
  EXPECT_EQ(TimingRecord::parse(head + "key timed 1 2\nend 1\n").size(), 1U);
  for (const std::string& bad :
       {std::string(), std::string("something"), std::string("luminal timings 1\nend 0\n"), head,
        head + "key\nend 1\n", head + "key timed x y\nend 1\n", head + "key odd 1 2\nend 1\n",
        head + "ceilings 1 2\nend 0\n", head + "ceilings 0 1 1 1 1 1 1 1 1\nend 0\n",
        head + "ceilings -1 1 1 1 1 1 1 1 1\nend 0\n", head + "key timed nan 2\nend 1\n",
        head + "key timed inf 2\nend 1\n", head + "key timed -1 2\nend 1\n", head + "key timed 1 2\n",
        head + "key timed 1 2\nend 1", head + "key timed 1 2\nend 2\n",
        head + "key timed 1 2\nend 1\nkey timed 1 2\n"})
    EXPECT_THROW(TimingRecord::parse(bad), Error) << bad;
}

/// Every schedule that the search may try gives the kernel's meaning, on random graphs.
TEST(Search, RandomVariantsAreRight) {
  for (const int trial : test::shard(test::trials(10, 300))) {
    SCOPED_TRACE(trial);
    test::RandomModel model(static_cast<std::uint64_t>(trial) + 100);
    try {
      Executable exe = compile(model.graph, device("cpu"), searching(0.7s));
      exe.run();
      model.graph.execute();
      for (const auto& tensor : model.graph.dag().outputs()) {
        const auto wrong = test::difference(exe.array(model.graph.at(tensor)), model.graph.at(tensor).array(),
                                            true, 10 * test::tolerance(model.graph.dag()));
        EXPECT_FALSE(wrong) << *wrong;
      }
    } catch (const Error& error) {
      // Some graphs refuse their dims, whoever compiles them.
      EXPECT_NE(error.problem().find("the dims to tune for are refused"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace luminal
