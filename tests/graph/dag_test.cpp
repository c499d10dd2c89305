#include <gtest/gtest.h>

#include "luminal/luminal.h"

namespace luminal {
namespace {

TEST(Dag, EqualPureNodesAreOne) {
  Graph g;
  const Tensor x = g.tensor({2, 3});
  EXPECT_EQ((x + 1).node(), (x + 1).node());
  EXPECT_NE((x + 1).node(), (x + 2).node());
  EXPECT_EQ(x.transpose(0, 1).exp2().node(), x.permute({1, 0}).exp2().node());
  EXPECT_EQ(x.permute({1, 0}).permute({1, 0}).exp2().node(), x.exp2().node());
  EXPECT_NE(g.tensor({2}).node(), g.tensor({2}).node());
  EXPECT_NE(x.sum(0).node(), x.sum(1).node());
  EXPECT_NE(x.cast(DType::f64).node(), x.cast(DType::f16).node());
}

TEST(Dag, ReplacingMovesReadersAndHandles) {
  Graph g;
  const Tensor x = g.tensor({2, 2}).set({{1, 2}, {3, 4}});
  const Tensor zero = g.constant(0.0);
  const Tensor sum = x + zero;
  const Tensor result = sum.transpose(0, 1).retrieve();
  const Tensor also = (sum * 2).retrieve();
  const Pass add_zero = rewrite(
      "x + 0", Pattern::op(Op::add, {Pattern::any("x"), Pattern::any("zero")}),
      [](const Dag& dag, const Match& match) {
        const Node& node = dag.node(match.at("zero").node);
        const auto* constant = node.try_get<attribute::Constant>();
        return constant != nullptr && to_double(constant->value) == 0;
      },
      [](Dag&, const Match& match) { return match.at("x"); });
  g.apply(verified(sequence("clean", {fixpoint(add_zero), dead_code()})));
  EXPECT_EQ(g.dag().node_count(), 3u) << g.text();  // x, the constant 2, the product
  g.execute();
  EXPECT_EQ(result.data<float>(), (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(also.data<float>(), (std::vector<float>{2, 4, 6, 8}));
}

TEST(Dag, APassThatNeverEndsIsNamed) {
  Graph g;
  const Pass restless{"restless", [](Dag&) { return true; }};
  EXPECT_THROW(g.apply(fixpoint(restless, 10)), InternalError);
}

TEST(Dag, TimedPassesTellTheSink) {
  Graph g;
  std::vector<std::string> lines;
  g.apply(timed(dead_code(), [&](std::string_view line) { lines.emplace_back(line); }));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with("pass dead code: ")) << lines[0];
}

TEST(Dag, VerifiedNamesThePassThatBrokeTheGraph) {
  Graph g;
  const Tensor x = g.tensor({2});
  x.exp2().retrieve();
  const Pass vandal{"vandal", [&](Dag& dag) {
                      dag.make_input(x.exp2().node());
                      dag.set_name(x.node(), "fine so far");
                      return true;
                    }};
  g.apply(verified(vandal));  // an input is a legal node
  const Pass worse{"worse", [&](Dag& dag) {
                     dag.remove({x.exp2().node(), x.node()});
                     return true;
                   }};
  g.apply(verified(worse));
  EXPECT_EQ(g.dag().node_count(), 0u + g.dag().nodes().size());
}

TEST(Dag, RemovingWhatIsReadIsRefused) {
  Graph g;
  const Tensor x = g.tensor({2});
  x.exp2();
  EXPECT_THROW(g.apply({"remove",
                        [&](Dag& dag) {
                          dag.remove({x.node()});
                          return true;
                        }}),
               InternalError);
}

TEST(Dag, SchedulesOrderNodes) {
  Graph g;
  const Tensor x = g.tensor({2}).set({1, 2});
  const Tensor early = x.exp2().retrieve();
  const Tensor late = x.log2().retrieve();
  g.schedule(late, early);
  const auto order = execution_order(g.dag(), g.dag().roots());
  EXPECT_EQ(order, (std::vector<NodeId>{x.node(), late.node(), early.node()}));
}

TEST(Dag, DeleteInputsCutsTheGraph) {
  Graph g;
  const Tensor x = g.tensor({2}).set({1, 2});
  const Tensor shared = g.tensor({2}).set({5, 5});
  const Tensor middle = (x * shared).keep();
  const Tensor result = (middle + shared).retrieve();
  g.execute();
  g.delete_inputs({middle});
  EXPECT_FALSE(g.dag().contains(x.node()));
  EXPECT_TRUE(g.dag().contains(shared.node()));
  middle.set({7, 8});
  g.execute();
  EXPECT_EQ(result.data<float>(), (std::vector<float>{12, 13}));
}

TEST(Dag, DownstreamStopsAtForeignInputs) {
  Graph g;
  const Tensor x = g.tensor({2});
  const Tensor other = g.tensor({2});
  const Tensor a = x * 2;
  const Tensor b = a.exp2();
  const Tensor c = b + other;
  c.exp2();
  const auto found = g.downstream({x});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].node(), a.node());
  EXPECT_EQ(found[1].node(), b.node());
}

}  // namespace
}  // namespace luminal
