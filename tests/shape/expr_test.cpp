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
  EXPECT_EQ(Expr::ceil_div(INT64_MAX, 2), Expr((INT64_MAX / 2) + 1));
  EXPECT_EQ(Expr(INT64_MIN) % -1, Expr(0));
}

TEST(Expr, RefusesConstantsThatOverflow) {
  EXPECT_THROW(Expr(INT64_MAX) + 1, Error);
  EXPECT_THROW(Expr(INT64_MIN) - 1, Error);
  EXPECT_THROW(Expr(INT64_MAX) * 2, Error);
  EXPECT_THROW(Expr("n") * INT64_MAX * 2, Error);
  EXPECT_THROW(Expr(SIZE_MAX), Error);
  EXPECT_EQ(Expr(-1) - Expr(INT64_MIN), Expr(INT64_MAX));
  // A claim that would overflow on one side is kept as it was written.
  const auto x = Expr::variable("x", INT64_MIN, INT64_MAX);
  EXPECT_EQ(Expr::less(x + INT64_MAX, Expr(INT64_MIN)).eval({{"x", 0}}), 0);
  EXPECT_EQ((x / Expr(INT64_MIN)).eval({{"x", INT64_MIN}}), 1);
}

TEST(Expr, EvaluatesOrSaysWhyNot) {
  const Expr n("n"), m("m");
  EXPECT_EQ((n * 3 + m % 4).eval({{"n", 5}, {"m", 7}}), 18);
  EXPECT_THROW((n + m).eval({{"n", 5}}), Error);
  EXPECT_THROW((n / m).eval({{"n", 5}, {"m", 0}}), Error);
  EXPECT_THROW((n * n).eval({{"n", std::int64_t{1} << 40}}), Error);
  EXPECT_EQ((n / m).try_eval({{"n", 5}, {"m", 0}}), std::nullopt);
  try {
    (n / m).eval({{"n", 5}, {"m", 0}});
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "eval of n / m: division by zero in n / m");
  }
  // (n + big) − big leaves 64 bits on the way only.
  const Expr big = Expr("b") * Expr("b");
  EXPECT_EQ((big * 2 + n - big - big).eval({{"n", 1}, {"b", std::int64_t{1} << 40}}), 1);
}

TEST(Expr, KnowsItsParts) {
  const Expr n("n");
  const auto i = Expr::coordinate(2, n * 4);
  EXPECT_EQ(i.name(), "i2");
  EXPECT_EQ(i.coordinate_axis(), 2U);
  EXPECT_EQ(i.coordinate_extent(), n * 4);
  EXPECT_EQ(n.coordinate_axis(), std::nullopt);
  EXPECT_THROW(n.coordinate_extent(), Error);
  const auto sum = n * 3 + i + 7;
  EXPECT_EQ(sum.kind(), Expr::Kind::add);
  EXPECT_EQ(sum.operands(), (std::vector<Expr>{n * 3, i, 7}));
  EXPECT_EQ((n * 3).operands(), (std::vector<Expr>{n, 3}));
  EXPECT_EQ((n % 3).operands(), (std::vector<Expr>{n, 3}));
  EXPECT_EQ(sum.variables(), (std::vector<Expr>{i, n}));
  EXPECT_TRUE(i.depends_on("n"));
  EXPECT_FALSE(n.depends_on("m"));
  const auto bounded = Expr::variable("x", -3, 8);
  EXPECT_EQ(bounded.declared_bounds(), (Interval{-3, 8}));
  EXPECT_EQ((bounded * -2).bounds(), (Interval{-16, 6}));
  EXPECT_EQ((bounded * bounded).bounds(), (Interval{0, 64}));
  EXPECT_EQ((n % 5).bounds(), (Interval{0, 4}));
}

