// What users meet: setting, dims, sharing, refusals.
#include <gtest/gtest.h>

#include <thread>

#include "luminal/luminal.h"

namespace luminal {
namespace {

template <typename F>
std::string refusal(F&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.problem();
  }
  return "nothing was refused";
}

TEST(Executable, DynamicDimsWithoutCompilingAgain) {
  Graph g;
  const Tensor x = g.tensor({"n", 3});
  const Tensor y = (x * 2.0).sum(1).retrieve();
  Executable exe = compile(g, best_device());
  for (const std::int64_t n : {1, 4, 0, 17}) {
    exe.set(x, Array(std::vector<float>(static_cast<std::size_t>(3 * n), 1.0F), {n, 3}));
    exe.run();
    EXPECT_EQ(exe.get<float>(y), std::vector<float>(static_cast<std::size_t>(n), 6.0F));
  }
  exe.set(x, Array(std::vector<float>{1, 2, 3, 4, 5, 6}), {{"n", 2}});
  exe.run();
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{12, 30}));
}

TEST(Executable, ValuesOfTheGraphAreTheFirstOnesAndSetOverrides) {
  Graph g;
  const Tensor x = g.tensor({2});
  const State total = g.state("total", {2});
  total.assign(total + x);
  const Tensor y = (total + x).retrieve();
  x.set({1.0F, 2.0F});
  Executable exe = compile(g, best_device());
  exe.run();
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{1, 2}));
  EXPECT_EQ(exe.get<float>(total), (std::vector<float>{1, 2}));
  exe.set(x, {10.0F, 20.0F});
  exe.run();
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{11, 22}));
  EXPECT_EQ(exe.get<float>(total), (std::vector<float>{11, 22}));
  exe.set(total, {5.0F, 5.0F});
  exe.run();
  EXPECT_EQ(exe.get<float>(total), (std::vector<float>{15, 25}));
}

TEST(Executable, StatesThatExchangeTheirValues) {
  Graph g;
  const State a = g.state("a", {2}, DType::f32, Array(std::vector<float>{1, 2}));
  const State b = g.state("b", {2}, DType::f32, Array(std::vector<float>{3, 4}));
  a.assign(b + 0.0);
  b.assign(a);
  Executable exe = compile(g, best_device());
  exe.run();
  EXPECT_EQ(exe.get<float>(a), (std::vector<float>{3, 4}));
  EXPECT_EQ(exe.get<float>(b), (std::vector<float>{1, 2}));
}

TEST(Executable, StaticWeightsAreComputedAgainWhenTheyAreSet) {
  Graph g;
  const Tensor x = g.tensor({1, 2});
  const State scale = g.state("scale", {2}, DType::f32, Array(std::vector<float>{1, 1}));
  const State w = g.state("w", {2, 3}, DType::f32, Array(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}));
  const Tensor y = matmul(x * scale, w).retrieve();
  Executable exe = compile(g, best_device());
  exe.set(x, {{1.0F, 1.0F}}).run();
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{5, 7, 9}));
  exe.set(scale, {2.0F, 0.0F}).run();
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{2, 4, 6}));
}

