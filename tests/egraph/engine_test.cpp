#include <gtest/gtest.h>

#include <chrono>

#include "luminal/egraph/egraph.h"
#include "luminal/egraph/html.h"
#include "luminal/support/text.h"

namespace luminal::egraph {
namespace {

using namespace build;

constexpr const char* diverging =
    "(datatype E (V i64) (Add E E) (Mul E E))"
    "(rewrite (Add a b) (Add b a)) (rewrite (Mul a b) (Mul b a))"
    "(rewrite (Add a (Add b c)) (Add (Add a b) c)) (rewrite (Mul a (Mul b c)) (Mul (Mul a b) c))"
    "(rewrite (Mul a (Add b c)) (Add (Mul a b) (Mul a c))) (rewrite (Add (Mul a b) (Mul a c)) (Mul a (Add b "
    "c)))"
    "(rewrite (V n) (Add (V (+ n 1)) (V (- n 1))))"
    "(Mul (V 1) (Add (V 2) (Mul (V 3) (V 4))))";

TEST(Budget, RowsStopWithinATenth) {
  EGraph graph;
  graph.run_text(diverging);
  graph.engine().set_budget({.rows = 20000});
  graph.run();
  EXPECT_EQ(graph.engine().stopped(), Stop::rows);
  EXPECT_GE(graph.database().live_rows(), 18000U);
  EXPECT_LE(graph.database().live_rows(), 22000U);
}

TEST(Budget, MatchesStopExactly) {
  EGraph graph;
  graph.run_text(diverging);
  graph.engine().set_budget({.matches = 10000});
  graph.run();
  EXPECT_EQ(graph.engine().stopped(), Stop::matches);
  std::uint64_t matches = 0;
  for (const RuleStatistics& rule : graph.engine().statistics()) matches += rule.matches;
  EXPECT_EQ(matches, 10000U);
}

TEST(Budget, BytesStopWithinATenth) {
  EGraph graph;
  graph.run_text(diverging);
  graph.engine().set_budget({.bytes = 4000000});
  graph.run();
  EXPECT_EQ(graph.engine().stopped(), Stop::bytes);
  EXPECT_GE(graph.database().used_bytes(), 3600000U);
  EXPECT_LE(graph.database().used_bytes(), 4400000U);
}

TEST(Budget, SecondsStop) {
  EGraph graph;
  graph.run_text(diverging);
  const auto start = std::chrono::steady_clock::now();
  graph.engine().set_budget({.seconds = 0.5});
  graph.run();
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(graph.engine().stopped(), Stop::seconds);
  EXPECT_GE(elapsed, 0.4);
  EXPECT_LE(elapsed, 1.0);  // 0.55 on a quiet machine; tests share theirs
}

/// Every cell is canonical and every key has one row.
void expect_congruent(EGraph& graph) {
  Database& database = graph.database();
  for (std::size_t i = 0; i < database.function_count(); ++i) {
    const Function& function = database.function(FunctionId(i));
    for (Row row = 0; row < function.table.rows(); ++row) {
      if (function.table.dead(row)) continue;
      for (const std::uint32_t column : function.class_columns) {
        const Value cell = function.table.row(row)[column];
        ASSERT_EQ(database.find(cell), cell) << function.name;
      }
      ASSERT_EQ(function.table.find(function.table.row(row)), row) << function.name;
    }
  }
}

TEST(Budget, AStepThatTakesTooLongIsUndone) {
  // Classes collapse ever more, so each step's repair takes longer than the last one lets expect.
  EGraph graph;
  graph.run_text(R"((datatype N (Z) (S N) (P N N))
    (rewrite (S x) (P (S x) (Z))) (rewrite (P x (P y z)) (P (P x y) z)) (rewrite (P (P x y) z) (P x (P y z)))
    (rewrite (P x y) (P y x)) (rule ((P x y)) ((S x) (S y))) (S (Z)))");
  for (const double seconds : {0.02, 0.05, 0.1}) {
    graph.engine().set_budget({.seconds = seconds});
    graph.run();
    EXPECT_EQ(graph.engine().stopped(), Stop::seconds);
    expect_congruent(graph);
  }
  EXPECT_TRUE(graph.holds({eq(call("P", {var("a"), var("b")}), call("P", {var("b"), var("a")}))}));
}

TEST(Budget, ADatabaseOutOfTimeIsRestored) {
  EGraph graph;
  graph.run_text("(datatype N (A i64) (F N))");
  for (int i = 0; i < 100; ++i) graph.run_text(cat("(F (A ", i, "))"));
  const Database before = graph.database();
  Database& database = graph.database();
  const std::uint64_t changes = database.changes();
  const FunctionId a = *database.find_function("A");
  const Value zero = database.atoms().integer(0);
  const Value one = database.atoms().integer(1);
  database.unite(database.function(a).output, database.make(a, &zero), database.make(a, &one));
  EXPECT_THROW(database.rebuild(std::chrono::steady_clock::now() - std::chrono::seconds(1)), OutOfTime);
  database.restore(Database(before));
  EXPECT_GT(database.changes(), changes);
  EXPECT_EQ(database.live_rows(), before.live_rows());
  expect_congruent(graph);
  EXPECT_FALSE(graph.holds({eq(call("A", {integer(0)}), call("A", {integer(1)}))}));
}

TEST(Budget, WhatIsLeftIsUsable) {
  EGraph graph;
  graph.run_text(diverging);
  graph.engine().set_budget({.rows = 5000});
  graph.run();
  EXPECT_TRUE(graph.holds({eq(call("Add", {var("a"), var("b")}), call("Add", {var("b"), var("a")}))}));
  EXPECT_NO_THROW(graph.run_text("(extract (Mul (V 1) (V 2)))"));
  graph.engine().set_budget({.rows = 10000});
  EXPECT_GT(graph.run(), 0U);
  EXPECT_GE(graph.database().live_rows(), 9000U);
}

TEST(Backoff, BansRulesThatExplode) {
  EGraph graph;
  graph.run_text(diverging);
  graph.engine().set_backoff(Backoff{.match_limit = 50, .ban_length = 2});
  graph.run("", 12);
  EGraph free;
  free.run_text(diverging);
  free.engine().set_budget({.rows = 20000});
  free.run("", 12);
  EXPECT_LT(graph.database().live_rows(), free.database().live_rows());
}

TEST(Backoff, BannedRulesComeBack) {
  EGraph graph;
  graph.run_text("(relation r (i64)) (relation s (i64)) (rule ((r x)) ((s x)))");
  for (int i = 0; i < 100; ++i) graph.run_text(cat("(r ", i, ")"));
  graph.engine().set_backoff(Backoff{.match_limit = 40, .ban_length = 2});
  graph.run();
  EXPECT_EQ(graph.program().table_sizes().at("s"), 100U);
}

TEST(Threads, GiveTheSameResult) {
  std::string pages[2];
  for (int i = 0; i < 2; ++i) {
    EGraph graph;
    graph.run_text(diverging);
    graph.engine().set_threads(i == 0 ? 1 : 4);
    graph.run("", 5);
    pages[i] = html_page(graph.program(), "same");
    EXPECT_GT(graph.database().live_rows(), 100U);
  }
  EXPECT_EQ(pages[0], pages[1]);
}

TEST(Api, RulesInCode) {
  EGraph graph;
  graph.add_sort("E");
  const FunctionId num = graph.add_constructor("Num", {"i64"}, "E");
  const FunctionId add = graph.add_constructor("Add", {"E", "E"}, "E");
  graph.add_rule("fold",
                 {eq(var("e"), call("Add", {call("Num", {var("a")}), call("Num", {var("b")})})),
                  eq(var("c"), call("+", {var("a"), var("b")}))},
                 {unite(var("e"), call("Num", {var("c")}))});
  const Value sum = graph.add(add, {graph.add(num, {graph.integer(2)}), graph.add(num, {graph.integer(3)})});
  graph.run();
  EXPECT_EQ(graph.find(sum), graph.find(graph.add(num, {graph.integer(5)})));
}

TEST(Api, RulesInCodeAreChecked) {
  EGraph graph;
  graph.add_sort("E");
  graph.add_constructor("Num", {"i64"}, "E");
  EXPECT_THROW(graph.add_rule("bad", {holds(call("Num", {lit(std::string("x"))}))}, {}), ProgramError);
  EXPECT_THROW(graph.add_rule("bad", {holds(call("Nim", {integer(1)}))}, {}), ProgramError);
  EXPECT_THROW(graph.add_rule("bad", {}, {evaluate(call("Num", {var("x")}))}), ProgramError);
}

TEST(Api, OpaqueAtomsAndPrimitives) {
  std::vector<std::string> shapes = {"[2]", "[3]", "[2, 3]"};
  EGraph graph;
  const SortId shape = graph.add_opaque_sort("Shape", [&](Value value) { return shapes[value]; });
  graph.add_sort("T");
  const FunctionId in = graph.add_constructor("In", {"Shape"}, "T");
  const FunctionId shape_of = graph.add_function("shape-of", {"T"}, "Shape", std::nullopt);
  graph.add_primitive("rank", {"Shape"}, "i64", [&](Atoms& atoms, std::span<const Value> arguments) {
    return std::optional<Value>(atoms.integer(arguments[0] == 2 ? 2 : 1));
  });
  graph.add_relation("Matrix", {"T"});
  graph.add_rule("shape", {eq(var("t"), call("In", {var("s")}))},
                 {set(call("shape-of", {var("t")}), var("s"))});
  graph.add_rule("matrix",
                 {eq(var("s"), call("shape-of", {var("t")})), eq(integer(2), call("rank", {var("s")}))},
                 {evaluate(call("Matrix", {var("t")}))});
  graph.add_rule("constant", {eq(var("t"), call("In", {constant(shape, 0)}))},
                 {evaluate(call("Matrix", {var("t")}))});
  const Value vector = graph.add(in, {1});
  const Value matrix = graph.add(in, {2});
  graph.run();
  EXPECT_EQ(graph.lookup(shape_of, {vector}), Value{1});
  EXPECT_EQ(graph.lookup(shape_of, {matrix}), Value{2});
  EXPECT_EQ(graph.program().table_sizes().at("Matrix"), 1U);
  graph.add(in, {0});
  graph.run();
  EXPECT_EQ(graph.program().table_sizes().at("Matrix"), 2U);
}

TEST(Api, ActionsMayReadAndMake) {
  EGraph graph;
  graph.run_text("(datatype E (V i64) (Mul E E) (Product i64))");
  graph.add_action("count-factors", {"E"}, "E", [&](Database& database, std::span<const Value> arguments) {
    const Function& mul = database.function(*database.find_function("Mul"));
    std::int64_t factors = 0;
    std::vector<Value> stack = {arguments[0]};
    while (!stack.empty()) {
      const Value here = stack.back();
      stack.pop_back();
      bool leaf = true;
      for (Row row = 0; row < mul.table.rows(); ++row) {
        if (mul.table.dead(row) || mul.table.output(row) != here) continue;
        stack.insert(stack.end(), {mul.table.row(row)[0], mul.table.row(row)[1]});
        leaf = false;
      }
      factors += leaf ? 1 : 0;
    }
    const Value count = database.atoms().integer(factors);
    return std::optional<Value>(database.make(*database.find_function("Product"), &count));
  });
  graph.run_text(
      "(rule ((= e (Mul a b))) ((union e (count-factors e)))) (let $x (Mul (V 1) (Mul (V 2) (V 3))))");
  graph.run("", 1);
  EXPECT_NO_THROW(graph.run_text("(check (= $x (Product 3)))"));
  EXPECT_THROW(graph.run_text("(rule ((= e (count-factors e))) ())"), ProgramError);
}

TEST(Api, MergeByPrimitive) {
  EGraph graph;
  graph.add_primitive("meet", {"i64", "i64"}, "i64",
                      [](Atoms& atoms, std::span<const Value> a) -> std::optional<Value> {
                        if (a[0] != a[1]) return std::nullopt;
                        return atoms.integer(atoms.integer_of(a[0]));
                      });
  graph.run_text("(function fact () i64 :merge (meet old new)) (set (fact) 1) (set (fact) 1)");
  EXPECT_THROW(graph.run_text("(set (fact) 2)"), ProgramError);
}

TEST(Explain, NamesTheRules) {
  EGraph graph;
  graph.database().track_reasons();
  graph.run_text(
      "(datatype E (V i64) (Add E E))"
      "(rewrite (V 7) (V 5) :name \"seven\") (rewrite (Add a (V 0)) a :name \"zero\")");
  const FunctionId v = *graph.database().find_function("V");
  const FunctionId add = *graph.database().find_function("Add");
  const Value five = graph.add(v, {graph.integer(5)});
  const Value sum = graph.add(add, {graph.add(v, {graph.integer(7)}), graph.add(v, {graph.integer(0)})});
  graph.run();
  std::vector<std::string> names;
  for (const ExplanationStep& step : graph.explain(sum, five)) names.push_back(step.name);
  EXPECT_NE(std::find(names.begin(), names.end(), "seven"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "zero"), names.end());
  EXPECT_TRUE(graph.explain(five, five).empty());
}

TEST(Explain, CongruenceHasItsOwnReasons) {
  EGraph graph;
  graph.database().track_reasons();
  graph.run_text("(datatype E (V i64) (F E)) (rewrite (V 1) (V 2) :name \"one-two\")");
  const FunctionId v = *graph.database().find_function("V");
  const FunctionId f = *graph.database().find_function("F");
  const Value left = graph.add(f, {graph.add(v, {graph.integer(1)})});
  const Value right = graph.add(f, {graph.add(v, {graph.integer(2)})});
  graph.run();
  const auto steps = graph.explain(left, right);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].kind, ExplanationStep::Kind::congruence);
  EXPECT_EQ(steps[0].name, "F");
  EXPECT_EQ(steps[1].name, "one-two");
  EXPECT_EQ(steps[1].depth, 1);
}

