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

}  // namespace
}  // namespace luminal
