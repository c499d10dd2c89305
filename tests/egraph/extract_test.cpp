#include "luminal/egraph/extract.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "luminal/egraph/egraph.h"
#include "tests/random.h"

namespace luminal::egraph {
namespace {

using std::chrono::seconds;
using test::Random;

/// A small random e-graph: leaves, unary and binary nodes of random costs, some classes united, so cycles
/// occur.
EGraph random_graph(Random& random, Value& root) {
  EGraph graph;
  const SortId sort = graph.add_sort("S");
  const FunctionId leaf =
      graph.add_constructor("Leaf", {"i64"}, "S", static_cast<std::uint64_t>(random.between(1, 9)));
  const FunctionId dear =
      graph.add_constructor("Dear", {"i64"}, "S", static_cast<std::uint64_t>(random.between(5, 30)));
  const FunctionId one =
      graph.add_constructor("One", {"S"}, "S", static_cast<std::uint64_t>(random.between(1, 5)));
  const FunctionId two =
      graph.add_constructor("Two", {"S", "S"}, "S", static_cast<std::uint64_t>(random.between(1, 5)));
  std::vector<Value> terms = {graph.add(leaf, {graph.integer(0)}), graph.add(dear, {graph.integer(0)})};
  const auto any = [&] {
    return terms[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(terms.size()) - 1))];
  };
  for (int i = 0; i < 7; ++i) {
    const std::int64_t kind = random.between(0, 3);
    if (kind == 0) terms.push_back(graph.add(dear, {graph.integer(i)}));
    if (kind == 1) terms.push_back(graph.add(one, {any()}));
    if (kind >= 2) terms.push_back(graph.add(two, {any(), any()}));
  }
  for (std::int64_t i = random.between(0, 4); i > 0; --i) graph.unite(sort, any(), any());
  graph.rebuild();
  root = graph.find(terms.back());
  return graph;
}

/// All ways to choose a node for every class below the root, as far as they are acyclic.
void for_each_choice(const Frozen& frozen, std::uint32_t root,
                     const std::function<void(const Choice&)>& visit) {
  Choice choice{std::vector<std::uint32_t>(frozen.class_count(), no_node), {}};
  std::function<void(std::vector<std::uint32_t>)> decide = [&](std::vector<std::uint32_t> open) {
    while (!open.empty() && choice.nodes[open.back()] != no_node) open.pop_back();
    if (open.empty()) {
      if (acyclic(frozen, choice, {root})) visit(choice);
      return;
    }
    const std::uint32_t owner = open.back();
    for (std::uint32_t i = frozen.first_node(owner); i < frozen.last_node(owner); ++i) {
      choice.nodes[owner] = i;
      std::vector<std::uint32_t> next = open;
      for (const std::uint32_t child : frozen.children(frozen.node(i))) next.push_back(child);
      decide(next);
    }
    choice.nodes[owner] = no_node;
  };
  decide({root});
}

/// Counts the terms of classes by cost, up to a bound, by trying everything.
class TermCounter {
 public:
  explicit TermCounter(const Frozen& frozen) : frozen_(frozen) {}

  using Counts = std::map<std::uint64_t, std::uint64_t>;  // cost to how many, at most `enough`
  const Counts& of(std::uint32_t owner, std::uint64_t bound) {
    const auto known = known_.find({owner, bound});
    if (known != known_.end()) return known->second;
    Counts counts;
    for (std::uint32_t i = frozen_.first_node(owner); i < frozen_.last_node(owner); ++i) {
      const FrozenNode& node = frozen_.node(i);
      if (node.cost > bound) continue;
      Counts partial = {{node.cost, 1}};
      for (const std::uint32_t child : frozen_.children(node)) {
        Counts next;
        for (const auto& [before, ways] : partial) {
          for (const auto& [cost, more] : of(child, bound - before)) {
            std::uint64_t& count = next[before + cost];
            count = std::min(enough, count + ways * more);
          }
        }
        partial = std::move(next);
      }
      for (const auto& [cost, ways] : partial) counts[cost] = std::min(enough, counts[cost] + ways);
    }
    return known_[{owner, bound}] = std::move(counts);
  }

 private:
  static constexpr std::uint64_t enough = 1000;
  const Frozen& frozen_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Counts> known_;
};

/// The costs of the terms of a class up to a bound, in order, equal ones as often as there are terms.
std::multiset<std::uint64_t> term_costs(const Frozen& frozen, std::uint32_t owner, std::uint64_t bound) {
  TermCounter counter(frozen);
  std::multiset<std::uint64_t> costs;
  for (const auto& [cost, ways] : counter.of(owner, bound)) {
    for (std::uint64_t i = 0; i < ways; ++i) costs.insert(cost);
  }
  return costs;
}

TEST(Extract, RandomGraphsEqualBruteForce) {
  const int count = test::trials(150, 20000);
  int worse = 0;
  for (int trial = 0; trial < count; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    Value id = 0;
    EGraph graph = random_graph(random, id);
    const Frozen frozen = graph.freeze();
    const std::uint32_t root = frozen.class_of(id);
    std::uint64_t best_dag = no_cost;
    for_each_choice(frozen, root, [&](const Choice& choice) {
      best_dag = std::min(best_dag, dag_cost(frozen, choice, {root}));
    });
    const ExactResult exact = extract_exact(frozen, {root}, seconds(20));
    EXPECT_TRUE(exact.proved);
    EXPECT_EQ(exact.cost, best_dag);
    EXPECT_EQ(dag_cost(frozen, exact.choice, {root}), best_dag);
    EXPECT_TRUE(acyclic(frozen, exact.choice, {root}));

    const Choice dag = extract_dag(frozen);
    EXPECT_TRUE(acyclic(frozen, dag, {root}));
    EXPECT_EQ(dag.costs[root], dag_cost(frozen, dag, {root}));
    EXPECT_GE(dag.costs[root], best_dag);

    const Choice tree = extract_tree(frozen);
    EXPECT_TRUE(acyclic(frozen, tree, {root}));
    if (dag.costs[root] > dag_cost(frozen, tree, {root})) ++worse;
    const auto costs = term_costs(frozen, root, tree.costs[root] + 6);
    ASSERT_FALSE(costs.empty());
    EXPECT_EQ(tree.costs[root], *costs.begin());
  }
  EXPECT_LE(worse, count / 100) << "the greedy choice is nearly always as good as the tree's";
}

