// Results too large for the interpreter: whole on shrunk dims, and at full size at 4,096 sampled elements.
#include <gtest/gtest.h>

#include <functional>

#include "compare.h"
#include "luminal/luminal.h"
#include "tests/random.h"

namespace luminal {
namespace {

constexpr int sample_count = 4096;

void fill(Graph& graph, test::Random& random) {
  for (const auto id : graph.dag().nodes()) {
    const Node& node = graph.dag().node(id);
    if (node.op != Op::input) continue;
    const DType dtype = node.outputs[0].dtype;
    Array array(dtype, node.outputs[0].shape.eval(graph.dims()));
    for (std::int64_t i = 0; i < array.size(); ++i)
      array.set(i, make_scalar(dtype, is_floating(dtype) ? Number(random.unit() * 2 - 1)
                                                         : Number(random.between(0, 63))));
    graph.at(id).set(array);
  }
}

/// `rows` places, and from each as many neighbours along the last axis as make up the samples: neighbours
/// share what they are computed from, so that a sample of attention stays affordable.
void expect_samples(const Graph& graph, const Tensor& wanted, const Array& got, int rows,
                    test::Random& random) {
  Sampler sampler = graph.sampler();
  const auto& dims = got.dims();
  const std::int64_t length = dims.back();
  double largest = 0;
  for (std::int64_t i = 0; i < got.size(); ++i) largest = std::max(largest, std::abs(to_double(got.at(i))));
  const double allowed = test::tolerance(graph.dag()) * std::max(largest, 1e-6);
  int compared = 0;
  for (int r = 0; r < rows; ++r) {
    std::vector<std::int64_t> place;
    for (const auto dim : dims) place.push_back(random.between(0, dim - 1));
    for (std::int64_t k = 0; k < std::max<std::int64_t>(1, sample_count / rows); ++k) {
      place.back() = (place.back() + 1) % length;
      std::int64_t flat = 0;
      for (std::size_t axis = 0; axis < dims.size(); ++axis) flat = flat * dims[axis] + place[axis];
      const double expected = to_double(sampler.value_at(wanted.value(), place));
      ASSERT_NEAR(to_double(got.at(flat)), expected, allowed) << "at [" << join(place) << "]";
      ++compared;
    }
  }
  EXPECT_GE(compared, sample_count);
}

struct Case {
  std::string name;
  /// Builds the graph at a size: 1 is the small one.
  std::function<Tensor(Graph&, std::int64_t)> build;
  std::int64_t large;
  int rows;
};

std::vector<Case> cases() {
  return {
      {"matmul, bias, gelu",
       [](Graph& g, std::int64_t n) {
         const Tensor x = g.tensor({12 * n, 8 * n});
         return gelu(matmul(x, g.tensor({8 * n, 13 * n})) + g.tensor({13 * n}));
       },
       64, sample_count},
      {"batched matmul, transposed, bf16",
       [](Graph& g, std::int64_t n) {
         return matmul(g.tensor({3, 7 * n, 4 * n}, DType::bf16),
                       g.tensor({3, 9 * n, 4 * n}, DType::bf16).transpose(-1, -2));
       },
       64, sample_count},
      {"convolution",
       [](Graph& g, std::int64_t n) {
         return conv2d(g.tensor({2, 4 * n, 7 * n, 7 * n}), g.tensor({4 * n, 4 * n, 3, 3}), std::nullopt,
                       {.stride = 2, .padding = 1})
             .relu();
       },
       12, sample_count},
      {"softmax", [](Graph& g, std::int64_t n) { return (g.tensor({16 * n, 8 * n}) * 4.0).softmax(-1); }, 256,
       64},
      {"layer norm", [](Graph& g, std::int64_t n) { return g.tensor({16 * n, 8 * n}).layer_norm(-1); }, 128,
       64},
      {"causal attention",
       [](Graph& g, std::int64_t n) {
         const Shape shape{1, 4, 4 * n, 64};
         return scaled_dot_product_attention(g.tensor(shape), g.tensor(shape), g.tensor(shape),
                                             {.causal = true});
       },
       160, 64},
      {"embedding and its norm",
       [](Graph& g, std::int64_t n) {
         const Tensor table = g.tensor({64, 32 * n});
         return embedding(g.tensor({8 * n}, DType::i64), table).rms_norm(-1);
       },
       32, 64},
      {"running sums",
       [](Graph& g, std::int64_t n) { return g.tensor({4 * n, 8 * n}).cumsum(1).transpose(0, 1); }, 64, 64},
      {"sums over both axes",
       [](Graph& g, std::int64_t n) {
         const Tensor x = g.tensor({32 * n, 16 * n});
         return x.sum(0).unsqueeze(0) * x.sum(1).unsqueeze(1);
       },
       64, 64},
  };
}

TEST(Large, AgreesInSamplesAndWholeOnShrunkDims) {
  test::Random random(11);
  for (const auto& each : cases()) {
    SCOPED_TRACE(each.name);
    Graph small;
    const Tensor part = each.build(small, 1).retrieve();
    fill(small, random);
    Executable first = compile(small, device("cpu"), {.verify = true});
    first.run();
    small.execute();
    const auto wrong = test::difference(first.array(part), part.array(), false, test::tolerance(small.dag()));
    ASSERT_FALSE(wrong) << *wrong;

    Graph large;
    const Tensor whole = each.build(large, each.large).retrieve();
    fill(large, random);
    Executable second = compile(large, device("cpu"), {.verify = true});
    second.run();
    expect_samples(large, whole, second.array(whole), each.rows, random);
  }
}

}  // namespace
}  // namespace luminal
