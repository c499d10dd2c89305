// A run that is killed at random instants, again and again, ends as one that was left alone.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "folder.h"
#include "tasks.h"
#include "tests/random.h"

extern char** environ;

namespace luminal::train {
namespace {

constexpr std::int64_t steps = 300;
constexpr const char* variable = "LUMINAL_KILL_TEST_FOLDER";

TrainerOptions options_in(const std::string& folder) {
  TrainerOptions options = tiny_options(steps);
  options.checkpoints = folder;
  options.save_every = 1;
  options.keep_last = 2;
  return options;
}

/// The child: this program again, with a folder in its environment.
TEST(KillChild, DISABLED_Trains) {
  const char* folder = std::getenv(variable);
  ASSERT_NE(folder, nullptr);
  Trainer trainer(tiny_build(), tiny_data(), nullptr, options_in(folder), device("cpu"));
  trainer.run();
}

/// The child of the test of a full disk: from step 10 on no file may grow beyond 256 bytes.
TEST(KillChild, DISABLED_RunsOutOfSpace) {
  const char* folder = std::getenv(variable);
  ASSERT_NE(folder, nullptr);
  TrainerOptions options = tiny_options(30);
  options.checkpoints = folder;
  options.save_every = 5;
  std::vector<std::string> said;
  options.sink = [&](std::string_view line) { said.emplace_back(line); };
  options.on_step = [](const StepReport& report) {
    if (report.step != 11) return;
    const rlimit limit{256, 256};
    std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  };
  Trainer trainer(tiny_build(), tiny_data(), nullptr, options, device("cpu"));
  const std::string text = refusal([&] { trainer.run(); });
  EXPECT_EQ(trainer.steps_taken(), 30) << "training goes on";
  EXPECT_EQ(said.size(), 4U);  // steps 15, 20, 25, 30
  EXPECT_EQ(text.rfind("checkpoint: step 30 was not saved: ", 0), 0U) << text;
  EXPECT_NE(text.find("the last complete checkpoint is \"" + std::string(folder) + "/step-00000010\""),
            std::string::npos)
      << text;
}

pid_t start(const std::string& folder, const char* child_test = "KillChild.DISABLED_Trains") {
  ::setenv(variable, folder.c_str(), 1);
  const std::string filter = std::string("--gtest_filter=") + child_test;
  const char* arguments[] = {"/proc/self/exe", filter.c_str(), "--gtest_also_run_disabled_tests",
                             "--gtest_brief=1", nullptr};
  char path[4096];
  const auto length = ::readlink("/proc/self/exe", path, sizeof(path) - 1);
  path[length] = 0;
  pid_t child = 0;
  ::posix_spawn(&child, path, nullptr, nullptr, const_cast<char* const*>(arguments), environ);
  return child;
}

/// Waits until the child ends or the time is over; whether it ended, and well.
bool ended(pid_t child, std::chrono::microseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child did not end well";
      return true;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return false;
}

/// Looks without touching: the child may be at work.
std::int64_t last_step(const std::string& folder) {
  std::int64_t last = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("step-")) last = std::max<std::int64_t>(last, std::stoll(name.substr(5)));
  }
  return last;
}

TEST(FullDisk, TrainingGoesOnAndSaysSo) {
  const TemporaryFolder folder;
  const pid_t child = start(folder / "c", "KillChild.DISABLED_RunsOutOfSpace");
  EXPECT_TRUE(ended(child, std::chrono::minutes(2)));
  EXPECT_EQ(CheckpointFolder(folder / "c", 3).load_last()->progress.step, 10);
}

TEST(RandomKills, EveryRunEndsAsOneThatWasLeftAlone) {
  TrainerOptions plain = tiny_options(steps);
  Trainer whole(tiny_build(), tiny_data(), nullptr, plain, device("cpu"));
  whole.run();
  const auto expected = whole.states();
  const std::int64_t kills = test::trials(20, 200);
  std::mt19937_64 random(20);
  std::int64_t done = 0;
  std::int64_t during_training = 0;
  while (done < kills) {
    const TemporaryFolder folder;
    const std::string place = folder / "c";
    bool finished = false;
    while (!finished && done < kills) {
      const std::int64_t before = last_step(place);
      const pid_t child = start(place);
      // Up to the first new checkpoint, and then a random while: mostly in the middle of a save.
      while (last_step(place) == before && !(finished = ended(child, std::chrono::microseconds(500)))) {
      }
      finished = finished || ended(child, std::chrono::microseconds(random() % 60000));
      if (finished) break;
      ::kill(child, SIGKILL);
      int status = 0;
      ::waitpid(child, &status, 0);
      ++done;
      const std::int64_t now = last_step(place);
      during_training += now > before && now < steps ? 1 : 0;
      ASSERT_GE(now, before) << "a checkpoint was lost";
      if (now > 0) {
        ASSERT_EQ(CheckpointFolder(place, 2).load_last()->progress.step, now);
      }
    }
    Trainer rest(tiny_build(), tiny_data(), nullptr, options_in(place), device("cpu"));
    rest.run();
    const auto got = rest.states();
    for (const auto& [name, array] : expected) EXPECT_TRUE(same_values(array, got.at(name))) << name;
  }
  EXPECT_GT(during_training, kills / 2);
}

}  // namespace
}  // namespace luminal::train
