// Every rule, where it applies: it fires, and whatever it leads to has the interpreter's values.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <regex>

#include "compare.h"
#include "luminal/luminal.h"
#include "luminal/rewrite/language.h"
#include "tests/guarded.h"
#include "tests/random.h"

namespace luminal {
namespace {

/// What a rule is tried on: tensors of random shape and values.
struct Setting {
  explicit Setting(std::uint64_t seed) : random(seed) {
    rows = random.between(1, 4);
    columns = random.between(2, 9);
  }
  Tensor matrix() { return input({rows, columns}); }
  Tensor row() { return input({columns}); }
  Tensor column() { return input({rows, 1}); }
  Tensor cube() { return input({rows, 3, columns}); }
  Tensor input(const std::vector<std::int64_t>& dims) {
    std::vector<Expr> shape(dims.begin(), dims.end());
    Array array(DType::f32, dims);
    for (std::int64_t i = 0; i < array.size(); ++i)
      array.set(i, make_scalar(DType::f32, Number(random.unit() * 2 + 0.25)));
    return g.tensor(Shape(shape)).set(array);
  }
  Tensor weight(const std::string& name, const std::vector<std::int64_t>& dims) {
    std::vector<Expr> shape(dims.begin(), dims.end());
    Array array(DType::f32, dims);
    for (std::int64_t i = 0; i < array.size(); ++i)
      array.set(i, make_scalar(DType::f32, Number(random.unit() + 0.5)));
    return g.state(name, Shape(shape), DType::f32, array);
  }
  /// A column each, for every row.
  Tensor places() {
    Array array(DType::i64, {rows, 1});
    for (std::int64_t i = 0; i < rows; ++i)
      array.set(i, make_scalar(DType::i64, Number(random.between(0, columns - 1))));
    return g.tensor({rows, 1}, DType::i64).set(array);
  }
  Tensor constant(double value) { return g.constant(value); }

