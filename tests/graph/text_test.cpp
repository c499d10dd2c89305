#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "luminal/luminal.h"
#include "random_graph.h"

namespace luminal {
namespace {

void expect_round_trip(const Dag& dag, const CustomOps& customs = {}) {
  const std::string text = print(dag);
  const Dag read = parse(text, customs);
  EXPECT_TRUE(same_graph(dag, read)) << text << "\nread back as\n" << print(read);
  EXPECT_EQ(print(read), text);
  verify(read);
}

TEST(Text, EveryAttributeRoundTrips) {
  Graph g;
  const Tensor x = g.named_tensor("a \"quoted\"\nname", {"n", g.dim("m", 1, 64), 4}).retrieve();
  const Tensor s = g.state("s", {4}, DType::bf16);
  g.constant(0.1);
  g.constant(std::numeric_limits<double>::quiet_NaN(), DType::f16);
  g.add_op(Op::constant)
      .attribute(attribute::Constant{{DType::f32, 0x7fc00001}})
      .type({{}, DType::f32})
      .finish();
  g.constant(-7);
  g.constant(true);
  g.constant(Number(std::uint64_t{1} << 63), DType::u64);
  g.constant(Expr("n") * 3 + 1);
  g.iota(Expr::coordinate(0, 2) * 3 + Expr::coordinate(1, 3) / 2, {2, 3});
  const auto sorted = g.add_op(Op::sort).attribute(attribute::Sort{true}).input(x).finish_all();
  sorted[1].flip(0).retrieve().keep();
  g.add_op(Op::random).attribute(attribute::Random{9}).type({{3}, DType::u32}).input(g.constant(5)).finish();
  x.print("hello\tworld").diff("some file", 1e-5, 0.25);
  const Tensor late = x.exp2();
  g.schedule(late, sorted[0]);
  x.pad(0, 1, 2, -1.5).slice(1, 1, 5, 2).permute({2, 0, 1}).reshape({-1}).unfold(0, 2, 1, 3).sum().retrieve();
  expect_round_trip(g.dag());
}

TEST(Text, CustomOpsAreFoundByName) {
  auto twice = std::make_shared<CustomOp>();
  twice->name = "twice";
  twice->infer = [](std::span<const TensorType> in) { return std::vector<TensorType>{in[0], in[0]}; };
  twice->run = [](std::span<const Array> in) { return std::vector<Array>{in[0], in[0]}; };
  Graph g;
  g.custom(twice, {g.tensor({2})})[1].retrieve();
  expect_round_trip(g.dag(), {{"twice", twice}});
  EXPECT_THROW(parse(g.text()), Error);
}

TEST(Text, RandomGraphsRoundTrip) {
  const int count = test::trials(500, 20000);
  for (int seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    const test::RandomGraph random(static_cast<std::uint64_t>(seed));
    expect_round_trip(random.graph.dag());
    if (HasFailure()) return;
  }
}

TEST(Text, PassesLeaveGapsInTheIds) {
  Graph g;
  g.tensor({2});
  g.tensor({3}).exp2().retrieve();
  g.apply(dead_code());
  EXPECT_TRUE(g.text().find("%0") == std::string::npos);
  expect_round_trip(g.dag());
}

/// What `parse` says of a text.
std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.problem();
  }
  return "read";
}

