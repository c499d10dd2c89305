#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "luminal/luminal.h"
#include "luminal/optim/optimiser.h"
#include "luminal/optim/schedule.h"

namespace luminal::optim {
namespace {

using Doubles = std::vector<double>;

struct Trajectory {
  Doubles initial;
  std::vector<Doubles> gradients;
  std::vector<Doubles> values;
};

/// What tools/make_optimiser_references.py wrote.
struct References {
  std::map<std::string, Trajectory> optimisers;
  std::map<std::string, Doubles> rows;

  References() {
    std::ifstream file(LUMINAL_SOURCE_DIR "/tests/optim/references.txt");
    std::string line;
    Trajectory* now = nullptr;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string key;
      words >> key;
      if (key == "#") continue;
      std::string name = key;
      if (key == "optimiser" || key == "schedule") words >> name;
      Doubles numbers;
      for (double number = 0; words >> number;) numbers.push_back(number);
      if (key == "optimiser")
        now = &optimisers[name];
      else if (key == "initial")
        now->initial = numbers;
      else if (key == "gradient")
        now->gradients.push_back(numbers);
      else if (key == "value")
        now->values.push_back(numbers);
      else
        rows[name] = numbers;
    }
  }
};

const References& references() {
  static const References loaded;
  return loaded;
}

using Make = std::function<Updates(const Step&)>;

void follow(const std::string& name, double rate, const Make& make) {
  SCOPED_TRACE(name);
  const Trajectory& expected = references().optimisers.at(name);
  ASSERT_EQ(expected.values.size(), 50u);
  Graph g;
  const auto size = static_cast<std::int64_t>(expected.initial.size());
  const State w = g.state("w", {size}, DType::f32, Array(expected.initial));
  const Tensor gradient = g.tensor({size});
  const Tensor input_rate = g.tensor({}).set(rate);
  make({{w}, {gradient}, input_rate}).apply();
  for (std::size_t step = 0; step < expected.values.size(); ++step) {
    gradient.set(Array(expected.gradients[step]));
    g.execute();
    const auto values = w.data<float>();
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], expected.values[step][i],
                  1e-5 * std::max(0.1, std::abs(expected.values[step][i])))
          << "step " << step;
  }
}

TEST(Optimisers, FollowPyTorchFor50Steps) {
  follow("sgd", 0.1, [](const Step& s) { return sgd(s); });
  follow("sgd_momentum", 0.05, [](const Step& s) { return sgd(s, {.momentum = 0.9, .weight_decay = 0.01}); });
  follow("sgd_nesterov", 0.05, [](const Step& s) { return sgd(s, {.momentum = 0.9, .nesterov = true}); });
  follow("sgd_dampened", 0.05, [](const Step& s) { return sgd(s, {.momentum = 0.9, .dampening = 0.3}); });
  follow("adam", 0.01, [](const Step& s) { return adam(s); });
  follow("adam_decay", 0.02, [](const Step& s) {
    return adam(s, {.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.1});
  });
  follow("adamw", 0.01, [](const Step& s) { return adamw(s); });
  follow("rmsprop", 0.01, [](const Step& s) { return rmsprop(s); });
  follow("rmsprop_centred", 0.01,
         [](const Step& s) { return rmsprop(s, {.weight_decay = 0.01, .momentum = 0.9, .centred = true}); });
  follow("adagrad", 0.1, [](const Step& s) { return adagrad(s, {.rate_decay = 0.01, .initial = 0.1}); });
  follow("lion", 0.01, [](const Step& s) { return lion(s, {.weight_decay = 0.1}); });
  follow("lamb", 0.01, [](const Step& s) { return lamb(s); });
}

void expect_rates(const char* name, const Schedule& schedule) {
  const Doubles& expected = references().rows.at(name);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(schedule(static_cast<std::int64_t>(i)), expected[i], 1e-12) << name << " at " << i;
}

