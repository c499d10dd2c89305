// Weights in another order of axes: what is chosen, and that it computes the same.
#include "luminal/compile/layouts.h"

#include <gtest/gtest.h>

#include "compare.h"
#include "luminal/compile/decision_text.h"
#include "luminal/compile/planner.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

/// Finds kernels twice as fast if they read an array of this shape.
class Prefers : public search::CostOracle {
 public:
  explicit Prefers(Shape shape) : shape_(std::move(shape)) {}
  std::optional<search::Estimate> estimate(const kernel::Kernel& kernel, const DimMap& dims) override {
    auto estimate = roofline_.estimate(kernel, dims);
    for (const auto& input : kernel.inputs())
      if (estimate && input.shape == shape_) estimate->seconds /= 2;
    return estimate;
  }

 private:
  Shape shape_;
  search::Roofline roofline_;
};

/// Two products, one after the other, with one matrix whose rows lie along the sum, as layers keep theirs.
struct Model {
  Model() {
    const Tensor x = g.named_tensor("x", {5, 21});
    const Tensor y = matmul(x, w.permute({1, 0})).tanh().retrieve();
    matmul(y.slice(1, 0, 21), w.permute({1, 0})).retrieve();
    std::vector<float> numbers(std::size_t{37} * 21);
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<float>((k * 37) % 101) / 50 - 1;
    w.set(numbers);
    x.set(std::vector<float>(numbers.begin(), numbers.begin() + 5 * 21));
  }
  Graph g;
  State w = g.state("w", {37, 21}, DType::f32);
};

void expect_right(Graph& g, Planner& planner, const Decisions& decisions) {
  const Assembled assembled = planner.assemble(decisions, {});
  runtime::Runner runner(device("cpu"), std::make_shared<const runtime::Plan>(assembled.plan));
  std::vector<Array> held;
  for (const auto& [node, buffer] : assembled.sources) held.push_back(g.at(node).array().contiguous());
  std::size_t next = 0;
  for (const auto& [node, buffer] : assembled.sources) {
    const Array& array = held[next++];
    runner.set(buffer, {array.bytes(), static_cast<std::size_t>(array.size()) * 4}, nullptr, false);
  }
  runner.prepare({});
  runner.run();
  g.execute();
  for (const auto& [value, buffer] : assembled.outputs) {
    const Array expected = g.at(value).array();
    Array got(DType::f32, expected.dims());
    runner.get(buffer, {got.bytes(), static_cast<std::size_t>(got.size()) * 4});
    const auto wrong = test::difference(got, expected, false, 1e-5);
    EXPECT_FALSE(wrong) << *wrong;
  }
}

TEST(Layouts, WeightsAreStoredAsKernelsWantThem) {
  Model model;
  const CompileOptions options;
  Planner planner(model.g.dag(), device("cpu"), options, {}, {});
  Prefers stored({21, 37});
  const Decisions decisions = planner.decide(stored, true);
  std::size_t copies = 0, readers = 0;
  for (const auto& [key, region] : decisions.regions)
    for (const auto& kernel : region.kernels) {
      copies += kernel.is_static ? 1 : 0;
      for (const auto& input : kernel.lowered.kernel.inputs())
        readers += input.shape == Shape{21, 37} ? 1 : 0;
    }
  EXPECT_EQ(copies, 1U) << "one for both";
  EXPECT_EQ(readers, 2U);
  expect_right(model.g, planner, decisions);
  const auto kept = parse_decisions(text(decisions));
  ASSERT_TRUE(kept);
  expect_right(model.g, planner, *kept);
}

TEST(Layouts, TheyStayWhereNothingIsGained) {
  Model model;
  const CompileOptions options;
  Planner planner(model.g.dag(), device("cpu"), options, {}, {});
  search::Roofline roofline;  // sees no layouts
  const Decisions decisions = planner.decide(roofline, true);
  for (const auto& [key, region] : decisions.regions) {
    EXPECT_FALSE(region.others.empty()) << "they are there to be timed";
    for (const auto& kernel : region.kernels) EXPECT_FALSE(kernel.is_static);
  }
  expect_right(model.g, planner, decisions);
}

TEST(Layouts, WhatIsNoWeightKeepsItsOwn) {
  Model model;
  model.w.assign(model.w * 0.5F);
  const CompileOptions options;
  Planner planner(model.g.dag(), device("cpu"), options, {}, {});
  Prefers stored({21, 37});
  for (const auto& [key, region] : planner.decide(stored, true).regions)
    for (const auto& kernel : region.kernels) EXPECT_FALSE(kernel.is_static);
}

}  // namespace
}  // namespace luminal
