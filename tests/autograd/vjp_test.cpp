#include "luminal/autograd/vjp.h"

#include <gtest/gtest.h>

#include "gradcheck.h"

namespace luminal {
namespace {

using test::Gradcheck;
using test::uniform;
using Tensors = std::vector<Tensor>;

TEST(Vjp, UnaryOps) {
  struct Case {
    Op op;
    double low;
    double high;
  };
  for (const auto& [op, low, high] : {Case{Op::exp2, -2, 2},
                                      {Op::log2, 0.2, 3},
                                      {Op::sin, -3, 3},
                                      {Op::cos, -3, 3},
                                      {Op::atan, -3, 3},
                                      {Op::erf, -2, 2},
                                      {Op::log1p, -0.7, 2},
                                      {Op::expm1, -2, 2},
                                      {Op::sqrt, 0.3, 3},
                                      {Op::recip, 0.4, 2},
                                      {Op::floor, 0.1, 0.9},
                                      {Op::round, 0.6, 1.4}}) {
    SCOPED_TRACE(name(op));
    Gradcheck([op](const Tensors& in) { return in[0].unary(op); }, {uniform({2, 3}, low, high)}).run();
  }
}

TEST(Vjp, BinaryOps) {
  for (const Op op : {Op::add, Op::mul, Op::div, Op::mod, Op::pow, Op::max, Op::idiv}) {
    SCOPED_TRACE(name(op));
    Gradcheck([op](const Tensors& in) { return binary(op, in[0], in[1], "op"); },
              {uniform({2, 3}, 0.6, 2.9, 5), uniform({3}, 0.5, 0.9, 9)})
        .run();
  }
}

TEST(Vjp, Movements) {
  const auto check = [](const char* what, const Gradcheck::Function& function,
                        std::vector<std::int64_t> dims) {
    SCOPED_TRACE(what);
    Gradcheck([&](const Tensors& in) { return function({in[0] * in[0]}); }, {uniform(std::move(dims), -1, 1)})
        .run();
  };
  check("permute", [](const Tensors& in) { return in[0].permute({2, 0, 1}); }, {2, 3, 4});
  check("expand", [](const Tensors& in) { return in[0].expand({5, 4, 3}); }, {4, 1});
  check("slice", [](const Tensors& in) { return in[0].slice(1, 1, 4); }, {2, 5});
  check("slice with a step", [](const Tensors& in) { return in[0].slice(0, 1, 8, 3); }, {8});
  check("slice to the end", [](const Tensors& in) { return in[0].slice(0, 0, 7, 2); }, {7});
  check("empty slice", [](const Tensors& in) { return in[0].slice(0, 3, 3); }, {7});
  check("pad", [](const Tensors& in) { return in[0].pad(0, 2, 1, 5.0); }, {3});
  check("reshape", [](const Tensors& in) { return in[0].reshape({3, 4}).permute({1, 0}).reshape({-1}); },
        {2, 6});
  check("unfold", [](const Tensors& in) { return in[0].unfold(1, 3, 2, 2); }, {2, 9});
  check("overlapping unfold", [](const Tensors& in) { return in[0].unfold(0, 3).unfold(0, 2, 2); }, {7});
  check("flip", [](const Tensors& in) { return in[0].flip(0); }, {4});
  check("strided", [](const Tensors& in) { return in[0].move(movement::Strided{{3, 3}, {1, 2}, 1}); }, {9});
}

TEST(Vjp, Reductions) {
  const auto check = [](const char* what, const Gradcheck::Function& function, const Array& x) {
    SCOPED_TRACE(what);
    Gradcheck(function, {x}).run();
  };
  const Array x = uniform({2, 3, 2}, 0.5, 2);
  check("sum", [](const Tensors& in) { return in[0].sum({0, 2}) * in[0].sum(); }, x);
  check("max", [](const Tensors& in) { return in[0].max(1) * in[0].max(); }, x);
  check("prod", [](const Tensors& in) { return in[0].prod({1, 2}); }, x);
  check(
      "prod with zeros", [](const Tensors& in) { return in[0].prod(1); },
      Array({{0.0, 1.5, 2.0}, {0.0, 0.0, 3.0}, {1.0, 2.0, 3.0}}));
  check("empty", [](const Tensors& in) { return in[0].prod(1) + in[0].sum(1); }, Array(DType::f64, {2, 0}));
}

TEST(Vjp, ScansAndSorts) {
  const Array x = uniform({2, 4}, 0.5, 2);
  for (const Op op : {Op::scan_sum, Op::scan_max, Op::scan_prod}) {
    SCOPED_TRACE(name(op));
    Gradcheck([op](const Tensors& in) { return in[0].graph().add_op(op).input(in[0] * in[0]).finish(); }, {x})
        .run();
  }
  Gradcheck(
      [](const Tensors& in) {
        return in[0].graph().add_op(Op::sort).attribute(attribute::Sort{true}).input(in[0] * in[0]).finish();
      },
      {x})
      .run();
}

TEST(Vjp, GathersAndScatters) {
  const auto indexed = [](Op op, const Tensors& in) {
    Graph g = in[0].graph();
    const Tensor index = g.tensor({2, 3}, DType::i64).set({{2, 0, 0}, {3, 1, 3}});
    OpBuilder builder = g.add_op(op).attribute(attribute::Axis{1});
    builder.input(in[0] * in[0]).input(index);
    if (op != Op::gather) builder.input(in[1] * in[1]);
    return builder.finish();
  };
  Gradcheck([&](const Tensors& in) { return indexed(Op::gather, in); }, {uniform({2, 4}, -1, 1)}).run();
  Gradcheck([&](const Tensors& in) { return indexed(Op::scatter_add, in); },
            {uniform({2, 4}, -1, 1), uniform({2, 3}, -1, 1, 2)})
      .run();
  Gradcheck([&](const Tensors& in) { return indexed(Op::scatter_add, in); },
            {uniform({3, 4}, -1, 1), uniform({2, 3}, -1, 1, 2)})
      .run();
}

TEST(Vjp, ConvolutionAtSymbolicShapes) {
  Graph g;
  const Tensor x = g.tensor({"n", "c", "w"}, DType::f64);
  const Tensor k = g.tensor({5, "c", 3}, DType::f64);
  const Tensor windows = x.pad(2, 1, 1).unfold(2, 3, 2);                              // n c o 3
  const Tensor y = (windows.permute({0, 2, 1, 3}).expand_dim(2, 5) * k).sum({3, 4});  // n o 5
  const auto found = gradients((y * y).sum(), {x, k});
  retrieve(found);
  x.set(uniform({2, 3, 7}, -1, 1));
  k.set(uniform({5, 3, 3}, -1, 1));
  g.execute();
  EXPECT_EQ(found[0].array().dims(), (std::vector<std::int64_t>{2, 3, 7}));
  Gradcheck(
      [](const Tensors& in) {
        return (in[0].pad(2, 1, 1).unfold(2, 3, 2).permute({0, 2, 1, 3}).expand_dim(2, 5) * in[1])
            .sum({3, 4});
      },
      {uniform({2, 3, 7}, -1, 1), uniform({5, 3, 3}, -1, 1)})
      .run(1);
}

TEST(Vjp, TiesOfMaxShare) {
  Graph g;
  const Tensor x = g.tensor({3}).set({2, 2, 1});
  const Tensor y = g.tensor({3}).set({2, 0, 3});
  const auto both = gradients(binary(Op::max, x, y, "max").sum(), {x, y});
  const auto over = gradients(x.max(), {x});
  retrieve(both);
  retrieve(over);
  g.execute();
  EXPECT_EQ(both[0].data<float>(), (std::vector<float>{0.5, 1, 0}));
  EXPECT_EQ(both[1].data<float>(), (std::vector<float>{0.5, 0, 1}));
  EXPECT_EQ(over[0].data<float>(), (std::vector<float>{0.5, 0.5, 0}));
}

TEST(Gradients, StopAndUnused) {
  Graph g;
  const Tensor x = g.tensor({2}).set({3, 4});
  const Tensor y = g.tensor({2}).set({5, 6});
  const auto found = gradients((x * x.stop_gradient()).sum(), {x, y}, {.seed = {}, .allow_unused = true});
  retrieve(found);
  g.execute();
  EXPECT_EQ(found[0].data<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(found[1].data<float>(), (std::vector<float>{0, 0}));
}

TEST(Gradients, CheckpointsComputeAgain) {
  const auto layer = [](const Tensors& in) { return (in[0] * in[1]).sin().exp2().cos(); };
  const auto build = [&](Graph& g, bool checkpointed) {
    const Tensor x = g.tensor({3}).set({0.5, -1.0, 2.0});
    const Tensor w = g.tensor({3}).set({1.5, 0.25, -0.75});
    const Checkpoint first = checkpoint(layer, {x, w});
    const Checkpoint second = checkpoint(layer, {first.output, w});
    GradientOptions options;
    if (checkpointed) options.checkpoints = {first, second};
    const auto found = gradients(second.output.sum(), {x, w}, options);
    retrieve(found);
    g.execute();
    return std::pair(found[0].data<float>(), found[1].data<float>());
  };
  Graph plain;
  Graph again;
  EXPECT_EQ(build(plain, false), build(again, true));
  const auto count = [](const Graph& g, Op op) {
    const auto ids = g.dag().nodes();
    return std::count_if(ids.begin(), ids.end(), [&](NodeId id) { return g.dag().node(id).op == op; });
  };
  EXPECT_EQ(count(again, Op::barrier), 4);
  EXPECT_EQ(count(again, Op::exp2), 2 * count(plain, Op::exp2));
  // What the forward pass computed inside a part is read by the forward pass alone.
  const auto consumers = again.dag().consumers();
  std::size_t read_once = 0;
  for (const auto id : again.dag().nodes())
    if (again.dag().node(id).op == Op::exp2 && consumers[id.index()].size() == 1) ++read_once;
  EXPECT_EQ(read_once, 2u);
}

TEST(Gradients, MaterialiseNoLargerProductThanForward) {
  struct Count {
    std::int64_t forward;
    std::int64_t both;
  };
  // Element-wise nodes are inlined into what reads them, and a sum that only sums read is one sum with them
  // (docs/architecture.md): what is left must exist in memory.
  const auto largest = [](const Graph& g) {
    const auto consumers = g.dag().consumers();
    std::int64_t most = 0;
    for (const auto id : g.dag().nodes()) {
      const Node& node = g.dag().node(id);
      const auto is_sum = [&](NodeId reader) { return g.dag().node(reader).op == Op::reduce_sum; };
      const auto& readers = consumers[id.index()];
      const bool merged =
          is_sum(id) && !readers.empty() && std::all_of(readers.begin(), readers.end(), is_sum);
      const OpKind what = kind(node.op);
      const bool inlined = what == OpKind::unary || what == OpKind::binary || what == OpKind::select ||
                           what == OpKind::convert;
      if (merged || inlined || node.op == Op::iota || node.op == Op::constant) continue;
      // As much of it as is read: the gradient of a padded input is computed where the input is.
      std::int64_t read = readers.empty() ? *node.outputs[0].shape.element_count().constant_value() : 0;
      for (const auto reader : readers)
        for (const auto& input : g.dag().node(reader).inputs)
          if (input.node == id)
            read = std::max(read, std::min(*input.view.shape().element_count().constant_value(),
                                           *node.outputs[0].shape.element_count().constant_value()));
      most = std::max(most, read);
    }
    return most;
  };
  const auto measure = [&](const std::function<Tensor(Graph&, Tensors&)>& build) {
    Graph g;
    Tensors parameters;
    const Tensor y = build(g, parameters);
    const Tensor loss = (y * y).sum();
    const std::int64_t forward = largest(g);
    for (const auto& gradient : gradients(loss, parameters))
      gradient.contiguous();  // as an optimiser would read it
    return Count{forward, largest(g)};
  };
  const auto expect = [&](const char* what, const std::function<Tensor(Graph&, Tensors&)>& build) {
    const Count count = measure(build);
    EXPECT_LE(count.both, count.forward) << what;
  };
  expect("convolution", [](Graph& g, Tensors& p) {
    p = {g.tensor({2, 3, 9, 9}), g.tensor({4, 3, 3, 3})};
    return conv2d(p[0], p[1], std::nullopt, {.stride = 2, .padding = 1, .dilation = 2});
  });
  expect("pooling", [](Graph& g, Tensors& p) {
    p = {g.tensor({2, 3, 8, 8})};
    return max_pool(p[0], 3, 2, {.stride = Spatial(2)}) + avg_pool(p[0], 3, 2, {.stride = Spatial(2)});
  });
  expect("embedding", [](Graph& g, Tensors& p) {
    p = {g.tensor({50, 8})};
    return embedding(g.tensor({70}, DType::i64), p[0]);
  });
  expect("attention", [](Graph& g, Tensors& p) {
    p = {g.tensor({1, 2, 16, 4}), g.tensor({1, 2, 16, 4}), g.tensor({1, 2, 16, 4})};
    return scaled_dot_product_attention(p[0], p[1], p[2], {.causal = true});
  });
}

TEST(Gradients, CustomOps) {
  auto cube = std::make_shared<DifferentiableOp>();
  cube->name = "cube";
  cube->infer = [](std::span<const TensorType> in) { return std::vector<TensorType>{in[0]}; };
  cube->run = [](std::span<const Array> in) {
    Array out(in[0].dtype(), in[0].dims());
    for (std::int64_t i = 0; i < out.size(); ++i) {
      const double x = to_double(in[0].at(i));
      out.set(i, make_scalar(out.dtype(), Number(x * x * x)));
    }
    return std::vector<Array>{out};
  };
  cube->gradient = [](const Tensors& in, const Tensors&, const Tensors& g) {
    return InputGradients{g[0] * in[0] * in[0] * 3};
  };
  Gradcheck([&](const Tensors& in) { return in[0].graph().custom(cube, {in[0] * 2})[0]; },
            {uniform({3}, -1, 1)})
      .run();
}

}  // namespace
}  // namespace luminal