TEST(Text, RefusalsNameLineAndColumn) {
  const std::string head = "luminal graph 1\n";
  EXPECT_EQ(refusal(""), "graph text: expected 'luminal graph 1' on the first line");
  EXPECT_EQ(refusal("luminal graph 2"), "graph text, line 1, column 15: expected '1'");
  EXPECT_EQ(refusal(head + "nonsense"),
            "graph text, line 2, column 1: expected a node, dim, output, keep or assign");
  EXPECT_EQ(refusal(head + "%0 = inptu : f32[2]"), "graph text, line 2, column 11: unknown op 'inptu'");
  EXPECT_EQ(refusal(head + "%0 = input : f33[2]"), "graph text, line 2, column 17: unknown dtype 'f33'");
  EXPECT_EQ(refusal(head + "%0 = input : f32[2"), "graph text, line 2, column 19: '[' has no ']'");
  EXPECT_EQ(refusal(head + "%0 = input : f32[2] junk"),
            "graph text, line 2, column 21: expected the line to end here");
  EXPECT_EQ(refusal(head + "%0 = input \"x : f32[2]"),
            "graph text, line 2, column 23: a string has no closing quote");
  EXPECT_EQ(refusal(head + "%0 = exp2 %1 : f32[2]"),
            "graph text, line 2, column 14: %1 is not defined above");
  EXPECT_EQ(refusal(head + "%0 = input : f32[2]\n%0 = input : f32[2]"),
            "graph text, line 3, column 3: %0 is defined twice");
  EXPECT_EQ(refusal(head + "%0 = input : f32[2]\n%1 = exp2 %0 : f32[3]"),
            "graph text, line 3, column 22: %1 gives f32[2], not f32[3]");
  EXPECT_EQ(refusal(head + "%0 = input : f32[2]\n%1 = exp2 %0.1 : f32[2]"),
            "graph text, line 3, column 15: %0 has no output 1");
  EXPECT_EQ(refusal(head + "%0 = input : i32[2]\n%1 = exp2 %0 : i32[2]"),
            "graph text, line 3, column 22: exp2: input 0 is i32[2], expected floating-point elements");
  EXPECT_EQ(refusal(head + "%0 = input : f32[2]\n%1 = exp2 %0 twist(1) : f32[2]"),
            "graph text, line 3, column 22: unknown movement 'twist'");
  EXPECT_EQ(refusal(head + "%0 = input : f32[2]\n%1 = exp2 %0 flip(1, 2) : f32[2]"),
            "graph text, line 3, column 24: flip takes 1 arguments, got 2");
  EXPECT_EQ(refusal(head + "%99999999 = input : f32[2]"),
            "graph text, line 2, column 5: the number exceeds 4224");
  EXPECT_EQ(refusal(head + "output %3"), "graph text, line 2, column 10: %3 is not defined above");
  EXPECT_EQ(refusal(head + "%0 = input : f32[2]\nassign %3 <- %0"),
            "graph text, line 3, column 10: %3 is not defined above");
}

TEST(Text, ConstantsAreOfTheirDtype) {
  const auto of = [](const std::string& constant) {
    return refusal("luminal graph 1\n%0 = constant {" + constant + "[]");
  };
  const std::string at = "graph text, line 2, column 16: the constant ";
  EXPECT_EQ(of("1.5} : i64"), at + "1.5 is no i64");
  EXPECT_EQ(of("1.0} : i64"), at + "1.0 is no i64");
  EXPECT_EQ(of("true} : i32"), at + "true is no i32");
  EXPECT_EQ(of("300} : u8"), at + "300 is no u8");
  EXPECT_EQ(of("-1} : u64"), at + "-1 is no u64");
  EXPECT_EQ(of("9223372036854775808u} : i64"), at + "9223372036854775808u is no i64");
  EXPECT_EQ(of("2} : bool"), at + "2 is no bool");
  EXPECT_EQ(of("0.0} : bool"), at + "0.0 is no bool");
  EXPECT_EQ(of("true} : f32"), at + "true is no f32");
  for (const char* fine :
       {"1} : f32", "0.1} : bf16", "inf} : f16", "-7} : i8", "7u} : u8", "7} : u8", "true} : bool"})
    EXPECT_EQ(of(fine), "read") << fine;
}

TEST(Text, DimsOfIotasAreDeclared) {
  const std::string head = "luminal graph 1\n";
  EXPECT_EQ(refusal(head + "%0 = iota {k*i0} : i64[2]"),
            "graph text, line 2, column 12: the dim 'k' is not declared above");
  EXPECT_EQ(refusal(head + "dim k [0, inf]\n%0 = iota {k*i0} : i64[2]"), "read");
}

