#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "luminal/egraph/program.h"

namespace luminal::egraph {
namespace {

struct Block {
  std::string language;
  std::string text;
};

std::vector<Block> blocks_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<Block> blocks;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), ""});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

TEST(Docs, TutorialProgramsPrintWhatThePageSays) {
  const std::vector<Block> blocks = blocks_of(LUMINAL_SOURCE_DIR "/docs/egraph.md");
  int programs = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].language != "egg") continue;
    ++programs;
    std::string output;
    Program program([&](std::string_view part) { output += part; });
    try {
      program.run(blocks[i].text);
    } catch (const ProgramError& error) {
      output += "error: " + error.problem() + "\n";
    }
    const bool shown = i + 1 < blocks.size() && blocks[i + 1].language == "output";
    EXPECT_EQ(output, shown ? blocks[i + 1].text : "") << blocks[i].text;
  }
  EXPECT_GE(programs, 8);
}

}  // namespace
}  // namespace luminal::egraph
