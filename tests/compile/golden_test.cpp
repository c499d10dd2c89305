// Golden tests: a graph, and what every stage makes of it, side by side in tests/golden/*.test. Written anew
// with LUMINAL_UPDATE_GOLDEN=1, and reviewed in the diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "luminal/codegen/schedule.h"
#include "luminal/codegen/source.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

constexpr std::string_view mark = "--- ";

/// The sections of a golden file, in order: name and text.
using Sections = std::vector<std::pair<std::string, std::string>>;

Sections read(const std::filesystem::path& path) {
  std::ifstream in(path);
  Sections sections;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(mark))
      sections.emplace_back(line.substr(mark.size()), "");
    else if (!sections.empty())
      sections.back().second += line + "\n";
  }
  return sections;
}

/// What each stage makes of the graph. The source is printed for a machine of fixed width, so that it is the
/// same everywhere.
Sections stages(const std::string& graph_text) {
  const Graph graph(parse(graph_text));
  std::string egraph;
  CompileOptions options;
  options.verify = true;
  options.inspect = [&](std::string_view what, const std::string& text) {
    if (what == "egraph") egraph += text;
  };
  const Executable exe = compile(graph, best_device(), options);
  std::string kernels;
  std::string source;
  codegen::Machine machine;
  machine.vector_bytes = 32;
  machine.workers = 2;
  for (const auto& planned : exe.plan().kernels) {
    kernels += kernel::print(planned.kernel);
    const auto printed = codegen::print_kernel(planned.kernel, codegen::c_dialect(),
                                               codegen::default_schedule(planned.kernel, machine));
    // The helpers before the entry are tested by themselves.
    source += printed.text.substr(printed.text.find(" " + printed.entry));
  }
  return {{"graph", graph_text},
          {"egraph", egraph},
          {"kernels", kernels},
          {"plan", runtime::print(exe.plan())},
          {"source", source}};
}

TEST(Golden, EveryStage) {
  const std::filesystem::path folder = std::filesystem::path(LUMINAL_SOURCE_DIR) / "tests/golden";
  const char* update = std::getenv("LUMINAL_UPDATE_GOLDEN");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".test") continue;
    ++files;
    const Sections expected = read(entry.path());
    ASSERT_FALSE(expected.empty()) << entry.path();
    const Sections got = stages(expected[0].second);
    if (update != nullptr && std::string(update) == "1") {
      std::ofstream out(entry.path());
      for (const auto& [name, text] : got)
        out << mark << name << '\n' << text << (text.ends_with('\n') ? "" : "\n");
      continue;
    }
    ASSERT_EQ(expected.size(), got.size()) << entry.path();
    for (std::size_t k = 0; k < got.size(); ++k) {
      std::string text = got[k].second;
      if (!text.ends_with('\n')) text += '\n';
      EXPECT_EQ(text, expected[k].second) << entry.path() << ", stage " << got[k].first;
    }
  }
  EXPECT_GE(files, 4U);
}

}  // namespace
}  // namespace luminal
