#include <gtest/gtest.h>

#include "luminal/support/error.h"
#include "tests/shape/random_expr.h"

namespace luminal {
namespace {

using test::Random;
using test::Variables;
using test::Written;

/// The forms that must all mean the same as what was written.
struct Forms {
  std::vector<std::pair<std::string, Expr>> all;

  Forms(const Expr& e, const Variables& variables) {
    all.emplace_back("built", e);
    all.emplace_back("simplified", e.simplify());
    all.emplace_back("parsed", parse_expr(e.text(), variables.declared()));
    all.emplace_back("from rpn", Expr::from_rpn(e.rpn()));
  }
};

DimMap some_of(Random& random, const DimMap& values) {
  DimMap some;
  for (const auto& [name, value] : values) {
    if (random.chance(0.5)) some.emplace(name, value);
  }
  return some;
}

void expect_value(const Expr& e, std::int64_t value, const DimMap& at, const std::string& form,
                  const Written& written) {
  const auto got = e.try_eval(at);
  ASSERT_TRUE(got.has_value()) << form << " has no value: " << e << " from " << written.text();
  ASSERT_EQ(*got, value) << form << ": " << e << " from " << written.text();
  const auto bounds = e.bounds();
  ASSERT_TRUE(!bounds.low || *bounds.low <= value) << form << ": " << e << " low " << *bounds.low;
  ASSERT_TRUE(!bounds.high || *bounds.high >= value) << form << ": " << e << " high " << *bounds.high;
}

/// One random expression at several assignments. Returns whether it could be built.
bool check_one(Random& random, const Variables& variables, int depth, bool large_constants) {
  const auto written = write_randomly(random, variables, depth, large_constants);
  std::optional<Forms> forms;
  try {
    forms.emplace(build(*written, variables), variables);
  } catch (const Error&) {
    return false;
  }
  EXPECT_EQ(forms->all[1].second.simplify(), forms->all[1].second) << written->text();
  for (int sample = 0; sample < 6; ++sample) {
    const auto values = variables.sample(random);
    if (!values) continue;
    const auto value = evaluate(*written, variables, *values);
    if (!value) {
      for (const auto& [form, e] : forms->all) static_cast<void>(e.try_eval(*values));
      continue;
    }
    for (const auto& [form, e] : forms->all) expect_value(e, *value, *values, form, *written);
    try {
      const auto part = some_of(random, *values);
      expect_value(forms->all[0].second.substitute(part), *value, *values, "substituted", *written);
    } catch (const Error& error) {
      EXPECT_TRUE(large_constants) << error.what() << " in substitute of " << written->text();
    }
    if (::testing::Test::HasFailure()) return true;
  }
  return true;
}

TEST(ExprRandom, KeepsItsValue) {
  Random random(20240501);
  const Variables variables;
  const int count = test::trials(4000, 100000);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    refused += check_one(random, variables, 2 + i % 4, false) ? 0 : 1;
    if (HasFailure()) return;
  }
  EXPECT_LE(refused * 1000, count) << "small constants should hardly ever overflow";
}

TEST(ExprRandom, LargeConstantsNeverWrap) {
  Random random(7);
  const Variables variables;
  for (int i = 0; i < test::trials(2000, 20000); ++i) {
    check_one(random, variables, 2 + i % 3, true);
    if (HasFailure()) return;
  }
}

/// Names of the claims, so that a failure says which was wrong.
struct Claims {
  bool eq, lt, le, divides;
  Claims(const Expr& a, const Expr& b)
      : eq(prove_eq(a, b)), lt(prove_lt(a, b)), le(prove_le(a, b)), divides(prove_divides(b, a)) {}
  bool any() const { return eq || lt || le || divides; }
};

TEST(ExprRandom, ProvesNoFalsehood) {
  Random random(99);
  const Variables variables;
  int proved = 0;
  for (int i = 0; i < test::trials(3000, 50000); ++i) {
    const auto left = write_randomly(random, variables, 1 + i % 3, false);
    const auto right = write_randomly(random, variables, i % 3, false);
    const auto a = build(*left, variables);
    const auto b = build(*right, variables);
    const Claims claims(a, b);
    if (!claims.any()) continue;
    ++proved;
    for (int sample = 0; sample < 40; ++sample) {
      const auto values = variables.sample(random);
      if (!values) continue;
      const auto x = evaluate(*left, variables, *values);
      const auto y = evaluate(*right, variables, *values);
      if (!x || !y) continue;
      ASSERT_TRUE(!claims.eq || *x == *y) << a << " = " << b;
      ASSERT_TRUE(!claims.lt || *x < *y) << a << " < " << b;
      ASSERT_TRUE(!claims.le || *x <= *y) << a << " <= " << b;
      ASSERT_TRUE(!claims.divides || (*y != 0 && *x % *y == 0)) << b << " divides " << a;
    }
  }
  EXPECT_GT(proved, 100);
}

}  // namespace
}  // namespace luminal
