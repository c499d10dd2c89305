#include "luminal/shape/shape.h"

#include <gtest/gtest.h>

#include "luminal/support/error.h"

namespace luminal {
namespace {

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape({2, 3, 4}).element_count(), Expr(24));
  EXPECT_EQ(Shape({"n", 4}).element_count(), Expr("n") * 4);
  EXPECT_EQ(Shape().element_count(), Expr(1));
  EXPECT_EQ(Shape({0, INT64_MAX, INT64_MAX}).element_count(), Expr(0));
  EXPECT_EQ(Shape({"n", INT64_MAX, 0}).element_count(), Expr(0));
  EXPECT_THROW(Shape({4, INT64_MAX}).element_count(), Error);
  EXPECT_THROW(Shape({"n", 4, INT64_MAX}).element_count(), Error);
}

TEST(Shape, EvaluatesItsDims) {
  const Shape shape{"n", Expr("m") - 2, 3};
  EXPECT_EQ(shape.eval({{"n", 4}, {"m", 5}}), (std::vector<std::int64_t>{4, 3, 3}));
  EXPECT_EQ(shape.substitute({{"m", 5}}), (Shape{"n", 3, 3}));
  EXPECT_EQ(shape.constant_dims(), std::nullopt);
  EXPECT_EQ((Shape{2, 3}).constant_dims(), (std::vector<std::int64_t>{2, 3}));
  try {
    shape.eval({{"n", 4}, {"m", 1}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "shape [n, m - 2, 3]: dim m - 2 is negative: -1");
  }
  try {
    shape.eval({{"m", 4}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "shape [n, m - 2, 3]: dim n has no value: eval of n: no value for n");
  }
}

TEST(Shape, HasRowMajorStrides) {
  EXPECT_EQ((Shape{2, "n", 4}).contiguous_strides(), (std::vector<Expr>{Expr("n") * 4, 4, 1}));
  EXPECT_TRUE(Shape().contiguous_strides().empty());
  EXPECT_EQ((Shape{2, 0, 3}).contiguous_strides(), (std::vector<Expr>{0, 3, 1}));
  EXPECT_NO_THROW((Shape{0, INT64_MAX, INT64_MAX}).contiguous_strides());
  EXPECT_THROW((Shape{2, INT64_MAX, INT64_MAX}).contiguous_strides(), Error);
}

TEST(Shape, ComparesAndPrints) {
  const std::vector<std::int64_t> dims{2, 3};
  EXPECT_EQ(Shape(dims), (Shape{2, 3}));
  EXPECT_EQ(Shape(dims).hash(), (Shape{2, 3}).hash());
  EXPECT_NE((Shape{2, 3}).hash(), (Shape{3, 2}).hash());
  EXPECT_FALSE((Shape{2, 3}) == (Shape{2, 3, 1}));
  EXPECT_EQ((Shape{"batch", 784}).text(), "[batch, 784]");
  EXPECT_EQ(Shape().text(), "[]");
}

}  // namespace
}  // namespace luminal
