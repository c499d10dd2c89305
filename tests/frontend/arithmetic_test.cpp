#include <gtest/gtest.h>

#include "luminal/luminal.h"

namespace luminal {
namespace {

using Floats = std::vector<float>;

TEST(Arithmetic, BroadcastsLikePyTorch) {
  Graph g;
  const Tensor x = g.tensor({2, 1, 3}).set({{{1, 2, 3}}, {{4, 5, 6}}});
  const Tensor y = g.tensor({2, 1}).set({{10}, {20}});
  const Tensor sum = (x + y).retrieve();
  EXPECT_EQ(sum.shape(), Shape({2, 2, 3}));
  g.execute();
  EXPECT_EQ(sum.data<float>(), (Floats{11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26}));
}

TEST(Arithmetic, ScalarsAndExpressionsOnEitherSide) {
  Graph g;
  const Tensor x = g.tensor({"n"}).set({1, 2, 4});
  Tensor y = 1 - x;
  y += 2 * x;
  y *= Expr("n");
  y -= 0.5;
  y /= 2;
  const Tensor z = (8 / x).retrieve();
  y.retrieve();
  (-x).retrieve();
  g.execute();
  EXPECT_EQ(y.data<float>(), (Floats{2.75, 4.25, 7.25}));
  EXPECT_EQ(z.data<float>(), (Floats{8, 4, 2}));
}

TEST(Arithmetic, PromotesLikePyTorch) {
  Graph g;
  const auto t = [&](DType dtype, bool scalar = false) {
    return scalar ? g.tensor({}, dtype) : g.tensor({2}, dtype);
  };
  EXPECT_EQ((t(DType::i32) + t(DType::f32)).dtype(), DType::f32);
  EXPECT_EQ((t(DType::i32) + 1.5).dtype(), DType::f32);
  EXPECT_EQ((t(DType::f16) + 1.5).dtype(), DType::f16);
  EXPECT_EQ((t(DType::u8) + 1).dtype(), DType::u8);
  EXPECT_EQ((t(DType::boolean) + 1).dtype(), DType::i64);
  EXPECT_EQ((t(DType::f32) + t(DType::f64, true)).dtype(), DType::f32);
  EXPECT_EQ((t(DType::i32) + t(DType::f64, true)).dtype(), DType::f64);
  EXPECT_EQ((t(DType::i32) + t(DType::i64, true)).dtype(), DType::i32);
  EXPECT_EQ((t(DType::i32) / t(DType::i32)).dtype(), DType::f32);
  EXPECT_EQ((t(DType::f16) + t(DType::bf16)).dtype(), DType::f32);
  EXPECT_EQ(t(DType::i8).sum().dtype(), DType::i64);
}

TEST(Arithmetic, IntegersWrap) {
  Graph g;
  const Tensor x = g.tensor({2}, DType::u8).set({250, 1});
  const Tensor y = (x + 10).retrieve();
  const Tensor z = (-x).retrieve();
  g.execute();
  EXPECT_EQ(y.data<std::uint8_t>(), (std::vector<std::uint8_t>{4, 11}));
  EXPECT_EQ(z.data<std::uint8_t>(), (std::vector<std::uint8_t>{6, 255}));
}

TEST(Arithmetic, ErrorsNameTheLineOfTheOperator) {
  Graph g;
  const Tensor x = g.tensor({2});
  const Tensor y = g.tensor({3});
  try {
    x + y;
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where().line, static_cast<std::uint32_t>(__LINE__ - 3));
  }
}

TEST(Movement, SlicesLikePython) {
  Graph g;
  const Tensor x = g.iota({6}, 0);
  const auto values = [&](const Tensor& t) {
    t.retrieve();
    g.execute();
    return t.data<std::int64_t>();
  };
  using Ints = std::vector<std::int64_t>;
  EXPECT_EQ(values(x.slice(0, 1, 4)), (Ints{1, 2, 3}));
  EXPECT_EQ(values(x.slice(0, -3, -1)), (Ints{3, 4}));
  EXPECT_EQ(values(x.slice(0, 0, 100, 4)), (Ints{0, 4}));
  EXPECT_EQ(values(x.slice(0, 4, 2)), (Ints{}));
  EXPECT_EQ(values(x.split_dims(0, 2).transpose(0, 1).merge_dims(0)), (Ints{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(values(x.unfold(0, 2, 2, 3)), (Ints{0, 3, 2, 5}));
  EXPECT_EQ(values(x.expand_dim(0, 2).sum(0)), (Ints{0, 2, 4, 6, 8, 10}));
}

}  // namespace
}  // namespace luminal
