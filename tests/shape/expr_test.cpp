#include "luminal/shape/expr.h"

#include <gtest/gtest.h>

#include "luminal/support/error.h"

namespace luminal {
namespace {

TEST(Expr, DividesByFloor) {
  EXPECT_EQ(Expr(-7) / 2, Expr(-4));
  EXPECT_EQ(Expr(-7) % 2, Expr(1));
  EXPECT_EQ(Expr(7) / -2, Expr(-4));
  EXPECT_EQ(Expr(7) % -2, Expr(-1));
  EXPECT_EQ(Expr::ceil_div(7, 2), Expr(4));
  EXPECT_EQ(Expr::ceil_div(-7, 2), Expr(-3));
}

TEST(Expr, Prints) {
  const Expr n("n");
  EXPECT_EQ((Expr("batch") * 4 + Expr::coordinate(0, 5) % 3).text(), "4*batch + i0 % 3");
  EXPECT_EQ((n * 3 - 1).rpn(), "n:0: 3 * -1 +");
  EXPECT_EQ(Expr::less(n, "m").text(), "n < m");
}

TEST(Expr, DividesOutSymbolicExtents) {
  const Expr n("n"), m("m");
  const auto i = Expr::coordinate(0, m), j = Expr::coordinate(1, n);
  EXPECT_EQ((i * n + j) / n, i);
  EXPECT_EQ((i * n + j) % n, j);
  const auto k = Expr::coordinate(0, n * m);
  EXPECT_EQ((k / m) * m + k % m, k);
}

}  // namespace
}  // namespace luminal
