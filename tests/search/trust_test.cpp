// What a search may be told by kernels that are wrong, and what it keeps: never a wrong result, never half an
// answer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "luminal/codegen/helpers.h"
#include "luminal/compile/timing_record.h"
#include "luminal/luminal.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"
#include "src/luminal/cli/models.h"
#include "tests/compile/compare.h"
#include "wrapped_device.h"

namespace luminal {
namespace {

using namespace std::chrono_literals;
using test::searching;

struct Layer {
  explicit Layer(std::int64_t rows = 64, bool has_static = false) {
    const nn::Scope scope(g);
    const nn::Linear linear(scope / "linear", 96, 160);
    const Tensor x = g.named_tensor("x", {rows, 96});
    const Tensor weight = has_static ? (linear.weight * 2.0F).tanh() : Tensor(linear.weight);
    matmul(x, weight.transpose(0, 1)).gelu().retrieve();
    cli::fill(g);
  }
  void expect_right(Executable exe) {
    exe.run();
    g.execute();
    for (const auto& value : g.dag().outputs()) {
      const auto wrong = test::difference(exe.array(g.at(value)), g.at(value).array(), false, 5e-4);
      EXPECT_FALSE(wrong) << *wrong;
    }
  }
  Graph g;
};

std::size_t wrong_in(const SearchReport& report) {
  std::size_t found = 0;
  for (const auto& kernel : report.kernels)
    for (const auto& candidate : kernel.candidates)
      found += candidate.timing.outcome == Timing::Outcome::wrong ? 1 : 0;
  return found;
}

/// The program, but afterwards one element of that buffer is another.
std::string with_wrong_element(const codegen::Source& source, int buffer, int place) {
  return test::with_end(source, cat("  if (task == 0) ((float*)buffers[", buffer, "])[", place, "] = 7;\n"));
}

/// A third of the programs multiplies by another integer.
TEST(Trust, WrongIntegersAreCaught) {
  for (const std::uint64_t which : {0U, 1U, 2U}) {
    Graph g;
    const Tensor x = g.named_tensor("x", {64, 96}, DType::i32);
    const Tensor y = (x * 3 + 5).sum(-1).retrieve();
    std::size_t changed = 0;
    const auto device = std::make_shared<test::WrappedDevice>([&](const codegen::Source& source) {
      std::string text = source.text;
      if (Hash(5).add(text).value() % 3 != which) return text;
      const std::string type = cat("(", codegen::type_name(DType::i32), ")");
      for (std::size_t at = 0; (at = text.find(type + "3u", at)) != std::string::npos; ++changed)
        text.replace(at, type.size() + 2, type + "4u");
      return text;
    });
    Executable exe = compile(g, device, searching(60s, 30));
    EXPECT_GT(changed, 0U);
    EXPECT_GT(wrong_in(*exe.search_report()), 0U);
    Array values(DType::i32, {64, 96});
    for (std::int64_t i = 0; i < values.size(); ++i)
      values.set(i, make_scalar(DType::i32, Number(i % 17 - 8)));
    exe.set(x, values).run();
    x.set(values);
    g.execute();
    EXPECT_EQ(exe.get<std::int64_t>(y), y.data<std::int64_t>());
  }
}

/// Indices that are all the same would find a gather right that ignores them.
TEST(Trust, GathersAreTriedAllOverTheirAxis) {
  Graph g;
  const Tensor table = g.named_tensor("table", {50, 24});
  const Tensor index = g.named_tensor("index", {40}, DType::i64);
  const Tensor y = index_select(table, 0, index).retrieve();
  std::size_t changed = 0;
  const auto device = std::make_shared<test::WrappedDevice>([&](const codegen::Source& source) {
    // The index is read as 0 by half of the programs.
    std::string text = source.text;
    if (Hash(9).add(text).value() % 2 == 0) return text;
    const auto at = text.find("in1[");
    if (at == std::string::npos) return text;
    ++changed;
    return text.replace(at, 4, "0 * in1[");
  });
  cli::fill(g);
  std::vector<std::int64_t> places;
  for (std::int64_t k = 0; k < 40; ++k) places.push_back(k * 7 % 50);
  index.set(places);
  Executable exe = compile(g, device, searching(60s, 30));
  EXPECT_GT(changed, 0U);
  exe.run();
  g.execute();
  EXPECT_EQ(exe.get<float>(y), y.data<float>());
}

/// What runs when weights are set is run and compared like all else.
TEST(Trust, KernelsOfWeightsAreCaught) {
  Layer layer(48, true);
  std::size_t changed = 0;
  std::string usual;
  const auto device = std::make_shared<test::WrappedDevice>([&](const codegen::Source& source) {
    // Not the product, whose text names rows of blocks. The usual schedule is tried first.
    if (source.text.find("row_blocks") == std::string::npos && usual.empty()) usual = source.text;
    if (source.text != usual) return source.text;
    ++changed;
    return test::with_statement(source, "  return;\n");
  });
  Executable exe = compile(layer.g, device, searching(60s, 60));
  EXPECT_GT(exe.plan().load_steps.size(), 0U);
  EXPECT_GT(changed, 0U);
  layer.expect_right(exe);
}

/// However little time there is, what is taken was run and compared.
TEST(Trust, ShortBudgetsAreVerified) {
  for (const std::uint64_t which : {0U, 1U, 2U})
    for (const auto& options : {searching(1ms), searching(500ms), searching(60s, 1), searching(60s, 2)}) {
      Layer layer;
      const auto device = std::make_shared<test::WrappedDevice>([&](const codegen::Source& source) {
        return Hash(5).add(source.text).value() % 3 == which ? test::with_statement(source, "  return;\n")
                                                             : source.text;
      });
      layer.expect_right(compile(layer.g, device, options));
    }
}

/// One element of a sum of many terms takes the interpreter long, and is computed all the same.
TEST(Trust, LongSumsAreVerified) {
  Graph g;
  g.named_tensor("x", {4, 100'000}).sum(-1).retrieve();
  cli::fill(g);
  const auto device = std::make_shared<test::WrappedDevice>(
      [](const codegen::Source& source) { return with_wrong_element(source, 1, 0); });
  EXPECT_THROW(compile(g, device, searching(60s, 6)), Error);
}

/// Programs of tiles are made of functions that others have, too: what is compiled is what they say.
TEST(Trust, AlwaysWrongIsAnError) {
  const Layer layer;
  std::size_t changed = 0;
  const auto device = std::make_shared<test::WrappedDevice>([&](const codegen::Source& source) {
    ++changed;
    return test::with_statement(source, "  return;\n");
  });
  try {
    compile(layer.g, device, searching(60s, 40));
    FAIL() << changed << " programs that do nothing, and no complaint";
  } catch (const Error& error) {
    EXPECT_NE(error.problem().find("no schedule of a contract kernel gives right results"), std::string::npos)
        << error.what();
  }
}

/// If all agree on leaving something out, all are wrong.
TEST(Trust, AMajorityCanBeWrong) {
  Layer layer(480);
  const auto device = std::make_shared<test::WrappedDevice>([](const codegen::Source& source) {
    return test::with_statement(source, "  if (task == 1) return;\n");
  });
  try {
    layer.expect_right(compile(layer.g, device, searching(60s, 40)));  // one task does everything
  } catch (const Error& error) {
    EXPECT_NE(error.problem().find("no schedule of a"), std::string::npos) << error.what();
  }
}

/// The usual schedule, or it and the next one, are wrong where the interpreter does not look, and faster than
/// all others: what the most of them agree on is right, also when it speaks against the best until then.
TEST(Trust, TheBestUntilNowCanBeWrong) {
  for (const std::size_t wrong : {1U, 2U}) {
    Graph g;
    const Tensor x = g.named_tensor("x", {400, 300});
    const Tensor y = x.gelu().retrieve();
    cli::fill(g);
    std::vector<std::string> first;
    const auto device = std::make_shared<test::WrappedDevice>([&](const codegen::Source& source) {
      const auto found = std::find(first.begin(), first.end(), source.text);
      if (found == first.end() && first.size() < wrong) {
        first.push_back(source.text);
        return with_wrong_element(source, 1, 1);
      }
      if (found != first.end()) return with_wrong_element(source, 1, 1);
      return test::with_statement(source, "  for (volatile i64 k = 0; k < 200000; ++k) {}\n");
    });
    Executable exe = compile(g, device, searching(60s, 40));
    EXPECT_EQ(wrong_in(*exe.search_report()), wrong);
    exe.run();
    g.execute();
    const auto difference = test::difference(exe.array(y), y.array(), false, 5e-4);
    EXPECT_FALSE(difference) << *difference;
  }
}

/// Nobody knows inputs from which places are computed: some are found, or the kernel is taken as it is.
TEST(Trust, ComputedPlacesAreNoReasonToRefuse) {
  for (const std::int64_t offset : {1, 1000}) {
    Graph g;
    const Tensor table = g.named_tensor("table", {50, 24});
    const Tensor index = g.named_tensor("index", {40}, DType::i64);
    const Tensor y = index_select(table, 0, index - offset).retrieve();
    cli::fill(g);
    std::vector<std::int64_t> places;
    for (std::int64_t k = 0; k < 40; ++k) places.push_back(k * 7 % 50 + offset);
    for (const bool known : {false, true}) {  // when it is compiled
      if (known) index.set(places);
      Executable exe = compile(g, device("cpu"), searching(60s, 20));
      std::size_t tuned = 0;
      std::size_t unfit = 0;
      for (const auto& kernel : exe.search_report()->kernels) {
        const auto count = [&](Timing::Outcome outcome) {
          return std::count_if(kernel.candidates.begin(), kernel.candidates.end(),
                               [&](const auto& candidate) { return candidate.timing.outcome == outcome; });
        };
        tuned += kernel.runs > 0 && count(Timing::Outcome::timed) > 1 ? 1 : 0;
        unfit += count(Timing::Outcome::unfit) > 0 ? 1 : 0;
        EXPECT_TRUE(count(Timing::Outcome::unfit) == 0 || kernel.candidates.size() == 1);
      }
      EXPECT_TRUE(tuned > 0 || offset != 1);  // else by chance, kernels that read the places
      EXPECT_EQ(unfit > 0, offset != 1);
      exe.set(index, Array(places)).run();
      index.set(places);
      g.execute();
      EXPECT_EQ(exe.get<float>(y), y.data<float>());
    }
  }
}

/// What is the caller's is not called in the processes that measure.
TEST(Trust, ProgressIsToldInThisProcessOnly) {
  const Layer layer;
  CompileOptions options = searching(60s, 20);
  std::size_t told = 0;
  options.progress = [&, self = getpid()](const SearchProgress&) {
    if (getpid() != self) std::abort();
    ++told;
  };
  const Executable exe = compile(layer.g, device("cpu"), options);
  EXPECT_GT(told, 0U);
  for (const auto& kernel : exe.search_report()->kernels)
    for (const auto& candidate : kernel.candidates)
      EXPECT_NE(candidate.timing.outcome, Timing::Outcome::crashed) << candidate.timing.problem;
}

/// If no process that measures can begin, that is told, and it ends.
TEST(Trust, DevicesThatDoNotStartInAChildAreAnError) {
  class Stuck : public test::WrappedDevice {
   public:
    using WrappedDevice::WrappedDevice;
    bool restart_in_child() override { throw std::runtime_error("no threads"); }
  };
  const Layer layer;
  const auto stuck = std::make_shared<Stuck>([](const codegen::Source& source) { return source.text; });
  try {
    compile(layer.g, stuck, searching(60s, 20));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.problem().find("its process ended with status 1"), std::string::npos) << error.what();
  }
}

/// Whoever looks is told of what was chosen, once.
TEST(Trust, RulesAreThoseOfTheChosenPlan) {
  const Layer layer;
  CompileOptions options = searching(60s, 60);
  std::map<std::string, std::size_t> told;
  options.inspect = [&](std::string_view what, const std::string&) { ++told[std::string(what)]; };
  compile(layer.g, device("cpu"), options);
  EXPECT_EQ(told, (std::map<std::string, std::size_t>{
                      {"derivation", 1}, {"egraph", 1}, {"rejected", 1}, {"statistics", 1}}));
}

/// Two searches in one record would be replayed as neither.
TEST(Trust, RecordsHoldASearchOnce) {
  const Layer layer;
  TimingRecord record;
  CompileOptions options = searching(60s, 10);
  options.record = &record;
  const Executable exe = compile(layer.g, device("cpu"), options);
  EXPECT_THROW(compile(layer.g, device("cpu"), options), Error);
}

/// The first run of a program takes a millisecond longer: no reason to think ill of it.
TEST(Trust, FirstRunsDoNotDecide) {
  Layer layer;
  const auto device = std::make_shared<test::WrappedDevice>([](const codegen::Source& source) {
    return test::with_statement(
        source,
        "  static volatile int runs = 0;\n"
        "  if (task == 0 && runs++ == 0) for (volatile i64 k = 0; k < 3000000; ++k) {}\n");
  });
  const Executable exe = compile(layer.g, device, searching(60s, 40));
  std::size_t slow = 0;
  std::size_t all = 0;
  for (const auto& kernel : exe.search_report()->kernels) {
    double best = 1;
    for (const auto& candidate : kernel.candidates) best = std::min(best, candidate.timing.seconds);
    for (const auto& candidate : kernel.candidates) {
      ++all;
      slow += candidate.timing.seconds > best + 5e-4 ? 1 : 0;
    }
  }
  EXPECT_GT(all, 20U);
  EXPECT_LT(slow, all / 3);
}

std::string bytes_of(const Executable& exe) {
  std::string text = runtime::print(exe.plan());
  for (const auto& kernel : exe.plan().kernels) text += kernel.source.text;
  return text;
}

/// Nor do first runs of whole plans.
TEST(Trust, FirstRunsOfPlansDoNotDecide) {
  Layer layer;
  const auto device = std::make_shared<test::WrappedDevice>([](const codegen::Source& source) {
    return test::with_statement(
        source,
        "  static volatile int runs = 0;\n"
        "  if (task == 0 && runs++ == 0) for (volatile i64 k = 0; k < 30000000; ++k) {}\n");
  });
  const Executable exe = compile(layer.g, device, searching(60s, 30));
  std::size_t timed = 0;
  for (const auto& plan : exe.search_report()->plans) {
    EXPECT_LT(plan.timing.median, 5e-3) << plan.name;
    timed += plan.timing.median > 0 ? 1 : 0;
  }
  EXPECT_GT(timed, 1U);
}

/// Of each kernel the schedule that is the fastest in the plan; kernels that run when weights are set have
/// none there.
TEST(Trust, KernelsAreChosenInTheirPlaces) {
  for (const bool has_static : {false, true}) {
    Layer layer(64, has_static);
    const Executable exe = compile(layer.g, device("cpu"), searching(60s, 40));
    std::size_t found = 0;
    for (const auto& plan : exe.search_report()->plans)
      if (plan.name == "each kernel chosen in its place") found += plan.predicted > 0 ? 1 : 0;
    EXPECT_EQ(found, 1U) << has_static;
    layer.expect_right(exe);
  }
}

/// At the first step of training, gradients that should be 0 are rounding, and the optimiser makes steps of
/// full size of them: plans that round differently are not wrong.
TEST(Trust, RoundingThatAnOptimiserAmplifiesIsNotWrong) {
  for (const auto& model : cli::model_suite()) {
    if (model.name != "adder-training") continue;
    const Graph g = model.build(true);
    const Executable exe = compile(g, device("cpu"), searching(120s, 300));
    std::size_t timed = 0;
    for (const auto& plan : exe.search_report()->plans) {
      EXPECT_EQ(plan.timing.outcome, Timing::Outcome::timed) << plan.name << ": " << plan.timing.problem;
      timed += plan.timing.median > 0 ? 1 : 0;
    }
    EXPECT_GT(timed, 1U);
  }
}

/// The time is over in the middle of steps, and what was not timed then is asked for again later.
TEST(Trust, ReplayOfASearchThatTimeEnded) {
  for (const auto budget : {300ms, 700ms, 1500ms}) {
    const Layer layer(96, true);
    const auto slow = std::make_shared<test::WrappedDevice>([](const codegen::Source& source) {
      std::this_thread::sleep_for(8ms);
      return source.text;
    });
    TimingRecord record;
    CompileOptions options = searching(budget);
    options.record = &record;
    const std::string first = bytes_of(compile(layer.g, slow, options));
    for (int again = 0; again < 3; ++again) {
      TimingRecord taken;
      CompileOptions replaying = searching(budget);
      replaying.replay = &record;
      replaying.record = &taken;
      EXPECT_EQ(bytes_of(compile(layer.g, device("cpu"), replaying)), first);
      EXPECT_EQ(taken.text(), record.text());
    }
  }
}

TEST(Trust, ReplayKnowsEveryBucket) {
  Graph g;
  const Tensor x = g.named_tensor("x", {Expr("n"), 48});
  const nn::Linear linear(nn::Scope(g) / "linear", 48, 64);
  linear(x).gelu().retrieve();
  TimingRecord record;
  CompileOptions options = searching(60s, 20);
  options.buckets = {{"n", {{1, 8}, {9, 64}}}};
  options.record = &record;
  const auto all_of = [&](Executable exe) {
    std::string text;
    for (const std::int64_t n : {4, 32}) {
      exe.set_dim("n", n);
      text += bytes_of(exe);
    }
    return text;
  };
  const std::string first = all_of(compile(g, device("cpu"), options));
  options.record = nullptr;
  options.replay = &record;
  EXPECT_EQ(all_of(compile(g, device("cpu"), options)), first);
}

TEST(Trust, ReplayRefusesOtherSearches) {
  const Layer layer;
  TimingRecord record;
  CompileOptions options = searching(60s, 5);
  options.record = &record;
  compile(layer.g, device("cpu"), options);
  options.record = nullptr;
  options.replay = &record;
  const Layer other(65);
  EXPECT_THROW(compile(other.g, device("cpu"), options), Error);
  options.exact = true;
  EXPECT_THROW(compile(layer.g, device("cpu"), options), Error);
}

TEST(Trust, InterruptedSearchesAreNotKept) {
  const auto folder = std::filesystem::temp_directory_path() / cat("luminal-trust-", ::getpid());
  Layer layer;
  std::atomic<bool> cancel{true};
  CompileOptions options = searching(60s, 8);
  options.cache = true;
  options.cache_directory = folder.string();
  options.cancel = &cancel;
  layer.expect_right(compile(layer.g, device("cpu"), options));
  cancel = false;
  const Executable whole = compile(layer.g, device("cpu"), options);
  ASSERT_NE(whole.search_report(), nullptr) << "it was taken from the cache";
  EXPECT_GE(whole.search_report()->candidates, 8U);
  EXPECT_EQ(compile(layer.g, device("cpu"), options).search_report(), nullptr) << "now it should be there";
  std::filesystem::remove_all(folder);
}

/// Whoever asks how a search decided gets the one that the cache has, not another.
TEST(Trust, ExplainingACachedSearchReplaysIt) {
  const auto folder = std::filesystem::temp_directory_path() / cat("luminal-explain-", ::getpid());
  const Layer layer;
  CompileOptions options = searching(60s, 25);
  options.cache = true;
  options.cache_directory = folder.string();
  const auto first = compile(layer.g, device("cpu"), options);
  ASSERT_NE(first.search_report(), nullptr);
  const auto cached = compile(layer.g, device("cpu"), options);
  EXPECT_EQ(cached.search_report(), nullptr);
  options.inspect = [](std::string_view, const std::string&) {};
  const auto explained = compile(layer.g, device("cpu"), options);
  ASSERT_NE(explained.search_report(), nullptr);
  EXPECT_EQ(explained.search_report()->stopped, "it was replayed");
  EXPECT_EQ(bytes_of(explained), bytes_of(first));
  EXPECT_EQ(bytes_of(cached), bytes_of(first));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace luminal
