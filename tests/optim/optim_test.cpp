#include <gtest/gtest.h>

#include <functional>

#include "luminal/luminal.h"
#include "luminal/optim/optimiser.h"
#include "luminal/optim/schedule.h"
#include "trajectories.h"

namespace luminal::optim {
namespace {

using test::Doubles;
using test::References;
using test::Trajectory;

/// Two parameters, [5] and [2, 3], whose elements follow one another in the references.
struct Parameters {
  std::vector<State> states;
  std::vector<Tensor> gradients;

  Parameters(Graph& g, const Doubles& initial) {
    const Shape shapes[] = {{5}, {2, 3}};
    for (std::size_t k = 0; k < 2; ++k) {
      states.push_back(g.state(k == 0 ? "a" : "b", shapes[k], DType::f32));
      states[k].set(Array(part(initial, k)));
      gradients.push_back(g.tensor(shapes[k]));
    }
  }

  void set_gradients(const Doubles& all) const {
    for (std::size_t k = 0; k < 2; ++k) gradients[k].set(Array(part(all, k)));
  }

  static std::vector<float> values(const std::vector<State>& of) {
    std::vector<float> all = of[0].data<float>();
    const auto rest = of[1].data<float>();
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }

 private:
  static Doubles part(const Doubles& all, std::size_t k) {
    return k == 0 ? Doubles(all.begin(), all.begin() + 5) : Doubles(all.begin() + 5, all.end());
  }
};

/// Runs the trajectory's gradients through what `build` makes of the parameters; it returns the states to
/// compare.
using Follow = std::function<std::vector<State>(const Parameters&)>;

void follow(const std::string& name, const Follow& build) {
  SCOPED_TRACE(name);
  const Trajectory& expected = References::get().trajectory(name);
  ASSERT_EQ(expected.values.size(), 50u);
  Graph g;
  const Parameters parameters(g, expected.initial);
  const auto followed = build(parameters);
  for (std::size_t step = 0; step < expected.values.size(); ++step) {
    parameters.set_gradients(expected.gradients[step]);
    g.execute();
    test::expect_relative(Parameters::values(followed), expected.values[step],
                          "step " + std::to_string(step));
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// The rate is an input of the graph, as schedules set it.
void follow(const std::string& name, double rate, const std::function<Updates(const Step&)>& make) {
  follow(name, [&](const Parameters& p) {
    Graph g = p.states[0].graph();
    make({p.states, p.gradients, g.tensor({}).set(rate)}).apply();
    return p.states;
  });
}

TEST(Trajectories, Sgd) {
  follow("sgd", 0.05, [](const Step& s) { return sgd(s); });
  follow("sgd_decay", 0.05, [](const Step& s) { return sgd(s, {.weight_decay = 0.1}); });
  follow("sgd_momentum", 0.02, [](const Step& s) { return sgd(s, {.momentum = 0.9, .weight_decay = 0.01}); });
  follow("sgd_nesterov", 0.02,
         [](const Step& s) { return sgd(s, {.momentum = 0.9, .weight_decay = 0.02, .nesterov = true}); });
  follow("sgd_dampened", 0.02, [](const Step& s) { return sgd(s, {.momentum = 0.9, .dampening = 0.3}); });
}

TEST(Trajectories, Adam) {
  follow("adam", 0.01, [](const Step& s) { return adam(s); });
  follow("adam_decay", 0.02, [](const Step& s) {
    return adam(s, {.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.1});
  });
  follow("adamw", 0.01, [](const Step& s) { return adamw(s); });
  follow("adamw_decay", 0.02, [](const Step& s) {
    return adamw(s, {.beta1 = 0.85, .beta2 = 0.97, .epsilon = 1e-6, .weight_decay = 0.2});
  });
}

TEST(Trajectories, RmspropAndAdagrad) {
  follow("rmsprop", 0.01, [](const Step& s) { return rmsprop(s); });
  follow("rmsprop_momentum", 0.003, [](const Step& s) {
    return rmsprop(s, {.alpha = 0.9, .epsilon = 1e-6, .weight_decay = 0.1, .momentum = 0.8});
  });
  follow("rmsprop_centred", 0.002,
         [](const Step& s) { return rmsprop(s, {.weight_decay = 0.01, .momentum = 0.9, .centred = true}); });
  follow("adagrad", 0.1, [](const Step& s) { return adagrad(s); });
  follow("adagrad_decay", 0.1, [](const Step& s) {
    return adagrad(s, {.rate_decay = 0.01, .weight_decay = 0.05, .initial = 0.1});
  });
}

TEST(Trajectories, LionAndLamb) {
  follow("lion", 0.01, [](const Step& s) { return lion(s); });
  follow("lion_decay", 0.01,
         [](const Step& s) { return lion(s, {.beta1 = 0.95, .beta2 = 0.98, .weight_decay = 0.1}); });
  follow("lamb", 0.005, [](const Step& s) { return lamb(s); });
  follow("lamb_decay", 0.005, [](const Step& s) {
    return lamb(s, {.beta1 = 0.85, .beta2 = 0.98, .epsilon = 1e-5, .weight_decay = 0.2});
  });
}

TEST(Trajectories, Clipping) {
  const auto clipped = [](const auto& clip) {
    return [clip](const Parameters& p) {
      sgd({p.states, clip(p.gradients), 0.02}, {.momentum = 0.9}).apply();
      return p.states;
    };
  };
  follow("clipped_by_norm", clipped([](const auto& gradients) { return clip_by_norm(gradients, 1.5); }));
  follow("clipped_by_value", clipped([](const auto& gradients) { return clip_by_value(gradients, 0.6); }));
}

TEST(Trajectories, Accumulation) {
  follow("accumulated", [](const Parameters& p) {
    const Accumulated sum = accumulate(p.states, p.gradients, 3);
    sgd({p.states, sum.gradients, 0.02}, {.momentum = 0.9}).apply_if(sum.complete);
    sum.updates.apply();
    return p.states;
  });
}

TEST(Trajectories, MovingAverage) {
  follow("average", [](const Parameters& p) {
    sgd({p.states, p.gradients, 0.05}).apply();
    const Averages averages = moving_average(p.states, {p.states[0].next(), p.states[1].next()}, 0.9);
    averages.updates.apply();
    return averages.states;
  });
}

void expect_rates(const char* name, const Schedule& schedule) {
  const Doubles& expected = References::get().rows.at(name);
  ASSERT_EQ(expected.size(), 50u);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(schedule(static_cast<std::int64_t>(i)), expected[i], 1e-12) << name << " at " << i;
}

TEST(Trajectories, Schedules) {
  expect_rates("constant", constant(0.5));
  expect_rates("step_decay", step_decay(0.5, 7, 0.3));
  expect_rates("exponential", exponential(0.5, 0.9));
  expect_rates("cosine", cosine(0.5, 40, 0.05));
  expect_rates("linear_warm_up", linear_warm_up(10, constant(0.5), 0.2));
  expect_rates("warm_up_and_step", linear_warm_up(8, step_decay(0.5, 5, 0.5), 0.1));
  expect_rates("one_cycle", one_cycle(0.5, 50));
  expect_rates("one_cycle_other", one_cycle(0.5, 50, 0.42, 10, 100));
  Plateau plateau(0.5, 0.5, 2, 1e-4, 1, 0.01);
  const Doubles& values = References::get().rows.at("plateau_values");
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(plateau.observe(values[i]), References::get().rows.at("plateau_rates")[i], 1e-12) << i;
}

TEST(Clipping, LeavesSmallGradientsAlone) {
  Graph g;
  const Tensor a = g.tensor({4}).set({1, -2, 3, 0.5});
  const auto by_norm = clip_by_norm({a}, 1e6);
  const auto by_value = clip_by_value({a}, 3);
  retrieve({by_norm[0], by_value[0]});
  g.execute();
  EXPECT_EQ(by_norm[0].data<float>(), a.data<float>());
  EXPECT_EQ(by_value[0].data<float>(), a.data<float>());
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
