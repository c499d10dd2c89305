#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "luminal/io/parameters.h"
#include "luminal/support/error.h"
#include "tests/random.h"

namespace luminal::io {
namespace {

/// Saves one file over and over until it is killed.
[[noreturn]] void save_forever(const std::string& path) {
  try {
    for (std::int64_t i = 0;; ++i) {
      const Array content(std::vector<std::int64_t>(static_cast<std::size_t>(2000 + i % 500), i));
      save(path, {{"all", content}});
    }
  } catch (...) {
    ::_exit(1);
  }
}

TEST(AtomicSave, RandomKillsLoseNothing) {
  const test::TemporaryFolder folder;
  test::Random random(11);
  for (const char* name : {"a.safetensors", "a.gguf"}) {
    const std::string path = folder / name;
    save(path, {{"all", Array(std::vector<std::int64_t>(2000, -1))}});
    for (int trial = 0; trial < test::trials(20, 200); ++trial) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) save_forever(path);
      ::usleep(static_cast<useconds_t>(random.between(0, 20000)));
      ::kill(child, SIGKILL);
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFSIGNALED(status)) << "saving failed by itself";
      const auto values = load(path).at("all").values<std::int64_t>();
      ASSERT_GE(values.size(), 2000U);
      for (const auto value : values) ASSERT_EQ(value, values.front()) << "a mixture of two saves";
    }
  }
}

TEST(AtomicSave, AFailedSaveLeavesTheOldFileAndNoOther) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "a.gguf";
  save(path, {{"old", Array({1})}});
  EXPECT_THROW(save(path, {{"new", Array(DType::u64, {3})}}), Error);  // GGUF has no u64
  EXPECT_TRUE(load(path).contains("old"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_THROW(save(folder / "no/such/folder/a.gguf", {}), Error);
}

}  // namespace
}  // namespace luminal::io