TEST(Extract, RandomBestTermsEqualBruteForce) {
  const int count = test::trials(100, 10000);
  constexpr std::size_t wanted = 6;
  for (int trial = 0; trial < count; ++trial) {
    Random random(static_cast<std::uint64_t>(trial) + 5000);
    Value id = 0;
    EGraph graph = random_graph(random, id);
    const Frozen frozen = graph.freeze();
    const std::uint32_t root = frozen.class_of(id);
    const RankedTerms ranked = extract_best(frozen, root, wanted);
    ASSERT_FALSE(ranked.best.empty());
    const auto costs = term_costs(frozen, root, ranked.best.back().cost);
    std::set<std::uint32_t> different;
    auto expected = costs.begin();
    for (const RankedTerm& term : ranked.best) {
      ASSERT_NE(expected, costs.end());
      EXPECT_EQ(term.cost, *expected++);
      EXPECT_TRUE(different.insert(term.term).second);
    }
    if (ranked.best.size() < wanted) {
      EXPECT_EQ(ranked.best.size(), costs.size());
    }
  }
}

TEST(Extract, RandomSamplesAreAcyclicAndDiffer) {
  const int count = test::trials(100, 10000);
  for (int trial = 0; trial < count; ++trial) {
    Random random(static_cast<std::uint64_t>(trial) + 9000);
    Value id = 0;
    EGraph graph = random_graph(random, id);
    const Frozen frozen = graph.freeze();
    const std::uint32_t root = frozen.class_of(id);
    std::set<std::vector<std::uint32_t>> different;
    for (const Choice& choice : sample_terms(frozen, root, 5, 42)) {
      EXPECT_TRUE(acyclic(frozen, choice, {root}));
      EXPECT_NE(dag_cost(frozen, choice, {root}), no_cost);
      EXPECT_TRUE(different.insert(choice.nodes).second);
    }
    EXPECT_FALSE(different.empty());
  }
}

TEST(Extract, SharedWorkCountsOnceInADag) {
  EGraph graph;
  graph.run_text(
      "(datatype E (Leaf :cost 10) (Pair E E :cost 1) (Flat :cost 15))"
      "(let $x (Pair (Leaf) (Leaf))) (union $x (Flat))");
  const Frozen frozen = graph.freeze();
  const std::uint32_t root =
      frozen.class_of(graph.find(graph.add(*graph.database().find_function("Flat"), {})));
  EXPECT_EQ(extract_tree(frozen).costs[root], 15U);
  EXPECT_EQ(extract_dag(frozen).costs[root], 11U);
}

TEST(Extract, CustomCostsDecide) {
  EGraph graph;
  graph.run_text("(datatype E (A) (B)) (union (A) (B))");
  const FunctionId a = *graph.database().find_function("A");
  const Frozen frozen = graph.freeze();
  const Choice choice =
      extract_tree(frozen, [&](const FrozenNode& node) { return node.function == a ? 100U : 7U; });
  EXPECT_EQ(choice.costs[0], 7U);
}

TEST(Extract, ExactSolvesWhatGreedyMisses) {
  // Alone, Right's own child is cheapest; together with Left, sharing Common is.
  EGraph graph;
  graph.run_text(
      "(datatype E (Common :cost 10) (Own :cost 9) (F E :cost 1) (G E :cost 1) (Top E E :cost 1))"
      "(let $left (F (Common))) (let $right (G (Own))) (union $right (G (Common)))"
      "(let $top (Top $left $right))");
  const Frozen frozen = graph.freeze();
  std::uint32_t root = no_class;
  for (std::uint32_t i = 0; i < frozen.node_count(); ++i) {
    if (graph.database().function(frozen.node(i).function).name == "Top") root = frozen.node(i).owner;
  }
  EXPECT_EQ(dag_cost(frozen, extract_dag(frozen), {root}), 22U);
  EXPECT_EQ(extract_exact(frozen, {root}, seconds(5)).cost, 13U);
}

TEST(Extract, ATermTooLongToPrintStillHasItsCost) {
  std::string output;
  Program program([&](std::string_view text) { output += text; });
  std::string text = "(datatype E (Leaf) (Node E E))\n(let $t0 (Leaf))\n";
  for (int i = 0; i < 40; ++i)
    text += "(let $t" + std::to_string(i + 1) + " (Node $t" + std::to_string(i) + " $t" + std::to_string(i) +
            "))\n";
  program.run(text + "(extract $t40)");
  EXPECT_NE(output.find("too long to print"), std::string::npos);
  ASSERT_EQ(program.extract_costs().size(), 1U);
  EXPECT_EQ(program.extract_costs()[0], (std::uint64_t{1} << 41U) - 1);
}

}  // namespace
}  // namespace luminal::egraph