TEST(Explain, NamesTheRuleThatMadeACongruentTerm) {
  EGraph graph;
  graph.database().track_reasons();
  graph.run_text(
      "(datatype E (V i64) (F E) (G E))"
      "(rewrite (G x) (F x) :name \"g-f\") (rewrite (V 1) (V 2) :name \"one-two\")");
  const FunctionId v = *graph.database().find_function("V");
  const Value left = graph.add(*graph.database().find_function("G"), {graph.add(v, {graph.integer(1)})});
  const Value right = graph.add(*graph.database().find_function("F"), {graph.add(v, {graph.integer(2)})});
  graph.run();
  std::vector<std::string> names;
  for (const ExplanationStep& step : graph.explain(left, right)) names.push_back(step.name);
  EXPECT_EQ(names, (std::vector<std::string>{"g-f", "F", "one-two"}));
  names.clear();
  for (const ExplanationStep& step : graph.explain(right, left)) names.push_back(step.name);
  EXPECT_EQ(names, (std::vector<std::string>{"F", "one-two", "g-f"}));
}

TEST(Explain, TrackingReasonsChangesNothing) {
  std::string pages[2];
  for (int i = 0; i < 2; ++i) {
    EGraph graph;
    if (i == 1) graph.database().track_reasons();
    graph.run_text(diverging);
    graph.run("", 5);
    pages[i] = html_page(graph.program(), "same");
    EXPECT_EQ(graph.database().reasons().empty(), i == 0);
  }
  EXPECT_EQ(pages[0], pages[1]);
}