TEST(Expr, TellsVariablesApartByBounds) {
  EXPECT_FALSE(Expr::variable("n", 0) == Expr::variable("n", 1));
  EXPECT_FALSE(Expr::coordinate(0, 4) == Expr::coordinate(0, 5));
  EXPECT_EQ(Expr("n"), Expr::variable("n", 0));
  EXPECT_FALSE(prove_lt(Expr::variable("n", 1), Expr::variable("n", 2)));
}

TEST(Expr, IsMadeOfEveryKindOfInteger) {
  EXPECT_EQ(Expr(5LL << 40).text(), "5497558138880");
  EXPECT_EQ(Expr(std::uint8_t{7}), Expr(7));
  EXPECT_EQ(Expr(7ULL), Expr(7));
  EXPECT_THROW(Expr(~0ULL), Error);
}

TEST(Expr, RefusesNames) {
  EXPECT_THROW(Expr("i0"), Error);
  EXPECT_THROW(Expr(""), Error);
  EXPECT_THROW(Expr("2n"), Error);
  EXPECT_THROW(Expr("a b"), Error);
  EXPECT_THROW(Expr::variable("x", 3, 2), Error);
  EXPECT_EQ(Expr("i").name(), "i");
  EXPECT_EQ(Expr("i0x").name(), "i0x");
}

TEST(Expr, SubstitutesAtOnce) {
  const Expr n("n"), m("m");
  EXPECT_EQ((n + m * 2).substitute({{"n", m}, {"m", n}}), m + n * 2);
  EXPECT_EQ((n / 4).substitute(DimMap{{"n", 9}}), Expr(2));
  EXPECT_EQ(Expr::coordinate(0, n).substitute(DimMap{{"n", 9}}), Expr::coordinate(0, 9));
  const auto i = Expr::coordinate(0, n), j = Expr::coordinate(1, m);
  const Expr swapped[] = {j, i};
  EXPECT_EQ((i * 3 + j).substitute_coordinates(swapped), j * 3 + i);
  EXPECT_THROW(Expr::coordinate(5, n).substitute_coordinates(swapped), Error);
  // A division that was open closes once the bounds are known.
  EXPECT_EQ((Expr::coordinate(0, n) / 8).substitute(DimMap{{"n", 8}}), Expr(0));
}

TEST(Expr, OrdersTheSameEverywhere) {
  EXPECT_LT(Expr("a"), Expr("b"));
  EXPECT_LT(Expr("n"), Expr::coordinate(0, 3));
  EXPECT_LT(Expr::coordinate(2, 3), Expr::coordinate(10, 3));
  // A hash is part of cache keys, so it may not change from one process to the next.
  EXPECT_EQ((Expr("n") * 4 + 1).hash(), (Expr(1) + Expr("n") + Expr("n") * 3).hash());
}

TEST(Expr, StaysSmallWhenProductsWouldNot) {
  Expr product = 1;
  DimMap values;
  std::int64_t expected = 1;
  for (int i = 0; i < 30; ++i) {
    const auto a = "a" + std::to_string(i), b = "b" + std::to_string(i);
    product = product * (Expr(a) + Expr(b));
    values[a] = i % 2;
    values[b] = 1;
    expected *= i % 2 + 1;
  }
  EXPECT_EQ(product.eval(values), expected);
  EXPECT_LT(product.text().size(), 10000U);
  Expr nested("x");
  EXPECT_THROW(for (int i = 0; i < 100; ++i) nested = Expr::max(nested / 3, nested % 5 * 2 + Expr("y")),
               Error);
}

TEST(Expr, DivisionByZeroIsKeptNotGuessed) {
  EXPECT_EQ((Expr("n") / 0).try_eval({{"n", 3}}), std::nullopt);
  EXPECT_EQ((Expr("n") % 0).try_eval({{"n", 3}}), std::nullopt);
  EXPECT_FALSE(prove_divides(0, Expr("n")));
  EXPECT_FALSE(prove_divides("n", Expr("n") * 2));  // n may be 0
}

}  // namespace
}  // namespace luminal
