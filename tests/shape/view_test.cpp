#include "luminal/shape/view.h"

#include <gtest/gtest.h>

#include "luminal/support/error.h"

namespace luminal {
namespace {

TEST(View, MergesAndSplitsBack) {
  const Expr n("n"), m("m");
  const View v(Shape{n, m});
  const auto back = v.reshape({n * m}).reshape({n, m});
  EXPECT_EQ(back, v);
  EXPECT_TRUE(back.is_identity());
  EXPECT_EQ(v.permute({1, 0}).reshape({n * m}).reshape({m, n}).permute({1, 0}), v);
  EXPECT_TRUE(v.reshape({m * n}).is_contiguous());
}

}  // namespace
}  // namespace luminal
