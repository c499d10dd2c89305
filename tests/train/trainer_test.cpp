#include "luminal/train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <sstream>

#include "folder.h"
#include "luminal/compile/timing_record.h"
#include "luminal/io/json.h"
#include "luminal/train/drawn_digits.h"
#include "tasks.h"

namespace luminal::train {
namespace {

void expect_equal(const std::map<std::string, Array>& a, const std::map<std::string, Array>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, array] : a) EXPECT_TRUE(same_values(array, b.at(name))) << name;
}

TEST(Trainer, LearnsAndEvaluates) {
  TrainerOptions options = tiny_options(600);
  options.schedule = optim::cosine(0.03, 600);
  options.loader = {.batch = 64, .drop_partial = true};
  Trainer trainer(tiny_build(32, 0), tiny_data(), tiny_data(), options, device("cpu"));
  const double before = trainer.evaluate().loss;
  const Summary summary = trainer.run();
  EXPECT_EQ(summary.steps, 600);
  EXPECT_EQ(summary.stop, Stop::finished);
  ASSERT_TRUE(summary.evaluation.has_value());
  EXPECT_LT(summary.evaluation->loss, before / 5);
  EXPECT_GT(summary.evaluation->correct.value(), 0.9);
  EXPECT_DOUBLE_EQ(trainer.evaluate().loss, summary.evaluation->loss);
}

TEST(Trainer, TheSameSeedGivesTheSameBits) {
  Trainer a(tiny_build(), tiny_data(), nullptr, tiny_options(30), device("cpu"));
  Trainer b(tiny_build(), tiny_data(), nullptr, tiny_options(30), device("cpu"));
  a.run();
  b.run();
  expect_equal(a.states(), b.states());
}

/// Runs in pieces that end with a checkpoint must end as one run does.
void check_resuming(TrainerOptions options, std::int64_t steps) {
  const TemporaryFolder folder;
  options.steps = steps;
  Trainer whole(tiny_build(), tiny_data(), tiny_data(), options, device("cpu"));
  whole.run();
  options.checkpoints = folder / "checkpoints";
  for (const std::int64_t until : {steps / 3, steps / 2 + 1, steps}) {
    options.steps = until;
    Trainer part(tiny_build(), tiny_data(), tiny_data(), options, device("cpu"));
    const Summary summary = part.run();
    EXPECT_EQ(summary.steps, until);
    if (until == steps) expect_equal(part.states(), whole.states());
  }
}

TEST(Trainer, ResumingIsBitEqual) {
  check_resuming(tiny_options(0), 40);
}

TEST(Trainer, ResumingIsBitEqualWithALossScaleThatMoves) {
  TrainerOptions options = tiny_options(0);
  options.loss_scale = optim::LossScaleOptions{.initial = 1024, .interval = 5};
  options.clip_norm = 1.0;
  check_resuming(options, 40);
}

TEST(Trainer, ALossThatIsNotFiniteIsAnErrorAndTheCheckpointStays) {
  const TemporaryFolder folder;
  TrainerOptions options = tiny_options(30);
  options.checkpoints = folder / "c";
  options.save_every = 5;
  options.schedule = [](std::int64_t step) {
    return step < 12 ? 0.01 : std::numeric_limits<double>::infinity();
  };
  Trainer trainer(tiny_build(), tiny_data(), nullptr, options, device("cpu"));
  EXPECT_EQ(refusal([&] { trainer.run(); }),
            "Trainer: the loss of step 14 is nan (rate inf); nothing was saved since, and the last "
            "checkpoint is \"" +
                folder.path() + "/c/step-00000010\"");
  const CheckpointFolder checkpoints(folder / "c", 3);
  EXPECT_EQ(checkpoints.steps(), (std::vector<std::int64_t>{5, 10}));
}

TEST(Trainer, WeightsThatAreNotNumbersAreNotSaved) {
  const TemporaryFolder folder;
  TrainerOptions options = tiny_options(30);
  options.checkpoints = folder / "c";
  options.save_every = 5;
  options.schedule = [](std::int64_t step) { return step < 9 ? 0.01 : std::nan(""); };
  Trainer trainer(tiny_build(), tiny_data(), nullptr, options, device("cpu"));
  EXPECT_NE(refusal([&] { trainer.run(); }).find("after step 10 the state"), std::string::npos);
  EXPECT_EQ(CheckpointFolder(folder / "c", 3).steps(), (std::vector<std::int64_t>{5}));
}

