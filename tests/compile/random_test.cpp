// Random graphs: compiled runs against the interpreter, with the best plan and with random ones.
#include <gtest/gtest.h>

#include "compare.h"
#include "luminal/compile/compile.h"
#include "luminal/devices/devices.h"
#include "random_model.h"

namespace luminal {
namespace {

/// Compiles, runs and compares everything that is wanted. The text tells what differs.

std::optional<std::string> mismatch(test::RandomModel& model, const CompileOptions& options,
                                    bool finite_only) {
  Graph& graph = model.graph;
  Executable exe = compile(graph, device("cpu"), options);
  bool refused = false;
  try {
    graph.execute();
  } catch (const Error&) {
    refused = true;  // dims that do not fit: both must say so
  }
  try {
    exe.run();
    if (refused) return "runs what the interpreter refuses";
  } catch (const Error& problem) {
    if (refused) return std::nullopt;
    return cat("refused: ", problem.what());
  }
  const double allowed = test::tolerance(graph.dag());
  std::vector<Array> got;
  for (const auto& value : graph.dag().outputs()) got.push_back(exe.array(graph.at(value)));
  for (std::size_t k = 0; k < got.size(); ++k)
    if (const auto wrong =
            test::difference(got[k], graph.at(graph.dag().outputs()[k]).array(), finite_only, allowed))
      return cat("output ", k, " ", *wrong);
  for (const auto& [state, value] : graph.dag().assignments())
    if (const auto wrong =
            test::difference(exe.array(graph.at(state)), graph.at(state).array(), finite_only, allowed))
      return cat("state ", *wrong);
  return std::nullopt;
}

TEST(Random, CompiledGraphsAgreeWithTheInterpreter) {
  const int count = test::trials(500, 20000);
  for (int k = 0; k < count; ++k) {
    test::RandomModel model(static_cast<std::uint64_t>(k) + 1);
    try {
      const auto wrong = mismatch(model, {.verify = true}, true);
      ASSERT_FALSE(wrong) << "seed " << k + 1 << ": " << *wrong << "\n" << model.graph.text();
    } catch (const std::exception& problem) {
      FAIL() << "seed " << k + 1 << ": " << problem.what() << "\n" << model.graph.text();
    }
  }
}

TEST(Random, ExactRulesKeepNansAndInfinities) {
  const int count = test::trials(100, 2000);
  for (int k = 0; k < count; ++k) {
    test::RandomModel model(static_cast<std::uint64_t>(k) + 1'000'000);
    const auto wrong = mismatch(model, {.exact = true, .verify = true}, false);
    ASSERT_FALSE(wrong) << "seed " << k + 1'000'000 << ": " << *wrong << "\n" << model.graph.text();
  }
}

TEST(Random, RandomExtractionsAgree) {
  const int count = test::trials(25, 500);
  for (int k = 0; k < count; ++k) {
    for (std::uint64_t draw = 1; draw <= 16; ++draw) {
      test::RandomModel model(static_cast<std::uint64_t>(k) + 2'000'000);
      try {
        const auto wrong = mismatch(model, {.verify = true, .random_seed = draw}, true);
        ASSERT_FALSE(wrong) << "seed " << k + 2'000'000 << " draw " << draw << ": " << *wrong << "\n"
                            << model.graph.text();
      } catch (const std::exception& problem) {
        FAIL() << "seed " << k + 2'000'000 << " draw " << draw << ": " << problem.what() << "\n"
               << model.graph.text();
      }
    }
  }
}

}  // namespace
}  // namespace luminal
