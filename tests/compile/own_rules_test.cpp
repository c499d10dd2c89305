// Rules that users give when they compile: right ones take part, wrong ones are an Error.
#include <gtest/gtest.h>

#include "luminal/luminal.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

struct Model {
  Model() {
    x.set(std::vector<float>{0.1F, 0.2F, 0.3F, 0.7F, 1.1F, 2.3F});
    y.retrieve();
  }
  Graph g;
  Tensor x = g.tensor({2, 3});
  Tensor y = x.sin() * x.sin() + x.cos() * x.cos();
};

Executable compiled(const Graph& graph, const std::string& rules) {
  CompileOptions options;
  options.rules = rules;
  options.cache = false;
  return compile(graph, device("cpu"), options);
}

std::string refusal(const Graph& graph, const std::string& rules) {
  try {
    compiled(graph, rules);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::size_t uses_of_sine(const Executable& exe) {
  std::size_t count = 0;
  for (const auto& kernel : exe.plan().kernels)
    for (const auto& value : kernel.kernel.values())
      if (const auto* map = value.try_get<kernel::value::Map>()) count += map->op == Op::sin ? 1 : 0;
  return count;
}

TEST(OwnRules, TakePartInWhateverRuleset) {
  for (const std::string ruleset : {"", ":ruleset simplify", ":ruleset exact", ":ruleset reassociating"}) {
    Model model;
    Executable exe = compiled(
        model.g,
        cat("(rule ((= e (Add (Mul (Sin x) (Sin x)) (Mul (Cos x) (Cos x)))) (= s (shape x)) (= t (dtype x)))",
            "((union e (Const (one-of t) s))) ", ruleset, " :name \"pythagoras\")"));
    exe.run();
    EXPECT_EQ(exe.get<float>(model.y), std::vector<float>(6, 1.0F)) << ruleset;
    EXPECT_EQ(uses_of_sine(exe), 0U) << ruleset;
  }
  Model model;
  EXPECT_GT(uses_of_sine(compiled(model.g, "")), 0U);
}

TEST(OwnRules, OfAnotherShapeOrDtypeAreRefused) {
  Graph g;
  const Tensor x = g.tensor({2, 3});
  x.set(std::vector<float>(6, 2.5F));
  const Tensor sum = x.sum(1).retrieve();
  const Tensor whole = x.cast(DType::i32).retrieve();
  EXPECT_EQ(refusal(g, "(rule ((= e (Sum k x))) ((union e x)) :ruleset exact)"),
            "rules: a rule joins a tensor of shape [2, 3] with one of shape [2]");
  EXPECT_EQ(refusal(g, "(rule ((= e (Cast t x))) ((union e x)) :ruleset exact)"),
            "rules: a rule joins a tensor of f32 with one of i32");
  // The graph is as it was.
  Executable exe = compiled(g, "");
  exe.run();
  EXPECT_EQ(exe.get<float>(sum), std::vector<float>(2, 7.5F));
  EXPECT_EQ(exe.get<std::int32_t>(whole), std::vector<std::int32_t>(6, 2));
}

TEST(OwnRules, ThatTakeFactsAwayAreRefused) {
  Model model;
  for (const std::string fact : {"shape", "dtype"})
    EXPECT_NE(refusal(model.g, cat("(rule ((= s (", fact, " e)) (= e (Sin x))) ((delete (", fact,
                                   " e))) :ruleset exact)"))
                  .find("the rules that were given lead to what can't be compiled"),
              std::string::npos)
        << fact;
}

TEST(OwnRules, ThatAreNoRulesAreRefusedWithTheirPlace) {
  Model model;
  EXPECT_EQ(refusal(model.g, "(rule").substr(0, 7), "rules: ");
  EXPECT_EQ(refusal(model.g, "\n  (rewrite (Sine x) x)").substr(0, 8), "rules: 2");
  EXPECT_NE(refusal(model.g, "(rule ((= e (Sin x))) ((panic \"no sines\")) :ruleset exact)").find("no sines"),
            std::string::npos);
}

TEST(OwnRules, ThatNeverEndAreStopped) {
  Model model;
  std::string stages;
  CompileOptions options;
  options.cache = false;
  options.rules =
      "(rule ((= e (Sin x)) (= s (shape x)) (= t (dtype x))) ((union e (Sin (Add x (Const (one-of t) s))))))";
  options.sink = [&](std::string_view line) { stages += line; };
  Executable exe = compile(model.g, device("cpu"), options);
  EXPECT_NE(stages.find("budget used up"), std::string::npos) << stages;
  exe.run();
  EXPECT_EQ(exe.get<float>(model.y).size(), 6U);
}

}  // namespace
}  // namespace luminal
