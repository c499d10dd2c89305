// Kernels in place of others, and mappings that improve what was mapped before.
#include "luminal/compile/alternatives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "luminal/cli/models.h"
#include "luminal/luminal.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// Products of one input: one kernel, or several.
struct Products {
  explicit Products(const std::vector<std::int64_t>& columns) : g(products(columns)) {}
  static Graph products(const std::vector<std::int64_t>& columns) {
    Graph g;
    const Tensor x = g.named_tensor("x", {48, 64});
    for (std::size_t k = 0; k < columns.size(); ++k)
      matmul(x, g.named_tensor(cat("w", k), {64, columns[k]})).retrieve();
    return g;
  }
  Graph g;
  CompileOptions options;
  Planner planner{g.dag(), device("cpu"), options, {}, {}};
  KernelTable kernels{planner, device("cpu")->machine()};
  Alternatives alternatives{kernels};
  std::string whole;
  std::vector<std::string> parts;

  void note() {
    search::Roofline roofline;
    const Decisions decisions = planner.decide(roofline, true);
    alternatives.note(decisions);
    const auto& together = decisions.regions.begin()->second.together;
    ASSERT_EQ(together.size(), 1U);
    whole = together.begin()->first;
    parts = together.begin()->second;
    ASSERT_EQ(parts.size(), g.dag().outputs().size());
  }
  void time(const std::string& key, std::vector<double> seconds) {
    TunedKernel& kernel = kernels.at(key);
    kernel.candidates.clear();
    for (const double each : seconds) kernel.candidates.push_back({kernel.usual, {.seconds = each}});
  }
  std::vector<Work> works(const Uses& plan) {
    std::vector<Work> result;
    alternatives.add_to(result, plan);
    return result;
  }
};

TEST(Alternatives, AKernelOfSeveralOutputsIsTunedInPlaceOfItsParts) {
  Products pair({32, 96});
  pair.note();
  pair.time(pair.whole, {6});
  pair.time(pair.parts[0], {2, 1});  // tuned
  pair.time(pair.parts[1], {3});
  const Uses plan = {{pair.parts[0], 2}, {pair.parts[1], 2}};
  const auto works = pair.works(plan);
  ASSERT_EQ(works.size(), 1U);
  EXPECT_EQ(works[0].kernel, &pair.kernels.at(pair.whole));
  EXPECT_EQ(works[0].count, 2);
  EXPECT_DOUBLE_EQ(works[0].hope, 5.0 / 6);  // before either was tuned
  EXPECT_DOUBLE_EQ(works[0].gain(), 5.0 / 6 * 2 * (4 - 0.7 * works[0].kernel->prior.seconds));
  pair.time(pair.whole, {9});
  EXPECT_TRUE(pair.works(plan).empty()) << "far behind";
  pair.time(pair.whole, {});
  EXPECT_TRUE(pair.works(plan).empty()) << "never timed";
  pair.time(pair.whole, {6});
  EXPECT_TRUE(pair.works({{pair.parts[0], 2}}).empty()) << "the plan has but one of them";
}

TEST(Alternatives, PartsAreTunedInPlaceOfAKernelOfSeveralOutputs) {
  Products pair({32, 96});
  pair.note();
  pair.time(pair.whole, {6, 4});
  pair.time(pair.parts[0], {2});
  pair.time(pair.parts[1], {6});
  const auto works = pair.works({{pair.whole, 1}});
  ASSERT_EQ(works.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(works[k].kernel, &pair.kernels.at(pair.parts[k]));
    EXPECT_DOUBLE_EQ(works[k].part, k == 0 ? 0.25 : 0.75);
    EXPECT_DOUBLE_EQ(works[k].hope, 0.75);
  }
}

