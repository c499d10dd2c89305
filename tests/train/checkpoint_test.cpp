#include "luminal/train/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "folder.h"

namespace luminal::train {
namespace {

Checkpoint made(std::int64_t step, std::int64_t size = 100) {
  Checkpoint checkpoint;
  checkpoint.progress.step = step;
  checkpoint.progress.rate = 0.1 + static_cast<double>(step);
  checkpoint.progress.seed = 0xFFFFFFFFFFFFFFFF;
  checkpoint.progress.loader = {2, 7};
  checkpoint.progress.best = 1.0 / 3;
  checkpoint.progress.best_step = 20;
  checkpoint.progress.since_best = 4;
  checkpoint.progress.loss_scale = 1024;
  checkpoint.states.emplace("a/b", Array(DType::f32, {size}));
  checkpoint.states.emplace("n", Array(step));
  return checkpoint;
}

TEST(Checkpoints, KeepEverything) {
  const TemporaryFolder folder;
  CheckpointFolder checkpoints(folder / "new/deep", 3);
  EXPECT_FALSE(checkpoints.load_last().has_value());
  checkpoints.save(made(120));
  const Checkpoint back = checkpoints.load_last().value();
  EXPECT_EQ(back.progress.step, 120);
  EXPECT_EQ(back.progress.rate, 120.1);
  EXPECT_EQ(back.progress.seed, 0xFFFFFFFFFFFFFFFF);
  EXPECT_EQ(back.progress.loader, (LoaderPosition{2, 7}));
  EXPECT_EQ(back.progress.best.value(), 1.0 / 3);
  EXPECT_EQ(back.progress.since_best, 4);
  EXPECT_EQ(back.progress.loss_scale.value(), 1024);
  EXPECT_EQ(back.states.size(), 2U);
  EXPECT_TRUE(same_values(back.states.at("n"), Array(std::int64_t{120})));
}

TEST(Checkpoints, TheLastFewAndTheBestStay) {
  const TemporaryFolder folder;
  CheckpointFolder checkpoints(folder.path(), 2);
  for (std::int64_t step = 10; step <= 60; step += 10) checkpoints.save(made(step));
  EXPECT_EQ(checkpoints.steps(), (std::vector<std::int64_t>{20, 50, 60}));
  checkpoints.save(made(60));  // once more, over itself
  EXPECT_EQ(checkpoints.steps(), (std::vector<std::int64_t>{20, 50, 60}));
}

TEST(Checkpoints, LeftoversOfAnInterruptedSaveAreNoCheckpoints) {
  const TemporaryFolder folder;
  CheckpointFolder(folder.path(), 2).save(made(10));
  std::filesystem::create_directory(folder / ".unfinished-20");
  write_bytes(folder / ".unfinished-20/state.json", "{");
  const CheckpointFolder again(folder.path(), 2);
  EXPECT_EQ(again.steps(), (std::vector<std::int64_t>{10}));
  EXPECT_FALSE(std::filesystem::exists(folder / ".unfinished-20"));
}

TEST(Checkpoints, ABadStateFileIsNamed) {
  const TemporaryFolder folder;
  CheckpointFolder checkpoints(folder.path(), 2);
  checkpoints.save(made(10));
  write_bytes(folder / "step-00000010/state.json", "{\"step\": 10}");
  EXPECT_NE(refusal([&] { checkpoints.load(10); }).find("step-00000010/state.json: \"schedule\" is missing"),
            std::string::npos);
}

/// Runs in a child process; what it returns is its exit status.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Checkpoints, AFullDiskKeepsTheOldOneAndSaysSo) {
  const TemporaryFolder folder;
  const int status = in_child([&] {
    // No file may grow beyond 4 KB: writing fails as on a full disk.
    const rlimit limit{4096, 4096};
    std::signal(SIGXFSZ, SIG_IGN);
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    CheckpointFolder checkpoints(folder.path(), 1);
    checkpoints.save(made(10, 100));
    const std::string text = refusal([&] { checkpoints.save(made(20, 100000)); });
    if (text.find("checkpoint: step 20 was not saved") != 0) return 3;
    if (text.find("the last complete checkpoint is \"" + folder.path() + "/step-00000010\"") ==
        std::string::npos)
      return 4;
    if (checkpoints.steps() != std::vector<std::int64_t>{10}) return 5;
    if (checkpoints.load_last()->progress.step != 10) return 6;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      if (entry.path().filename() != "step-00000010") return 7;  // nothing is left lying
    return 0;
  });
  EXPECT_EQ(status, 0);
}

TEST(Checkpoints, AFullFileSystemKeepsTheOldOneAndSaysSo) {
  const TemporaryFolder folder;
  const std::string disk = folder / "disk";
  std::filesystem::create_directory(disk);
  // A file system of 256 KB of our own, where the system lets us have one.
  const int status = in_child([&] {
    if (::system(("mount -t tmpfs -o size=256k none '" + disk + "' 2>/dev/null").c_str()) != 0) return 77;
    int result = 0;
    {
      CheckpointFolder checkpoints(disk, 1);
      checkpoints.save(made(10, 100));
      const std::string text = refusal([&] { checkpoints.save(made(20, 1000000)); });
      if (text.find("No space left on device") == std::string::npos) result = 3;
      if (checkpoints.load_last()->progress.step != 10) result = 4;
      if (refusal([&] { checkpoints.save(made(30, 100)); }) != "no Error") result = 5;  // there is room again
    }
    const int unmounted = ::system(("umount '" + disk + "'").c_str());
    return unmounted == 0 ? result : 6;
  });
  if (status == 77) GTEST_SKIP() << "no file system of our own can be mounted here";
  EXPECT_EQ(status, 0);
}

TEST(Checkpoints, AFolderThatCannotBeWrittenIsRefusedAtOnce) {
  EXPECT_NE(refusal([] { CheckpointFolder("/proc/here", 2); }).find("\"/proc/here\""), std::string::npos);
  const TemporaryFolder folder;
  write_bytes(folder / "file", "x");
  EXPECT_NE(refusal([&] { CheckpointFolder(folder / "file", 2); }).find("checkpoints cannot be"),
            std::string::npos);
}

}  // namespace
}  // namespace luminal::train