TEST(Executable, SeveralFromSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &wrong] {
      Graph g;
      const Tensor x = g.tensor({64, 32});
      const Tensor y = matmul(x, x.transpose(0, 1)).softmax(-1).sum(1).retrieve();
      Executable exe = compile(g, best_device());
      exe.set(x, Array(std::vector<float>(2048, static_cast<float>(t) * 0.1F), {64, 32}));
      for (int k = 0; k < 20; ++k) {
        exe.run();
        for (const float value : exe.get<float>(y))
          wrong[static_cast<std::size_t>(t)] += std::abs(value - 1) > 1e-4F;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(Executable, RefusalsLeaveItUsable) {
  Graph g;
  const Tensor x = g.named_tensor("x", {"n", 3});
  const Tensor index = g.named_tensor("index", {2}, DType::i64);
  const Tensor y = index_select(x, 0, index).retrieve();
  Executable exe = compile(g, best_device());
  EXPECT_NE(refusal([&] { exe.run(); }).find("has no value"), std::string::npos);
  EXPECT_NE(refusal([&] { exe.set(x, Array(std::vector<float>{1, 2}, {1, 2})); }).find("set:"),
            std::string::npos);
  EXPECT_NE(refusal([&] { exe.set(index, {0.5F, 1.0F}); }).find("i64"), std::string::npos);
  EXPECT_NE(refusal([&] { exe.set_dim("m", 3); }).find("no dim is named 'm'"), std::string::npos);
  EXPECT_NE(refusal([&] { exe.set(y, {1.0F}); }).find("expected an input or a state"), std::string::npos);
  EXPECT_NE(refusal([&] { exe.get<float>(y); }).find("nothing has run yet"), std::string::npos);
  exe.set(x, {{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}}).set(index, {0, 5});
  const std::string outside = refusal([&] { exe.run(); });
  EXPECT_NE(
      outside.find(
          "index 5 is outside of an axis that has 2 elements; it is the gather of executable_test.cpp:"),
      std::string::npos)
      << outside;
  exe.set(index, {1, 0}).run();
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{4, 5, 6, 1, 2, 3}));
}

TEST(Executable, MemoryBeyondTheMachineIsAnError) {
  Graph g;
  const Tensor x = g.tensor({"n"});
  const Tensor y = matmul(x.unsqueeze(1), x.unsqueeze(0)).retrieve();
  const auto small = cpu::make_device({.memory_limit = 1 << 20});
  Executable exe = compile(g, small);
  exe.set(x, Array(std::vector<float>(4, 1.0F)));
  exe.run();
  exe.set(x, Array(std::vector<float>(4096, 1.0F)));
  EXPECT_NE(refusal([&] { exe.run(); }).find("bytes of memory"), std::string::npos);
  exe.set(x, Array(std::vector<float>(3, 2.0F)));
  exe.run();
  EXPECT_EQ(exe.get<float>(y), std::vector<float>(9, 4.0F));
}

TEST(Executable, Buckets) {
  Graph g;
  const Tensor x = g.tensor({g.dim("n", 1, 100)});
  const Tensor y = (x + 1.0).retrieve();
  EXPECT_NE(
      refusal([&] { compile(g, best_device(), {.buckets = {{"n", {{5, 2}}}}}); }).find("holds no value"),
      std::string::npos);
  EXPECT_NE(
      refusal([&] { compile(g, best_device(), {.buckets = {{"n", {{200, 300}}}}}); }).find("holds no value"),
      std::string::npos);
  EXPECT_NE(
      refusal([&] { compile(g, best_device(), {.buckets = {{"m", {{1, 2}}}}}); }).find("no dim of the graph"),
      std::string::npos);
  Executable exe = compile(g, best_device(), {.buckets = {{"n", {{1, 8}}}}});
  exe.set(x, Array(std::vector<float>(9, 1.0F)));
  EXPECT_NE(refusal([&] { exe.run(); }).find("outside of the bucket [1, 8]"), std::string::npos);
  exe.set(x, Array(std::vector<float>(8, 1.0F)));
  exe.run();
  EXPECT_EQ(exe.get<float>(y), std::vector<float>(8, 2.0F));
}

