#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "luminal/egraph/program.h"

// Every programs/NAME.egg prints programs/NAME.out, whose last line is the error if the program has one. With
// LUMINAL_UPDATE=1 the expected files are written instead of compared.
namespace luminal::egraph {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> programs() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(LUMINAL_SOURCE_DIR "/tests/egraph/programs")) {
    if (entry.path().extension() == ".egg") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string output_of(const std::string& text) {
  std::string output;
  Program program([&](std::string_view part) { output += part; });
  try {
    program.run(text);
  } catch (const ProgramError& error) {
    output += "error: " + error.problem() + "\n";
  }
  return output;
}

class Programs : public testing::TestWithParam<fs::path> {};

TEST_P(Programs, PrintsWhatIsExpected) {
  fs::path expected = GetParam();
  expected.replace_extension(".out");
  const std::string output = output_of(read(GetParam()));
  const char* update = std::getenv("LUMINAL_UPDATE");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(expected, std::ios::binary) << output;
    return;
  }
  EXPECT_EQ(output, read(expected));
}

TEST_P(Programs, TwoRunsAreIdentical) {
  const std::string text = read(GetParam());
  EXPECT_EQ(output_of(text), output_of(text));
}

INSTANTIATE_TEST_SUITE_P(Language, Programs, testing::ValuesIn(programs()), [](const auto& test) {
  std::string name = test.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(ProgramSuite, HasManyPrograms) {
  EXPECT_GE(programs().size(), 150U);
}

}  // namespace
}  // namespace luminal::egraph