  test::Random random;
  Graph g;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};

using Generator = std::function<Tensor(Setting&)>;

Tensor centred(const Tensor& x) {
  return x - x.mean(-1, true);
}

const std::map<std::string, Generator>& generators() {
  static const std::map<std::string, Generator> all = {
      {"view-of-view",
       [](Setting& s) {
         return (s.matrix().transpose(0, 1) + 1.0).unsqueeze(0).expand({2, -1, -1}).exp2().transpose(1, 2);
       }},
      {"view-identity",
       [](Setting& s) { return (s.matrix() * 2.0).transpose(0, 1).exp2().transpose(0, 1) + s.matrix(); }},
      {"view-of-iota",
       [](Setting& s) { return s.g.iota({s.rows, s.columns}, 1).cast(DType::f32).transpose(0, 1) + 0.5; }},
      {"constant-iota",
       [](Setting& s) { return s.matrix() + s.g.iota(Expr(3), {s.rows, s.columns}).cast(DType::f32); }},
      {"view-of-max",
       [](Setting& s) {
         const Tensor x = s.cube();
         return x - x.max(-1, true);
       }},
      {"add-commutes", [](Setting& s) { return s.matrix() + s.row(); }},
      {"mul-commutes", [](Setting& s) { return s.matrix() * s.row(); }},
      {"maximum-commutes", [](Setting& s) { return s.matrix().maximum(s.row()); }},
      {"mul-one", [](Setting& s) { return s.matrix() * s.constant(1.0); }},
      {"add-zero", [](Setting& s) { return s.matrix() + s.constant(0.0); }},
      {"div-one", [](Setting& s) { return s.matrix() / s.constant(1.0); }},
      {"maximum-same",
       [](Setting& s) {
         const Tensor x = s.matrix();
         return x.maximum(x);
       }},
      {"select-true", [](Setting& s) { return where(s.g.constant(true), s.matrix(), 0.5); }},
      {"select-false", [](Setting& s) { return where(s.g.constant(false), 0.5, s.matrix()); }},
      {"select-same",
       [](Setting& s) {
         const Tensor x = s.matrix();
         return where(x.lt(1.0), x, x);
       }},
      {"mask-of-relu",
       [](Setting& s) {
         const Tensor x = ((s.matrix() * 4.0).floor() - 3.0).log2();  // NaNs, -inf, 0, above 0
         const Tensor y = x.relu();
         return y.sum(0, true) * gradients(y.exp2().sum(), {x})[0];
       }},
      {"cast-same",
       [](Setting& s) {
         return s.g.add_op(Op::cast).input(s.matrix()).type({{}, DType::f32}).finish() * 2.0;
       }},
      {"sum-of-one", [](Setting& s) { return s.column().exp2().sum(1); }},
      {"max-of-one", [](Setting& s) { return s.column().exp2().max(1); }},
      {"prod-of-one", [](Setting& s) { return s.column().exp2().prod(1); }},
      {"max-of-max", [](Setting& s) { return s.cube().exp2().max(-1).max(-1); }},
      {"max-of-same", [](Setting& s) { return (s.column() * 2.0).expand({s.rows, s.columns}).max(1); }},
      {"recip-recip", [](Setting& s) { return s.matrix().reciprocal().reciprocal(); }},
      {"log2-exp2", [](Setting& s) { return s.matrix().exp2().log2(); }},
      {"sum-of-sum", [](Setting& s) { return s.cube().exp2().sum(-1).sum(-1); }},
      {"prod-of-prod", [](Setting& s) { return s.cube().prod(-1).prod(-1); }},
      {"div-as-mul", [](Setting& s) { return s.matrix() / s.column(); }},
      {"div-by-power", [](Setting& s) { return s.matrix() / s.constant(8.0); }},
      {"recip-of-scaled", [](Setting& s) { return (s.matrix() * 3.0).reciprocal(); }},
      {"mul-constants", [](Setting& s) { return s.matrix() * 3.0 * 0.7; }},
      {"add-constants", [](Setting& s) { return s.matrix() + 3.0 + 0.7; }},
      {"collect",
       [](Setting& s) {
         const Tensor x = s.matrix();
         return x * 3.0 + x * 0.7;
       }},
      {"collect-one",
       [](Setting& s) {
         const Tensor x = s.matrix();
         return x + x * 0.7;
       }},
      {"mul-zero", [](Setting& s) { return s.matrix() * s.constant(0.0) + s.row(); }},
      {"hoist", [](Setting& s) { return (s.column() * s.matrix()).sum(1); }},
      {"hoist-second", [](Setting& s) { return (s.column() * s.matrix() * s.row()).sum(1); }},
      {"hoist-third", [](Setting& s) { return (s.column() * s.matrix() * s.row() * s.matrix()).sum(1); }},
      {"sum-of-same", [](Setting& s) { return (s.column() * 2.0).expand({s.rows, s.columns}).sum(1); }},
      {"max-of-scaled", [](Setting& s) { return (s.matrix() * 1.7).max(1); }},
      {"max-of-shifted", [](Setting& s) { return (s.matrix() + s.column()).max(1); }},
      {"max-of-maximum", [](Setting& s) { return s.matrix().maximum(s.column()).max(1); }},
      {"exp-of-scaled",
       [](Setting& s) {
         const Tensor x = s.matrix();
         return ((x - x.max(1, true)) * 0.7).exp2().sum(1);
       }},
      {"exp-of-exp2",
       [](Setting& s) {
         const Tensor x = s.matrix();
         return (x - x.max(1, true)).exp2().sum(1);
       }},
      {"online", [](Setting& s) { return matmul(s.matrix().softmax(-1), s.input({s.columns, 4})); }},
      {"online-ones", [](Setting& s) { return s.matrix().softmax(-1); }},
      {"welford",
       [](Setting& s) {
         s.columns = 8;
         const Tensor x = s.matrix();
         const Tensor y = centred(x);
         return (y * y).sum(-1);
       }},
      {"welford-of-quotient",
       [](Setting& s) {
         s.columns = 7;
         const Tensor y = centred(s.matrix());
         return (y * y).sum(-1);
       }},
      {"scatter-of-one",
       [](Setting& s) {
         return scatter(zeros(s.g, {s.rows, s.columns}) + 2.0, -1, s.places(), s.column()) * s.matrix();
       }},
      {"scatter-add-of-one",
       [](Setting& s) {
         return scatter_add(zeros(s.g, {s.rows, s.columns}), -1, s.places(), s.column()) * s.matrix();
       }},
      {"static-factors",
       [](Setting& s) {
         return matmul(s.matrix() * s.weight("a", {s.columns}), s.weight("b", {s.columns, 3}));
       }},
      {"compact",
       [](Setting& s) {
         return matmul(s.matrix() * s.weight("a", {s.columns}), s.weight("b", {s.columns, 3}));
       }},
  };
  return all;
}

/// The rules of the files in rules/, by name.
std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  const std::regex name(":name \"([^\"]+)\"");
  for (const auto& [file, content] : rewriting::rule_files()) {
    const std::string text(content);
    for (std::sregex_iterator it(text.begin(), text.end(), name); it != std::sregex_iterator(); ++it)
      names.push_back((*it)[1]);
  }
  return names;
}

TEST(Rules, EveryRuleHasAGenerator) {
  for (const auto& rule : rule_names()) EXPECT_TRUE(generators().contains(rule)) << rule;
  const auto names = rule_names();
  for (const auto& [rule, generator] : generators())
    EXPECT_NE(std::find(names.begin(), names.end(), rule), names.end()) << rule << " is in no file";
}

TEST(RandomRules, FireAndKeepValues) {
  const int trials = test::trials(50, 1000);
  for (const auto& [rule, generate] : generators()) {
    std::size_t fired = 0;
    for (int k = 0; k < trials; ++k) {
      Setting setting(static_cast<std::uint64_t>(k) * 977 + 5);
      const Tensor wanted = generate(setting).retrieve();
      setting.g.execute();
      CompileOptions options{.verify = true, .random_seed = k % 3 == 0 ? 0 : static_cast<std::uint64_t>(k)};
      const std::regex matches("Rule " + rule + ": .*num matches ([0-9]+)");
      options.inspect = [&](std::string_view what, const std::string& text) {
        std::smatch found;
        if (what == "statistics" && std::regex_search(text, found, matches)) fired += std::stoull(found[1]);
      };
      Executable exe = compile(setting.g, test::guarded_cpu(), options);
      exe.run();
      const auto wrong = test::difference(exe.array(wanted), wanted.array(), true, 1e-4);
      ASSERT_FALSE(wrong) << rule << ", trial " << k << ": " << *wrong << "\n" << setting.g.text();
    }
    EXPECT_GE(fired, static_cast<std::size_t>(trials) / 2) << rule << " does not fire where it should";
  }
}

}  // namespace
}  // namespace luminal
