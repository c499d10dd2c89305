// Random graphs: compiled runs against the interpreter, with the best plan and with random ones.
#include <gtest/gtest.h>

#include <algorithm>

#include "compare.h"
#include "luminal/compile/compile.h"
#include "luminal/devices/devices.h"
#include "random_model.h"
#include "tests/guarded.h"

namespace luminal {
namespace {

/// What a run leaves: the outputs, then the states.
std::vector<Array> results(const Graph& graph) {
  std::vector<Array> all;
  for (const auto& value : graph.dag().outputs()) all.push_back(graph.at(value).array());
  for (const auto& [state, value] : graph.dag().assignments()) all.push_back(graph.at(state).array());
  return all;
}
std::vector<Array> results(const Executable& exe, const Graph& graph) {
  std::vector<Array> all;
  for (const auto& value : graph.dag().outputs()) all.push_back(exe.array(graph.at(value)));
  for (const auto& [state, value] : graph.dag().assignments()) all.push_back(exe.array(graph.at(state)));
  return all;
}

/// Moves every floating input by one unit in its last place, up or down.
void nudge(Graph& graph, test::Random& random) {
  for (const auto id : graph.dag().nodes()) {
    const Node& node = graph.dag().node(id);
    if (node.op != Op::input || !is_floating(node.outputs[0].dtype)) continue;
    Array array = graph.at(id).array().clone();
    for (std::int64_t i = 0; i < array.size(); ++i) {
      Scalar element = array.at(i);
      if (to_double(element) != 0) element.bits += random.chance(0.5) ? 1U : static_cast<std::uint64_t>(-1);
      array.set(i, element);
    }
    graph.at(id).set(array);
  }
}

/// How far the interpreter's own results move when inputs move by a unit in the last place: sums that cancel
/// amplify what rounding does to them, and no order of summation is right there.
std::vector<std::vector<double>> sensitivity(std::uint64_t seed, const std::vector<Array>& expected) {
  std::vector<std::vector<double>> most;
  for (const auto& array : expected) most.emplace_back(array.size(), 0.0);
  test::Random random(seed);
  for (int trial = 0; trial < 8; ++trial) {
    test::RandomModel model(seed);
    nudge(model.graph, random);
    model.graph.execute();
    const auto moved = results(model.graph);
    for (std::size_t k = 0; k < moved.size(); ++k)
      for (std::int64_t i = 0; i < moved[k].size(); ++i) {
        double& mine = most[k][static_cast<std::size_t>(i)];
        mine = std::max(mine, std::abs(to_double(moved[k].at(i)) - to_double(expected[k].at(i))));
      }
  }
  // One level of noise an array: an element that happened to stay where it was is no more exact than the
  // others.
  for (auto& array : most)
    if (!array.empty()) std::fill(array.begin(), array.end(), *std::max_element(array.begin(), array.end()));
  return most;
}

/// Compiles, runs and compares everything that is wanted. The text tells what differs.
std::optional<std::string> mismatch(std::uint64_t seed, const CompileOptions& options, bool finite_only) {
  test::RandomModel model(seed);
  Graph& graph = model.graph;
  // Every other one with the memory that plans share among buffers.
  Executable exe = compile(graph, seed % 2 == 0 ? test::guarded_cpu() : device("cpu"), options);
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
  const auto got = results(exe, graph);
  const auto expected = results(graph);
  std::vector<std::vector<double>> slack;
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (!test::difference(got[k], expected[k], finite_only, allowed)) continue;
    if (slack.empty()) slack = sensitivity(seed, expected);
    if (const auto wrong = test::difference(got[k], expected[k], finite_only, allowed, slack[k]))
      return cat(k < graph.dag().outputs().size() ? "output " : "state after output ", k, " ", *wrong, "\n",
                 graph.text());
  }
  return std::nullopt;
}

/// A few are reported, so that one problem does not hide the others.
struct Failures {
  bool enough() const { return count >= 10; }
  void check(std::uint64_t seed, const CompileOptions& options, bool finite_only) {
    try {
      const auto wrong = mismatch(seed, options, finite_only);
      if (!wrong) return;
      ADD_FAILURE() << "seed " << seed << " draw " << options.random_seed << ": " << *wrong;
    } catch (const std::exception& problem) {
      ADD_FAILURE() << "seed " << seed << " draw " << options.random_seed << ": " << problem.what() << "\n"
                    << test::RandomModel(seed).graph.text();
    }
    ++count;
  }
  int count = 0;
};

TEST(Random, CompiledGraphsAgreeWithTheInterpreter) {
  Failures failures;
  for (const int k : test::shard(test::trials(500, 20000)))
    if (!failures.enough()) failures.check(static_cast<std::uint64_t>(k) + 1, {.verify = true}, true);
}

TEST(Random, ExactRulesKeepNansAndInfinities) {
  Failures failures;
  for (const int k : test::shard(test::trials(100, 2000)))
    if (!failures.enough())
      failures.check(static_cast<std::uint64_t>(k) + 1'000'000, {.exact = true, .verify = true}, false);
}

TEST(Random, RandomExtractionsAgree) {
  Failures failures;
  for (const int k : test::shard(test::trials(25, 500)))
    for (std::uint64_t draw = 1; draw <= 16 && !failures.enough(); ++draw)
      failures.check(static_cast<std::uint64_t>(k) + 2'000'000, {.verify = true, .random_seed = draw}, true);
}

}  // namespace
}  // namespace luminal