TEST(Trainer, AMisshapenCheckpointIsRefusedWholeAndStays) {
  const TemporaryFolder folder;
  TrainerOptions options = tiny_options(5);
  options.checkpoints = folder / "c";
  Trainer(tiny_build(16), tiny_data(), nullptr, options, device("cpu")).run();
  const std::string text =
      refusal([&] { Trainer(tiny_build(24), tiny_data(), nullptr, options, device("cpu")); });
  EXPECT_EQ(
      text.rfind("Trainer: the checkpoint \"" + folder.path() + "/c/step-00000005\" does not fit the model:",
                 0),
      0U)
      << text;
  EXPECT_NE(text.find("\n  first/weight is f32[16, 8], expected f32[24, 8]"), std::string::npos) << text;
  EXPECT_EQ(CheckpointFolder(folder / "c", 3).steps(), (std::vector<std::int64_t>{5}));
  options.seed = 12;
  EXPECT_NE(refusal([&] {
              Trainer(tiny_build(16), tiny_data(), nullptr, options, device("cpu"));
            }).find("is of a run with seed 11, and this one has seed 12"),
            std::string::npos);
}

TEST(Trainer, ADamagedCheckpointIsNamed) {
  const TemporaryFolder folder;
  TrainerOptions options = tiny_options(5);
  options.checkpoints = folder / "c";
  Trainer(tiny_build(), tiny_data(), nullptr, options, device("cpu")).run();
  const std::string file = folder / "c/step-00000005/state.safetensors";
  write_bytes(file, read_bytes(file).substr(0, 100));
  EXPECT_NE(refusal([&] { Trainer(tiny_build(), tiny_data(), nullptr, options, device("cpu")); }).find(file),
            std::string::npos);
}

TEST(Trainer, RefusesDataThatDoesNotFit) {
  const auto images = std::make_shared<BinarySums>(3);
  EXPECT_EQ(refusal([&] { Trainer(tiny_build(), images, nullptr, tiny_options(5), device("cpu")); }),
            "Trainer: input 0 of the model is f32[batch, 8], and the field 'input' of an example is f32[6]");
  const auto none = std::make_shared<Subset>(tiny_data(), 0, 0);
  EXPECT_EQ(refusal([&] { Trainer(tiny_build(), none, nullptr, tiny_options(5), device("cpu")); }),
            "DataLoader: the dataset is empty");
  EXPECT_EQ(refusal([&] { Trainer(tiny_build(), tiny_data(), none, tiny_options(5), device("cpu")); }),
            "Trainer: the evaluation dataset is empty");
  TrainerOptions unwritable = tiny_options(5);
  unwritable.checkpoints = "/proc/luminal";
  EXPECT_NE(refusal([&] {
              Trainer(tiny_build(), tiny_data(), nullptr, unwritable, device("cpu"));
            }).find("the folder \"/proc/luminal\" for checkpoints cannot be made"),
            std::string::npos);
}

TEST(Trainer, StopsEarlyWhenEvaluationGetsNoBetter) {
  const TemporaryFolder folder;
  TrainerOptions options = tiny_options(200);
  options.schedule = [](std::int64_t step) { return step < 20 ? 0.02 : 0.0; };
  options.evaluate_every = 10;
  options.patience = 3;
  options.checkpoints = folder / "c";
  options.keep_last = 1;
  Trainer trainer(tiny_build(16, 0), tiny_data(), tiny_data(), options, device("cpu"));
  const Summary summary = trainer.run();
  EXPECT_EQ(summary.stop, Stop::early);
  EXPECT_EQ(summary.steps, 50);
  // The best and the last stay.
  EXPECT_EQ(CheckpointFolder(folder / "c", 1).steps(), (std::vector<std::int64_t>{20, 50}));
}

TEST(Trainer, CtrlCSavesAndEnds) {
  const TemporaryFolder folder;
  TrainerOptions options = tiny_options(40);
  Trainer whole(tiny_build(), tiny_data(), nullptr, options, device("cpu"));
  whole.run();
  options.checkpoints = folder / "c";
  options.stop_on_interrupt = true;
  options.on_step = [](const StepReport& report) {
    if (report.step == 7) std::raise(SIGINT);
  };
  Trainer trainer(tiny_build(), tiny_data(), nullptr, options, device("cpu"));
  const Summary summary = trainer.run();
  EXPECT_EQ(summary.stop, Stop::interrupted);
  EXPECT_EQ(summary.steps, 8);
  EXPECT_EQ(CheckpointFolder(folder / "c", 3).steps(), (std::vector<std::int64_t>{8}));
  Trainer rest(tiny_build(), tiny_data(), nullptr, options, device("cpu"));
  EXPECT_EQ(rest.run().stop, Stop::finished);
  expect_equal(rest.states(), whole.states());
}