TEST(Schedules, FollowPyTorch) {
  expect_rates("step_decay", step_decay(0.5, 7, 0.3));
  expect_rates("exponential", exponential(0.5, 0.9));
  expect_rates("cosine", cosine(0.5, 40, 0.05));
  expect_rates("linear_warm_up", linear_warm_up(10, constant(0.5), 0.2));
  expect_rates("one_cycle", one_cycle(0.5, 50));
  Plateau plateau(0.5, 0.5, 2, 1e-4, 1, 0.01);
  const Doubles& values = references().rows.at("plateau_values");
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(plateau.observe(values[i]), references().rows.at("plateau_rates")[i], 1e-12) << i;
}

TEST(Clipping, ByNormFollowsPyTorch) {
  Graph g;
  const Tensor a = g.tensor({4}).set(Array(references().rows.at("clip_a")));
  const Tensor b = g.tensor({3}).set(Array(references().rows.at("clip_b")));
  const auto clipped = clip_by_norm({a, b}, 1.5);
  const auto untouched = clip_by_norm({a, b}, 1e6);
  const auto cut = clip_by_value({a}, 1.0);
  retrieve(clipped);
  retrieve(untouched);
  retrieve(cut);
  g.execute();
  const char* names[] = {"clipped_a", "clipped_b"};
  for (std::size_t k = 0; k < 2; ++k) {
    const auto values = clipped[k].data<float>();
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], references().rows.at(names[k])[i], 1e-6);
  }
  EXPECT_EQ(untouched[0].data<float>(), a.data<float>());
  for (const float value : cut[0].data<float>()) EXPECT_LE(std::abs(value), 1.0f);
}

TEST(Updates, CanBeSkipped) {
  Graph g;
  const State w = g.state("w", {2}, DType::f32, Array{1.0, 2.0});
  const Tensor gradient = g.tensor({2}).set({1, 1});
  const Tensor go = g.tensor({}, DType::boolean).set(false);
  sgd({{w}, {gradient}, 0.5}).apply_if(go);
  g.execute();
  EXPECT_EQ(w.data<float>(), (std::vector<float>{1, 2}));
  go.set(true);
  g.execute();
  EXPECT_EQ(w.data<float>(), (std::vector<float>{0.5, 1.5}));
}

TEST(Updates, AccumulateOverRuns) {
  Graph g;
  const State w = g.state("w", {1}, DType::f32, Array{1.0});
  const Tensor gradient = g.tensor({1});
  const Accumulated sum = accumulate({w}, {gradient}, 3);
  sgd({{w}, sum.gradients, 1.0}).apply_if(sum.complete);
  sum.updates.apply();
  std::vector<float> seen;
  for (const double x : {3.0, 6.0, 0.0, 1.0, 1.0, 1.0}) {
    gradient.set(Array{x});
    g.execute();
    seen.push_back(w.data<float>()[0]);
  }
  EXPECT_EQ(seen, (std::vector<float>{1, 1, -2, -2, -2, -3}));
}

TEST(Updates, MovingAveragesStartWithTheFirstValue) {
  Graph g;
  const State w = g.state("w", {1}, DType::f32, Array{4.0});
  const Averages averages = moving_average({w}, {w}, 0.75);
  averages.updates.apply();
  w.assign(w * 2);
  std::vector<float> seen;
  for (int i = 0; i < 3; ++i) {
    g.execute();
    seen.push_back(averages.states[0].data<float>()[0]);
  }
  EXPECT_EQ(seen, (std::vector<float>{4, 5, 7.75}));
}

TEST(Updates, SmallParametersComputeInF32) {
  Graph g;
  const State w = g.state("w", {1}, DType::bf16, Array{1.0});
  adamw({{w}, {g.tensor({1}, DType::bf16).set(Array{0.5})}, 0.25}).apply();
  g.execute();
  EXPECT_EQ(w.dtype(), DType::bf16);
  EXPECT_EQ(g.find("w/adamw/mean").dtype(), DType::f32);
}

}  // namespace
}  // namespace luminal::optim