/// As queries, keys and values are.
TEST(Alternatives, PartsMayBeEqual) {
  Products products({32, 32, 32});
  products.note();
  ASSERT_EQ(std::set(products.parts.begin(), products.parts.end()).size(), 1U);
  const std::string part = products.parts[0];
  products.time(products.whole, {6});
  products.time(part, {2});
  for (const std::size_t used : {3U, 6U, 7U}) {
    const auto works = products.works({{part, used}});
    ASSERT_EQ(works.size(), 1U);
    EXPECT_EQ(works[0].kernel, &products.kernels.at(products.whole));
    EXPECT_EQ(works[0].count, static_cast<double>(used / 3));
    EXPECT_DOUBLE_EQ(works[0].gain(),
                     works[0].count * (6 - 0.7 * std::min(6.0, works[0].kernel->prior.seconds)));
  }
  EXPECT_TRUE(products.works({{part, 2}}).empty()) << "one is missing";
  const auto works = products.works({{products.whole, 2}});
  ASSERT_EQ(works.size(), 1U);
  EXPECT_EQ(works[0].kernel, &products.kernels.at(part));
  EXPECT_EQ(works[0].count, 6);
  EXPECT_DOUBLE_EQ(works[0].part, 1.0 / 3);
}

/// Prices that have nothing to do with anything, but are always the same.
class Whims : public search::CostOracle {
 public:
  explicit Whims(std::uint64_t seed) : seed_(seed) {}
  std::optional<search::Estimate> estimate(const kernel::Kernel& kernel, const DimMap& dims) override {
    const std::uint64_t hash = kernel::hash(kernel);
    const auto [known, fresh] = known_.try_emplace(hash);
    if (!fresh) return known->second;
    known->second = roofline_.estimate(kernel, dims);
    if (known->second) {
      const double whim = static_cast<double>(Hash(seed_).add(hash).value() >> 11) * 0x1p-53;
      known->second->seconds *= std::exp(3 * (whim - 0.5));
    }
    return known->second;
  }
  std::optional<std::optional<search::Estimate>> recall(std::uint64_t hash) override {
    const auto known = known_.find(hash);
    if (known == known_.end()) return std::nullopt;
    return std::optional<std::optional<search::Estimate>>(std::in_place, known->second);
  }
  double seconds(const Planner& planner, const Decisions& decisions, const DimMap& dims) {
    double sum = 0;
    for (const auto& [key, launched] : planner.launches(decisions))
      sum += static_cast<double>(launched.second) * estimate(*launched.first, dims)->seconds;
    return sum;
  }

 private:
  std::uint64_t seed_;
  search::Roofline roofline_;
  std::unordered_map<std::uint64_t, std::optional<search::Estimate>> known_;
};

TEST(Mappings, AreNoWorseThanWhatTheyBeginWith) {
  const auto& suite = cli::model_suite();
  const auto model = std::find_if(suite.begin(), suite.end(),
                                  [](const cli::Model& each) { return each.name == "mnist-training"; });
  ASSERT_NE(model, suite.end());
  const Graph graph = model->build(true);
  const CompileOptions options;
  Planner planner(graph.dag(), device("cpu"), options, {}, {});
  constexpr double slack = 1.05;  // which bodies run as one kernel is decided after mapping
  std::size_t lost = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    // What is good by other prices, and what is best that these find.
    Whims other(100 + seed / 2);
    const Decisions begin = planner.decide(other, true);
    Whims whims(seed);
    const double before = whims.seconds(planner, begin, planner.dims());
    const double without = whims.seconds(planner, planner.decide(whims, true), planner.dims());
    Decisions best = planner.decide(whims, true, &begin);
    double seconds = whims.seconds(planner, best, planner.dims());
    EXPECT_LE(seconds, slack * std::min(before, without)) << seed;
    lost += without > slack * seconds ? 1 : 0;
    for (int again = 0; again < 3; ++again) {
      best = planner.decide(whims, true, &best);
      const double next = whims.seconds(planner, best, planner.dims());
      EXPECT_LE(next, slack * seconds) << seed;
      seconds = next;
    }
  }
  EXPECT_GT(lost, 0U) << "to begin with something gains nothing";
}

}  // namespace
}  // namespace luminal