TEST(Explain, UnequalTermsHaveNoReason) {
  EGraph graph;
  graph.database().track_reasons();
  graph.run_text("(datatype E (V i64))");
  const FunctionId v = *graph.database().find_function("V");
  EXPECT_TRUE(graph.explain(graph.add(v, {graph.integer(1)}), graph.add(v, {graph.integer(2)})).empty());
}

TEST(Html, ShowsClassesNodesAndTheTerm) {
  Program program;
  program.run("(datatype E (V i64) (Less E E)) (extract (Less (V 1) (V 2)))");
  const std::string page = html_page(program, "a < b");
  EXPECT_NE(page.find("a &lt; b"), std::string::npos);
  EXPECT_NE(page.find("(Less (V 1) (V 2))"), std::string::npos);
  EXPECT_NE(page.find("<a href=\"#c"), std::string::npos);
  EXPECT_NE(page.find("class=\"used\""), std::string::npos);
}

TEST(Engine, JoinsAvoidTheValueThatMostRowsHold) {
  // Almost every list ends in Nil, so a join that goes through Nil sees every pair of lists.
  std::string text =
      "(datatype* (T (V i64) (Op K L)) (K (Exp i64) (Mul i64)) (L (Nil) (Cons T L))) (relation found (T))"
      "(rule ((= u (Op (Exp s) (Cons a (Nil)))) (= b (Op (Mul s) (Cons u (Cons c (Nil)))))) ((found b)))";
  constexpr int count = 300;
  for (int k = 0; k < count; ++k)
    text += cat("(Op (Mul ", k % 4, ") (Cons (Op (Exp ", k % 3, ") (Cons (V ", k, ") (Nil))) (Cons (V ",
                k + count, ") (Nil))))");
  EGraph graph;
  graph.run_text(text + "(run 1)");
  // What is new is joined with what is old.
  graph.run_text("(Op (Mul 1) (Cons (Op (Exp 1) (Cons (V -1) (Nil))) (Cons (V -2) (Nil)))) (run 1)");
  const RuleStatistics rule = graph.engine().statistics().at(0);
  EXPECT_EQ(rule.matches, 76U);
  EXPECT_LT(rule.candidates, 20U * count) << "they should grow with the rows, not with their square";
}

TEST(Engine, SharedBodiesRunEveryRule) {
  Program program;
  program.run(
      "(relation r (i64)) (relation s (i64)) (relation t (i64)) (r 1) (r 2)"
      "(rule ((r x)) ((s x))) (rule ((r x)) ((t x))) (run 1)");
  EXPECT_EQ(program.table_sizes().at("s"), 2U);
  EXPECT_EQ(program.table_sizes().at("t"), 2U);
}

TEST(Engine, ManyRowsDieAndAreForgotten) {
  Program program;
  program.run(
      "(function f (i64) i64 :merge (max old new)) (relation go (i64))"
      "(rule ((go x) (< x 2000)) ((go (+ x 1)) (set (f (% x 10)) x))) (go 0) (run 3000)");
  EXPECT_EQ(program.table_sizes().at("f"), 10U);
  const Function& f = program.database().function(*program.database().find_function("f"));
  EXPECT_LT(f.table.rows(), 200U);
}

}  // namespace
}  // namespace luminal::egraph
