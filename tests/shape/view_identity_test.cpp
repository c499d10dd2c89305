// Movements that amount to the same must give one atom: ==, and the same hash.
#include <gtest/gtest.h>

#include <functional>

#include "luminal/shape/view.h"

namespace luminal {
namespace {

struct Identity {
  std::string name;
  Shape source;
  std::function<View(const View&)> left;
  std::function<View(const View&)> right;
};

View same(const View& v) {
  return v;
}

/// Identities over dims a, b, c, which are constants or symbols.
std::vector<Identity> identities(const Expr& a, const Expr& b, const Expr& c) {
  const Shape two{a, b};
  const Shape three{a, b, c};
  return {
      {"permute back", two, [](const View& v) { return v.permute({1, 0}).permute({1, 0}); }, same},
      {"permute thrice", three,
       [](const View& v) { return v.permute({1, 2, 0}).permute({1, 2, 0}).permute({1, 2, 0}); }, same},
      {"permutes compose", three, [](const View& v) { return v.permute({1, 0, 2}).permute({0, 2, 1}); },
       [](const View& v) { return v.permute({1, 2, 0}); }},
      {"merge and split back", two, [=](const View& v) { return v.reshape({a * b}).reshape({a, b}); }, same},
      {"merge all and split back", three,
       [=](const View& v) { return v.reshape({a * b * c}).reshape({a, b, c}); }, same},
      {"merge the first two and split back", three,
       [=](const View& v) { return v.reshape({a * b, c}).reshape({a, b, c}); }, same},
      {"merge the last two and split back", three,
       [=](const View& v) { return v.reshape({a, b * c}).reshape({a, b, c}); }, same},
      {"merge stepwise", three, [=](const View& v) { return v.reshape({a * b, c}).reshape({a * b * c}); },
       [=](const View& v) { return v.reshape({a * b * c}); }},
      {"regroup", three, [=](const View& v) { return v.reshape({a * b, c}).reshape({a, b * c}); },
       [=](const View& v) { return v.reshape({a, b * c}); }},
      {"transpose, merge, split, transpose", two,
       [=](const View& v) { return v.permute({1, 0}).reshape({a * b}).reshape({b, a}).permute({1, 0}); },
       same},
      {"transpose, merge, split otherwise", three,
       [=](const View& v) { return v.permute({2, 0, 1}).reshape({c * a * b}).reshape({c, a * b}); },
       [=](const View& v) { return v.reshape({a * b, c}).permute({1, 0}); }},
      {"merged batch transposes", three,
       [=](const View& v) {
         return v.permute({0, 2, 1}).reshape({a * c, b}).reshape({a, c, b}).permute({0, 2, 1});
       },
       same},
      {"unit axis in and out", two, [=](const View& v) { return v.reshape({a, 1, b}).reshape({a, b}); },
       same},
      {"unit axes anywhere", two,
       [=](const View& v) { return v.reshape({1, a, 1, b, 1}).reshape({a, b, 1}); },
       [=](const View& v) { return v.reshape({a, b, 1}); }},
      {"unit axis permutes away", two, [=](const View& v) { return v.reshape({a, 1, b}).permute({1, 0, 2}); },
       [=](const View& v) { return v.reshape({1, a, b}); }},
      {"transposed unit axis", two,
       [=](const View& v) { return v.reshape({a, b, 1}).permute({2, 0, 1}).reshape({a, b}); }, same},
      {"flip back", two, [](const View& v) { return v.flip(0).flip(0); }, same},
      {"flips commute", two, [](const View& v) { return v.flip(0).flip(1); },
       [](const View& v) { return v.flip(1).flip(0); }},
      {"flip and permute", two, [](const View& v) { return v.flip(0).permute({1, 0}); },
       [](const View& v) { return v.permute({1, 0}).flip(1); }},
      {"flip both and merge", two, [=](const View& v) { return v.flip(0).flip(1).reshape({a * b}); },
       [=](const View& v) { return v.reshape({a * b}).flip(0); }},
      {"slice all", two, [=](const View& v) { return v.slice(0, 0, a); }, same},
      {"slices of two axes commute", two,
       [=](const View& v) { return v.slice(0, 1, a - 1).slice(1, 2, b - 2); },
       [=](const View& v) { return v.slice(1, 2, b - 2).slice(0, 1, a - 1); }},
      {"slice of slice", two, [=](const View& v) { return v.slice(0, 1, a - 1).slice(0, 1, a - 2); },
       [=](const View& v) { return v.slice(0, 2, a - 2); }},
      {"slice and permute", two, [=](const View& v) { return v.slice(0, 1, a - 1).permute({1, 0}); },
       [=](const View& v) { return v.permute({1, 0}).slice(1, 1, a - 1); }},
      {"slice before merge", two, [=](const View& v) { return v.slice(0, 1, a - 1).reshape({(a - 1) * b}); },
       [=](const View& v) { return v.reshape({a * b}).slice(0, b, a * b - b); }},
      {"flip of a slice", two, [=](const View& v) { return v.flip(0).slice(0, 0, a - 1).flip(0); },
       [=](const View& v) { return v.slice(0, 1, a - 1); }},
      {"expand then slice", two,
       [=](const View& v) { return v.reshape({1, a, b}).expand(0, c).slice(0, 0, 1); },
       [=](const View& v) { return v.reshape({1, a, b}); }},
      {"expand then slice some", two,
       [=](const View& v) { return v.reshape({1, a, b}).expand(0, c + 2).slice(0, 1, c); },
       [=](const View& v) { return v.reshape({1, a, b}).expand(0, c); }},
      {"expand then flip", two, [=](const View& v) { return v.reshape({1, a, b}).expand(0, c).flip(0); },
       [=](const View& v) { return v.reshape({1, a, b}).expand(0, c); }},
      {"expand and permute", two,
       [=](const View& v) { return v.reshape({1, a, b}).expand(0, c).permute({1, 0, 2}); },
       [=](const View& v) { return v.reshape({a, 1, b}).expand(1, c); }},
      {"expand merged and split", two,
       [=](const View& v) {
         return v.reshape({a, 1, b}).expand(1, c).reshape({a * c, b}).reshape({a, c, b});
       },
       [=](const View& v) { return v.reshape({a, 1, b}).expand(1, c); }},
      {"expand by a product", two,
       [=](const View& v) {
         return v.reshape({1, 1, a, b}).expand(0, c).expand(1, a).reshape({c * a, a, b});
       },
       [=](const View& v) { return v.reshape({1, a, b}).expand(0, c * a); }},
      {"pad then slice it off", two, [=](const View& v) { return v.pad(0, 2, 3, 0).slice(0, 2, a); }, same},
      {"pad by nothing", two, [](const View& v) { return v.pad(0, 0, 0, 0); }, same},
      {"pad of pad", two, [](const View& v) { return v.pad(0, 1, 2, 0).pad(0, 3, 4, 0); },
       [](const View& v) { return v.pad(0, 4, 6, 0); }},
      {"pads of two axes commute", two, [](const View& v) { return v.pad(0, 1, 2, 0).pad(1, 3, 4, 0); },
       [](const View& v) { return v.pad(1, 3, 4, 0).pad(0, 1, 2, 0); }},
      {"pad and permute", two, [](const View& v) { return v.pad(0, 1, 2, 7).permute({1, 0}); },
       [](const View& v) { return v.permute({1, 0}).pad(1, 1, 2, 7); }},
      {"pad and flip", two, [](const View& v) { return v.pad(0, 1, 2, 7).flip(0); },
       [](const View& v) { return v.flip(0).pad(0, 2, 1, 7); }},
      {"pad sliced partly", two, [=](const View& v) { return v.pad(0, 2, 3, 0).slice(0, 1, a + 2); },
       [](const View& v) { return v.pad(0, 1, 1, 0); }},
      {"pad of another fill sliced off", two,
       [=](const View& v) { return v.pad(0, 1, 1, 5).pad(0, 2, 2, 6).slice(0, 2, a + 2); },
       [](const View& v) { return v.pad(0, 1, 1, 5); }},
      {"only padding is left", two, [](const View& v) { return v.pad(0, 4, 0, 3).slice(0, 0, 2); },
       [](const View& v) { return v.pad(0, 2, 0, 3).slice(0, 0, 2).flip(1); }},
      {"symbolic pad sliced off", two, [=](const View& v) { return v.pad(0, c, c, 0).slice(0, c, a); }, same},
      {"pad and merge", two, [=](const View& v) { return v.pad(0, 1, 2, 0).reshape({(a + 3) * b}); },
       [=](const View& v) { return v.reshape({a * b}).pad(0, b, 2 * b, 0); }},
      {"windows of one element", two, [=](const View& v) { return v.unfold(0, 1, 1, 1).reshape({a, b}); },
       same},
      {"the first of each window", two,
       [=](const View& v) { return v.unfold(0, 3, 1, 1).slice(2, 0, 1).reshape({a - 2, b}); },
       [=](const View& v) { return v.slice(0, 0, a - 2); }},
      {"the last of each window", two,
       [=](const View& v) { return v.unfold(0, 3, 1, 2).slice(2, 2, 1).reshape({a - 4, b}); },
       [=](const View& v) { return v.slice(0, 4, a - 4); }},
      {"windows side by side are a split", Shape{a * 4, b},
       [=](const View& v) { return v.unfold(0, 4, 4, 1); },
       [=](const View& v) { return v.reshape({a, 4, b}).permute({0, 2, 1}); }},
      {"strided as transpose", two,
       [=](const View& v) { return View::strided(v.source(), {b, a}, {1, b}, 0); },
       [](const View& v) { return v.permute({1, 0}); }},
      {"strided as the source", two,
       [=](const View& v) { return View::strided(v.source(), {a, b}, {b, 1}, 0); }, same},
      {"split, permute, merge by pixel shuffle", Shape{a * 4, b},
       [=](const View& v) {
         return v.reshape({a, 2, 2, b}).permute({0, 2, 1, 3}).reshape({a, 4, b}).reshape({a * 4, b});
       },
       [=](const View& v) { return v.reshape({a, 2, 2, b}).permute({0, 2, 1, 3}).reshape({a * 4, b}); }},
      {"heads split and merge", Shape{a, b, 8 * c},
       [=](const View& v) {
         return v.reshape({a, b, 8, c}).permute({0, 2, 1, 3}).permute({0, 2, 1, 3}).reshape({a, b, 8 * c});
       },
       same},
      {"heads through a flat batch", Shape{a, b, 8 * c},
       [=](const View& v) {
         return v.reshape({a, b, 8, c})
             .permute({0, 2, 1, 3})
             .reshape({a * 8, b, c})
             .reshape({a, 8, b, c})
             .permute({0, 2, 1, 3})
             .reshape({a, b, 8 * c});
       },
       same},
      {"constant split of a symbol", Shape{a * 12},
       [=](const View& v) { return v.reshape({a * 3, 4}).reshape({a * 2, 6}).reshape({a, 12}); },
       [=](const View& v) { return v.reshape({a, 12}); }},
      {"steps multiply", Shape{a * 12},
       [=](const View& v) { return v.slice(0, 1, a * 4, 3).slice(0, 1, a * 2, 2); },
       [=](const View& v) { return v.slice(0, 4, a * 2, 6); }},
      {"a step is a split", Shape{a * 4}, [=](const View& v) { return v.slice(0, 1, a, 4); },
       [=](const View& v) { return v.reshape({a, 4}).slice(1, 1, 1).reshape({a}); }},
  };
}

void expect_identities(const Expr& a, const Expr& b, const Expr& c) {
  const auto all = identities(a, b, c);
  EXPECT_GE(all.size(), 40U);
  for (const auto& identity : all) {
    const View source(identity.source);
    const auto left = identity.left(source);
    const auto right = identity.right(source);
    EXPECT_EQ(left, right) << identity.name << "\n  " << left.map().text() << "\n  " << right.map().text();
    EXPECT_EQ(left.hash(), right.hash()) << identity.name;
  }
}

TEST(ViewIdentity, AtConstantDims) {
  expect_identities(6, 5, 3);
  expect_identities(5, 5, 5);
  expect_identities(16, 8, 2);
}

TEST(ViewIdentity, AtSymbolicDims) {
  expect_identities("n", "m", "k");
}

TEST(ViewIdentity, AtPositiveSymbolicDims) {
  expect_identities(Expr::variable("n", 6), Expr::variable("m", 5, 64), Expr::variable("k", 1));
}

TEST(ViewIdentity, AtMixedDims) {
  expect_identities("n", 8, "k");
  expect_identities(6, "m", 4);
  expect_identities(Expr("n") * 2, Expr("m") + 3, 5);
}

}  // namespace
}  // namespace luminal