TEST(Executable, EveryBucketHasAPlanAndTheyShareStates) {
  Graph g;
  const Expr n = g.dim("n", 1, 4096);
  const Tensor x = g.tensor({n, 32});
  const State total = g.state("total", {16});
  const State weight = g.state("weight", {32, 16});
  const Tensor y = matmul(x, weight * 2.0).retrieve();
  total.assign(total + y.sum(0));
  weight.set(Array(std::vector<float>(32 * 16, 0.5F), {32, 16}));
  EXPECT_NE(refusal([&] { compile(g, best_device(), {.buckets = {{"n", {}}}}); }).find("no buckets for 'n'"),
            std::string::npos);
  Executable exe = compile(g, best_device(), {.buckets = {{"n", {{1, 1}, {2, 64}, {256, 4096}}}}});
  float sum = 0;
  std::set<std::string> plans;
  for (const std::int64_t rows : {1, 7, 300, 1, 64, 1024, 3}) {
    exe.set_dyn(x, Array(std::vector<float>(static_cast<std::size_t>(rows * 32), 1.0F)), {rows, 32});
    exe.run();
    plans.insert(runtime::print(exe.plan()) + exe.plan().kernels[0].source.text);
    EXPECT_EQ(exe.get<float>(y), std::vector<float>(static_cast<std::size_t>(rows * 16), 32.0F));
    sum += 32.0F * static_cast<float>(rows);
    EXPECT_EQ(exe.get<float>(total), std::vector<float>(16, sum));
  }
  EXPECT_EQ(plans.size(), 3U);
  exe.set_dyn(x, Array(std::vector<float>(100 * 32, 1.0F)), {100, 32});
  EXPECT_NE(
      refusal([&] { exe.run(); }).find("'n' = 100 is outside of the buckets [1, 1], [2, 64], [256, 4096]"),
      std::string::npos);
  EXPECT_EQ(exe.get<float>(total), std::vector<float>(16, sum));
  // What is set anew reaches every plan.
  exe.set(weight, Array(std::vector<float>(32 * 16, 1.0F), {32, 16}));
  for (const std::int64_t rows : {300, 1}) {
    exe.set_dyn(x, Array(std::vector<float>(static_cast<std::size_t>(rows * 32), 1.0F)), {rows, 32});
    exe.run();
    EXPECT_EQ(exe.get<float>(y)[0], 64.0F);
  }
}

/// x·x + y, by a kernel of the user's: 64 elements a task.
std::shared_ptr<CustomOp> square_and_add(const std::string& text) {
  auto op = std::make_shared<CustomOp>();
  op->name = "square_and_add";
  op->infer = [](std::span<const TensorType> types) { return std::vector<TensorType>{types[0]}; };
  op->run = [](std::span<const Array> inputs) {
    Array result(DType::f32, inputs[0].dims());
    const auto x = inputs[0].values<float>();
    const auto y = inputs[1].values<float>();
    for (std::size_t i = 0; i < x.size(); ++i)
      result.set(static_cast<std::int64_t>(i), make_scalar(DType::f32, Number(x[i] * x[i] + y[i])));
    return std::vector<Array>{result};
  };
  op->kernels = [text](std::span<const TensorType> types) {
    return std::vector<KernelSource>{{.dialect = "a language of no device"},
                                     {.entry = "square_and_add",
                                      .text = text,
                                      .grid = Expr::ceil_div(types[0].shape[0], 64),
                                      .scratch = 64 * 4,
                                      .dims = {"n"}}};
  };
  return op;
}

TEST(Executable, KernelsOfTheUserTakePart) {
  const std::string text = R"(
void square_and_add(i64 task, void* const* buffers, const i64* dims, void* scratch, i64* status) {
  const f32* x = (const f32*)buffers[0];
  const f32* y = (const f32*)buffers[1];
  f32* out = (f32*)buffers[2];
  f32* squares = (f32*)scratch;
  const i64 first = task * 64, last = first + 64 < dims[0] ? first + 64 : dims[0];
  for (i64 i = first; i < last; ++i) squares[i - first] = x[i] * x[i];
  for (i64 i = first; i < last; ++i) {
    if (y[i] < -99) status[0] = 7;
    out[i] = squares[i - first] + y[i];
  }
}
)";
  Graph g;
  const Tensor x = g.tensor({"n"});
  const Tensor y = g.tensor({"n"});
  const Tensor z = (g.custom(square_and_add(text), {x + 1.0, y})[0] * 2.0).retrieve();
  Executable exe = compile(g, device("cpu"), {.verify = true});
  EXPECT_EQ(exe.host_step_count(), 0U);
  for (const std::size_t n : {1U, 64U, 1000U}) {
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 17);
    for (const auto& input : {x, y}) {
      exe.set(input, Array(values));
      input.set(Array(values));
    }
    exe.run();
    g.execute();
    EXPECT_EQ(exe.get<float>(z), z.data<float>());
  }
  exe.set(y, Array(std::vector<float>(1000, -100.0F)));
  EXPECT_NE(refusal([&] { exe.run(); }).find("custom square_and_add: its kernel reported 7"),
            std::string::npos);
  exe.set(y, Array(std::vector<float>(1000, 1.0F)));
  exe.run();
  EXPECT_EQ(exe.get<float>(z)[0], 4.0F);

  Graph wrong;
  const Tensor w = wrong.tensor({"n"});
  wrong.custom(square_and_add("void square_and_add("), {w, w})[0].retrieve();
  EXPECT_NE(refusal([&] { compile(wrong, device("cpu")); }).find("expected"), std::string::npos);
  Graph unnamed;
  const Tensor u = unnamed.tensor({4});
  unnamed.custom(square_and_add(text), {u, u})[0].retrieve();
  EXPECT_NE(refusal([&] { compile(unnamed, device("cpu")); }).find("asks for the dim 'n'"),
            std::string::npos);
}