/// All checks of all views, in order.
std::vector<std::string> checks_of(const Dag& dag) {
  std::vector<std::string> result;
  for (const auto id : dag.nodes())
    for (const auto& input : dag.node(id).inputs)
      for (const auto& check : input.view.checks()) result.push_back(check.problem);
  for (const auto& output : dag.outputs())
    for (const auto& check : output.view.checks()) result.push_back(check.problem);
  return result;
}

TEST(Text, ChecksSurvive) {
  Graph g;
  const Tensor x = g.tensor({"n", 4});
  // Each of these reads x as it is, if the dims allow it.
  x.reshape({"m", 8}).reshape({"n", 4}).exp2().retrieve();
  x.reshape({"k", 2}).flip(0).flip(0).reshape({"n", 4}).retrieve();
  x.slice(0, 0, Expr("n")).sqrt().retrieve();
  EXPECT_EQ(checks_of(g.dag()).size(), 2u) << g.text();
  EXPECT_EQ(checks_of(parse(g.text())), checks_of(g.dag())) << g.text();
  expect_round_trip(g.dag());
}

TEST(Checks, AreNotSharedAway) {
  Graph g;
  const Tensor x = g.tensor({"n", 4}).retrieve();
  const Tensor plain = x.exp2().retrieve();
  x.set({{1, 2, 3, 4}, {5, 6, 7, 8}});
  g.execute();
  const Tensor checked = x.reshape({"m", 8}).reshape({"n", 4});
  EXPECT_NE(checked.exp2().node(), plain.node());
  checked.retrieve();
  g.set_dim("m", 7);
  EXPECT_THROW(g.execute(), Error);
  g.set_dim("m", 1);
  g.execute();
  EXPECT_EQ(checked.data<float>(), x.data<float>());
}

TEST(Text, DimsOfViewsAreDeclared) {
  Graph g;
  const State s = g.state("s", {3});
  const Tensor x = g.tensor({3});
  // The padding goes again, so the map does not know m; the movements do.
  x.pad(0, "m", 0).flip(0).slice(0, 0, 3).exp2().retrieve();
  x.expand_dim(0, "k").retrieve();
  s.assign(x.pad(0, "j", 0).flip(0).slice(0, 0, 3));
  expect_round_trip(g.dag());
}

TEST(Text, RandomDamageNeverCrashes) {
  const std::string text = test::RandomGraph(7).graph.text();
  test::Random random(1);
  const int count = test::trials(3000, 200000);
  for (int i = 0; i < count; ++i) {
    std::string damaged = text;
    for (std::int64_t k = random.between(1, 4); k > 0; --k) {
      const auto at =
          static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(damaged.size()) - 1));
      switch (random.between(0, 2)) {
        case 0:
          damaged[at] = static_cast<char>(random.between(1, 127));
          break;
        case 1:
          damaged.erase(at, static_cast<std::size_t>(random.between(1, 9)));
          break;
        default:
          damaged.insert(at, 1, static_cast<char>(random.between(32, 126)));
          break;
      }
      if (damaged.empty()) damaged = "x";
    }
    try {
      expect_round_trip(parse(damaged));
    } catch (const Error&) {
      // refused, as it should be
    }
  }
}

TEST(Draw, PagesAreSelfContained) {
  Graph g;
  const Tensor x = g.named_tensor("<x & \"y\">", {"n", 4});
  x.exp2().sum(1).retrieve();
  const std::string page = to_html(g.dag(), "a <title>");
  EXPECT_NE(page.find("f32[n, 4]"), std::string::npos);
  EXPECT_NE(page.find("&lt;x &amp; &quot;y&quot;&gt;"), std::string::npos);
  EXPECT_NE(page.find("text_test.cpp"), std::string::npos) << "source lines are shown";
  for (const char* outside : {"http://", "https://", "src=", "href=", "@import"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  const std::string dot = to_dot(g.dag());
  EXPECT_TRUE(dot.starts_with("digraph luminal {"));
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '>'), 3) << dot;
}

}  // namespace
}  // namespace luminal