TEST(Trainer, WritesALogATraceAndAPage) {
  const TemporaryFolder folder;
  TrainerOptions options = tiny_options(20);
  options.log = folder / "log.csv";
  options.trace = folder / "trace.json";
  options.page = folder / "page.html";
  options.title = "a <title>";
  options.evaluate_every = 10;
  options.log_every = 5;
  options.checkpoints = folder / "c";
  Trainer(tiny_build(), tiny_data(), tiny_data(), options, device("cpu")).run();
  const auto lines = [&] {
    std::istringstream text(read_bytes(folder / "log.csv"));
    std::vector<std::string> result;
    for (std::string line; std::getline(text, line);) result.push_back(line);
    return result;
  };
  ASSERT_EQ(lines().size(), 5U);
  EXPECT_EQ(lines()[0], "step,epoch,loss,rate,examples_per_second,evaluation_loss,evaluation_correct");
  EXPECT_EQ(lines()[4].substr(0, 5), "20,1,");
  const io::Json trace = io::Json::parse(read_bytes(folder / "trace.json"));
  std::size_t steps = 0;
  for (const auto& event : trace["traceEvents"]) steps += event["name"] == "step" ? 1 : 0;
  EXPECT_EQ(steps, 20U);
  const std::string page = read_bytes(folder / "page.html");
  EXPECT_NE(page.find("a &lt;title&gt;"), std::string::npos);
  EXPECT_NE(page.find("<polyline"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "the page needs nothing else";
  // A run that goes on adds to the log.
  options.steps = 30;
  Trainer(tiny_build(), tiny_data(), tiny_data(), options, device("cpu")).run();
  EXPECT_EQ(lines().size(), 7U);
}

TEST(Trainer, WhatIsToBeWrittenLaterIsRefusedAtOnce) {
  for (const auto place : {&TrainerOptions::log, &TrainerOptions::trace, &TrainerOptions::page}) {
    TrainerOptions options = tiny_options(5);
    options.*place = "/nowhere/file";
    EXPECT_EQ(refusal([&] { Trainer(tiny_build(), tiny_data(), nullptr, options, device("cpu")); }),
              "the file \"/nowhere/file\" cannot be written: No such file or directory");
  }
}

TEST(Trainer, NothingIsLeftToDo) {
  const TemporaryFolder folder;
  TrainerOptions options = tiny_options(5);
  options.checkpoints = folder / "c";
  Trainer(tiny_build(), tiny_data(), tiny_data(), options, device("cpu")).run();
  std::vector<std::string> said;
  options.sink = [&](std::string_view line) { said.emplace_back(line); };
  const Summary summary = Trainer(tiny_build(), tiny_data(), tiny_data(), options, device("cpu")).run();
  EXPECT_EQ(summary.steps, 5);
  EXPECT_TRUE(summary.evaluation.has_value());
  EXPECT_EQ(said.back(), "all 5 steps were taken already");
}

/// Convolutions, pooling and their gradients, searched for by measuring: no plan of another mode is taken
/// instead.
TEST(Trainer, ACnnCompilesInSearchMode) {
  const Build build = [](const BuildContext& context) {
    nn::Scope scope = context.scope;
    nn::Sequential net(nn::conv2d(scope / "conv", 1, 4, 3, {.convolution = {.padding = 1}}), nn::Relu{},
                       nn::MaxPool{4}, nn::Flatten{}, nn::Linear(scope / "head", 4 * 7 * 7, 10));
    const Tensor image = scope.graph().tensor({context.batch, 1, 28, 28});
    const Tensor label = scope.graph().tensor({context.batch}, DType::i64);
    return Model{{image, label}, nn::cross_entropy(net(image), label), std::nullopt, nn::params(net)};
  };
  TrainerOptions options;
  options.steps = 5;
  options.loader = {.batch = 8, .drop_partial = true};
  const auto digits = std::make_shared<DrawnDigits>(100, 1);
  Trainer fast(build, digits, nullptr, options, device("cpu"));
  TimingRecord record;
  options.compile.mode = Mode::search;
  options.compile.budget = std::chrono::seconds(10);
  options.compile.candidates = 40;
  options.compile.cache = false;
  options.compile.record = &record;
  Trainer searched(build, digits, nullptr, options, device("cpu"));
  const float expected = fast.run().loss;
  EXPECT_NEAR(searched.run().loss, expected, 1e-3F * std::abs(expected));
  EXPECT_GT(record.size(), 0U) << "nothing was measured";
  EXPECT_EQ(searched.executable().host_step_count(), 0U) << runtime::print(searched.executable().plan());
  EXPECT_NE(searched.executable().search_report(), nullptr);
}

TEST(ProgressBar, ShowsLossSpeedAndTimeLeft) {
  std::ostringstream out;
  const auto bar = progress_bar(out, false, 10);
  StepReport report{.step = 5, .steps = 20, .loss = 0.5F, .examples_per_second = 1234, .seconds_left = 75};
  bar(report);
  EXPECT_EQ(out.str(), "");
  report.step = 10;
  bar(report);
  EXPECT_EQ(out.str(), "[############............] 10/20  loss 0.5000  1234 examples/s  1m15s left\n");
}

}  // namespace
}  // namespace luminal::train
