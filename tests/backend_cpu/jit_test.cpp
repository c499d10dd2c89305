#include "luminal/backend/cpu/jit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cpu {
namespace {

std::string doubling(int times) {
  return cat(
      "void twice(long task, void* const* buffers, const long* dims, void* scratch, long* status) {\n"
      "  (void)dims; (void)scratch; status[0] = 5;\n  ((float*)buffers[0])[task] *= ",
      times, ";\n}\n");
}

class Compilers : public ::testing::TestWithParam<Compiler> {};

TEST_P(Compilers, CompileAndRun) {
  Jit jit(GetParam());
  EXPECT_EQ(jit.compiler(), GetParam());
  std::vector<float> values = {1, 2, 3};
  void* buffers[] = {values.data()};
  std::int64_t status[4] = {};
  const Loaded two = jit.compile(doubling(2), "twice");
  const Loaded three = jit.compile(doubling(3), "twice");  // one name, two kernels
  two.function()(1, buffers, nullptr, nullptr, status);
  three.function()(2, buffers, nullptr, nullptr, status);
  EXPECT_EQ(values, (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(status[0], 5);
}

TEST_P(Compilers, RefusedTextIsAnErrorWithTheCompilersWords) {
  Jit jit(GetParam());
  try {
    jit.compile("void f(void) { return nonsense; }", "f");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("nonsense"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(jit.compile(doubling(2), "twice"));  // and goes on
  const std::string wrong = "void f(void) { return nonsense; }";
  const std::vector<std::string> units = {"void g(void) {}", wrong};
  EXPECT_THROW(jit.compile(wrong, "f", nullptr, units), Error);
}

/// Keeps what it is given.
class Kept : public runtime::BinaryStore {
 public:
  std::optional<std::string> get(const std::string& key) override {
    const auto found = binaries.find(key);
    return found == binaries.end() ? std::nullopt : std::optional(found->second);
  }
  void put(const std::string& key, const std::string& binary) override { binaries[key] = binary; }
  std::map<std::string, std::string> binaries;
};

/// A function, and an entry that calls it: as one text, and in pieces.
struct Pieces {
  explicit Pieces(const std::string& entry_body) {
    const std::string head = "float luminal_scaled(float x)";
    const std::string function = head + " { return 3 * x; }\n";
    const std::string entry =
        "void twice(long task, void* const* buffers, const long* dims, void* scratch, long* status) {\n"
        "  (void)dims; (void)scratch; (void)status;\n  float* at = (float*)buffers[0] + task;\n" +
        entry_body + "}\n";
    text = "static " + function + entry;
    units = {function, head + ";\n" + entry};
  }
  std::string text;
  std::vector<std::string> units;
};

TEST_P(Compilers, ProgramsInPiecesAreAsWhole) {
  Jit jit(GetParam());
  const Pieces once("  *at = luminal_scaled(*at);\n");
  const Pieces again("  *at = luminal_scaled(luminal_scaled(*at));\n");  // the same function, another entry
  Kept kept;
  for (const int round : {1, 2})  // the second time what was kept
    for (const auto* units : {&once.units, static_cast<const std::vector<std::string>*>(nullptr)}) {
      std::vector<float> values = {1, 2, 3};
      void* buffers[] = {values.data()};
      std::int64_t status[4] = {};
      const auto compiled = [&](const Pieces& pieces) {
        return jit.compile(
            pieces.text, "twice", &kept,
            units != nullptr ? std::span<const std::string>(pieces.units) : std::span<const std::string>());
      };
      const Loaded first = compiled(once);
      const Loaded second = compiled(again);
      first.function()(1, buffers, nullptr, nullptr, status);
      second.function()(2, buffers, nullptr, nullptr, status);
      EXPECT_EQ(values, (std::vector<float>{1, 6, 27})) << round;
    }
  EXPECT_EQ(kept.binaries.size(), 2U);
}

/// Stores give what was put there, or nothing; of what is no binary at all another one is made.
TEST_P(Compilers, WhatIsNoBinaryIsMadeAgain) {
  const Pieces pieces("  *at = luminal_scaled(*at);\n");
  Kept kept;
  Jit(GetParam()).compile(pieces.text, "twice", &kept, pieces.units);
  ASSERT_EQ(kept.binaries.size(), 1U);
  const std::string whole = kept.binaries.begin()->second;
  std::vector<std::string> others = {"", "no binary"};
  if (GetParam() == Compiler::clang)  // what is cut off; the system's loader would read behind the end
    for (std::size_t size = 1; size < whole.size(); size += whole.size() / 7)
      others.push_back(whole.substr(0, size));
  for (const auto& other : others) {
    kept.binaries.begin()->second = other;
    float value = 5;
    void* buffers[] = {&value};
    std::int64_t status[4] = {};
    const Loaded loaded = Jit(GetParam()).compile(pieces.text, "twice", &kept, pieces.units);
    loaded.function()(0, buffers, nullptr, nullptr, status);
    EXPECT_EQ(value, 15);
    EXPECT_EQ(kept.binaries.begin()->second.size(), whole.size()) << other.size();
  }
}

TEST_P(Compilers, SeveralThreads) {
  Jit jit(GetParam());
  std::vector<std::thread> threads;
  std::vector<float> results(4);
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&jit, &results, k] {
      for (int times = 1; times <= 3; ++times) {
        float value = 10;
        void* buffers[] = {&value};
        std::int64_t status[4] = {};
        const Loaded loaded = jit.compile(doubling(k + 1), "twice");
        loaded.function()(0, buffers, nullptr, nullptr, status);
        results[static_cast<std::size_t>(k)] = value;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(results, (std::vector<float>{10, 20, 30, 40}));
}

/// Whether code may run there.
bool is_executable(Function function) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0, last = 0;
    char dash = 0;
    std::string rights;
    std::istringstream(line) >> std::hex >> first >> dash >> last >> rights;
    if (address >= first && address < last) return rights.find('x') != std::string::npos;
  }
  return false;
}

TEST_P(Compilers, KernelsAreUnloadedWithTheirLastOwner) {
  auto jit = std::make_unique<Jit>(GetParam());
  Loaded first = jit->compile(doubling(2), "twice");
  Loaded copy = first;
  const Function function = first.function();
  ASSERT_TRUE(is_executable(function));
  first = {};
  EXPECT_TRUE(is_executable(function));
  jit.reset();  // a kernel outlives who made it
  float value = 4;
  void* buffers[] = {&value};
  std::int64_t status[4] = {};
  function(0, buffers, nullptr, nullptr, status);
  EXPECT_EQ(value, 8);
  copy = {};
  EXPECT_FALSE(is_executable(function));
}

TEST_P(Compilers, TextsAreDumpedOnRequest) {
  const auto directory =
      std::filesystem::temp_directory_path() / cat("luminal-dump-", static_cast<int>(GetParam()));
  std::filesystem::remove_all(directory);
  setenv("LUMINAL_DUMP", directory.c_str(), 1);
  Jit(GetParam()).compile(doubling(2), "twice");
  unsetenv("LUMINAL_DUMP");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
  std::filesystem::remove_all(directory);
}

INSTANTIATE_TEST_SUITE_P(All, Compilers, ::testing::ValuesIn(compilers()));

TEST(Compilers, TheEnvironmentChooses) {
  setenv("LUMINAL_CPU_COMPILER", "system", 1);
  EXPECT_EQ(Jit().compiler(), Compiler::system);
  setenv("LUMINAL_CPU_COMPILER", "other", 1);
  EXPECT_THROW(Jit(), Error);
  unsetenv("LUMINAL_CPU_COMPILER");
}

}  // namespace
}  // namespace luminal::cpu