TEST(Executable, HostOpsTakePart) {
  Graph g;
  std::vector<std::string> lines;
  g.set_sink([&](std::string_view line) { lines.emplace_back(line); });
  auto op = std::make_shared<CustomOp>();
  op->name = "negate";
  op->infer = [](std::span<const TensorType> types) {
    return std::vector<TensorType>(types.begin(), types.end());
  };
  op->run = [](std::span<const Array> inputs) {
    Array result = inputs[0].clone();
    for (std::int64_t i = 0; i < result.size(); ++i)
      result.set(i, apply(Op::mul, result.at(i), make_scalar(DType::f32, -1.0)));
    return std::vector<Array>{result};
  };
  const Tensor x = g.tensor({3});
  const Tensor y = (g.custom(op, {x * 2.0})[0] + 1.0).retrieve();
  x.set({1.0F, 3.0F, 2.0F});
  Executable exe = compile(g, best_device());
  exe.run();
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{-1, -5, -3}));
  EXPECT_EQ(exe.host_step_count(), 1U);
}

TEST(Executable, DimsThatChangeAreHeldAgainstWhatTheDeviceHas) {
  Graph g;
  const Tensor a = g.tensor({"n"});
  const Tensor b = g.tensor({"n"});
  const State s = g.state("s", {"n"});
  s.assign(s + a);
  const Tensor y = (a + b).retrieve();
  Executable exe = compile(g, best_device());
  exe.set(a, {1, 1, 1}).set(b, {2, 2, 2}).run();
  const auto refused = [&](const std::string& what) {
    try {
      exe.run();
      ADD_FAILURE() << "ran";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  exe.set(b, {2, 2, 2, 2, 2, 2});
  refused("holds f32[3], expected [6]");
  exe.set(a, {1, 1, 1, 1, 1, 1});
  refused("state 's' holds f32[3], expected [6]");
  EXPECT_EQ(exe.get<float>(s), (std::vector<float>{1, 1, 1}));  // as it was
  exe.set(s, {5, 5, 5, 5, 5, 5}).run();
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(exe.get<float>(s), (std::vector<float>{6, 6, 6, 6, 6, 6}));
  exe.set_dim("n", 5);
  refused("expected [5]");
  EXPECT_EQ(exe.array(a).size(), 6);
}

TEST(Executable, TensorsOfOtherGraphsAreRefused) {
  Graph g;
  const Tensor x = g.tensor({3});
  const Tensor y = (x * 2.0).retrieve();
  Executable exe = compile(g, best_device());
  Graph other;
  const Tensor foreign = other.tensor({3});
  const Tensor result = (foreign * 2.0).retrieve();
  EXPECT_THROW(exe.set(foreign, {1, 2, 3}), Error);
  exe.set(x, {1, 2, 3}).run();
  EXPECT_THROW(static_cast<void>(exe.array(result)), Error);
  EXPECT_THROW(static_cast<void>(exe.first(result)), Error);
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{2, 4, 6}));
}

TEST(Executable, TypicalDimsAreOfTheGraph) {
  Graph g;
  static_cast<void>((g.tensor({"n"}) * 2.0).retrieve());
  EXPECT_THROW(compile(g, best_device(), {.tune_dims = {{"m", 3}}}), Error);
  EXPECT_THROW(compile(g, best_device(), {.tune_dims = {{"n", -3}}}), Error);
}

}  // namespace
}  // namespace luminal
