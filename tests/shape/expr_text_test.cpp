#include <gtest/gtest.h>

#include "luminal/shape/expr.h"
#include "luminal/support/error.h"

namespace luminal {
namespace {

const Expr n("n"), m("m");
const Expr x = Expr::variable("x", -20, 20);

TEST(ExprText, IsMinimal) {
  EXPECT_EQ((Expr("batch") * 4 + Expr::coordinate(0, 5) % 3).text(), "4*batch + i0 % 3");
  EXPECT_EQ((n - m * 2 - 1).text(), "-2*m + n - 1");
  EXPECT_EQ((-(n / 4)).text(), "-(n / 4)");
  EXPECT_EQ(((n + m) / 3 * 2).text(), "2*((m + n) / 3)");
  EXPECT_EQ((n / (m + 1)).text(), "n / (m + 1)");
  EXPECT_EQ((n % 3 / m).text(), "n % 3 / m");
  EXPECT_EQ(Expr::min(n, m + 1).text(), "min(n, m + 1)");
  EXPECT_EQ(Expr::less(n, m).text(), "n < m");
  EXPECT_EQ(Expr::less(3, n).text(), "4 <= n");
  EXPECT_EQ(Expr::logical_and(Expr::less(n, m), Expr::equal(n, 3)).text(), "n < m && n == 3");
  EXPECT_EQ((Expr(INT64_MIN)).text(), "-9223372036854775808");
}

TEST(ExprText, ReadsBackWhatItWrote) {
  const std::map<std::string, Expr, std::less<>> declared{{"x", x}, {"i0", Expr::coordinate(0, n)}};
  const auto i = declared.at("i0");
  const Expr cases[] = {
      n,
      -n,
      Expr(INT64_MIN),
      n * m - 3,
      (n - m) / 4 - (x % 3) * 5,
      -(x / 7) + 2 * ((x + n) % m),
      Expr::max(x, Expr::min(n, m)) * 2,
      Expr::logical_or(Expr::less(x, n), Expr::logical_and(Expr::equal(x, m), Expr::less(n, m))),
      Expr::less(x, n) * 3 + Expr::logical_not(Expr::equal(x, 2)),
      Expr(-3) / (n + x) + i,
      i * m + i % 5};
  for (const auto& e : cases) {
    EXPECT_EQ(parse_expr(e.text(), declared), e) << e;
    EXPECT_EQ(Expr::from_rpn(e.rpn()), e) << e.rpn();
    EXPECT_EQ(Expr::from_rpn(e.rpn()).rpn(), e.rpn());
  }
}

TEST(ExprText, WritesPostfix) {
  EXPECT_EQ((Expr("batch") * 4 + 1).rpn(), "batch:0: 4 * 1 +");
  EXPECT_EQ(x.rpn(), "x:-20:20");
  EXPECT_EQ((Expr::coordinate(1, n) % 3).rpn(), "n:0: i1@ 3 %");
}

TEST(ExprText, SpellsC) {
  const auto i = Expr::coordinate(0, n);
  EXPECT_EQ((i / 4 * 2 + i % 3).c_text(), "2*(i0 / 4) + i0 % 3");
  EXPECT_EQ((i / m).c_text(), "i0 / m");
  EXPECT_EQ((x / 4).c_text(), "((x + 20) / 4 - 5)");
  EXPECT_EQ((x % 4).c_text(), "(x + 20) % 4");
  EXPECT_EQ((Expr::variable("w", INT64_MIN) / 4).c_text(), "luminal_floor_div(w, 4)");
  EXPECT_EQ((n / x).c_text(), "luminal_floor_div(n, x)");
  EXPECT_EQ((n % x).c_text(), "luminal_floor_mod(n, x)");
  EXPECT_EQ(Expr::min(n, m).c_text(), "(m < n ? m : n)");
  EXPECT_EQ((Expr(INT64_MIN)).c_text(), "(-9223372036854775807 - 1)");
  EXPECT_EQ((n + Expr(INT64_MIN)).c_text(), "n + (-9223372036854775807 - 1)");
}

TEST(ExprText, ParsesMoreThanItWrites) {
  EXPECT_EQ(parse_expr(" ( n+1 ) *2 "), (n + 1) * 2);
  EXPECT_EQ(parse_expr("n > m"), Expr::less(m, n));
  EXPECT_EQ(parse_expr("n >= m"), Expr::less_equal(m, n));
  EXPECT_EQ(parse_expr("n != m"), Expr::logical_not(Expr::equal(n, m)));
  EXPECT_EQ(parse_expr("!n"), Expr::equal(n, 0));
  EXPECT_EQ(parse_expr("- -n"), n);
  EXPECT_EQ(parse_expr("ceil_div(n, 4)"), Expr::ceil_div(n, 4));
  EXPECT_EQ(parse_expr("min"), Expr("min"));
  EXPECT_EQ(parse_expr("n - 3 - 4"), n - 7);
  EXPECT_EQ(parse_expr("n / 2 * 2"), n / 2 * 2);
}

std::string problem_of(const std::string& text) {
  try {
    parse_expr(text);
  } catch (const Error& error) {
    return error.problem();
  }
  return "";
}

TEST(ExprText, NamesThePositionOfAMistake) {
  EXPECT_EQ(problem_of("n + "), "parse_expr: unexpected end at position 4 of \"n + \"");
  EXPECT_EQ(problem_of("n + $"), "parse_expr: unexpected \"$\" at position 4 of \"n + $\"");
  EXPECT_EQ(problem_of("(n"), "parse_expr: expected \")\" at position 2 of \"(n\"");
  EXPECT_EQ(problem_of("n m"), "parse_expr: unexpected \"m\" at position 2 of \"n m\"");
  EXPECT_EQ(problem_of("99999999999999999999"),
            "parse_expr: a number that leaves 64 bits at position 0 of \"99999999999999999999\"");
  EXPECT_NE(problem_of("9223372036854775807 + 1").find("at position"), std::string::npos);
  EXPECT_NE(problem_of("").find("unexpected end"), std::string::npos);
  EXPECT_NE(problem_of("i99999999999999999999").find("at position 0"), std::string::npos);
}

TEST(ExprText, HostileTextGetsAnError) {
  for (const std::string text : {"(", "min(x,", "x+(", "-(", "!(", "x%(", "x<("}) {
    std::string deep;
    for (int i = 0; i < 20000; ++i) deep += text;
    EXPECT_NE(problem_of(deep).find("deep"), std::string::npos) << text;
  }
  EXPECT_EQ(parse_expr(std::string(20000, '-') + "x"), Expr("x"));
  EXPECT_NE(problem_of(std::string("n\0m", 3)).find("position 1"), std::string::npos);
}

TEST(ExprText, HostilePostfixGetsAnError) {
  for (const std::string text :
       {"", "+", "n:0: +", "n:0: m:0:", "n", "n:", "n:0", "n:x:", "n:5:4", "i0@", "3 i@", "3 x0@", "3 i-1@",
        "1 2 ?", "9223372036854775807 1 +", "i0:0:", "99999999999999999999"}) {
    EXPECT_THROW(Expr::from_rpn(text), Error) << text;
  }
  std::string deep = "x:0:";
  for (int i = 0; i < 20000; ++i) deep += " w:-9: % 2 max";
  EXPECT_THROW(Expr::from_rpn(deep), Error);
}

}  // namespace
}  // namespace luminal
