#include "luminal/kernel/interpret.h"

#include <gtest/gtest.h>

#include "tests/codegen/build.h"

namespace luminal::kernel {
namespace {

using test::Build;

template <typename T>
std::span<const std::byte> bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

/// A sum over columns of the row that another sum names.
TEST(InterpretAt, PlacesAreComputedOnce) {
  Build b;
  const auto i = b.loop(2), j = b.loop(30), k = b.loop(100);
  const auto named = b.sum({k}, b.read({2, 100}, {b.at(i), b.at(k)}, DType::i64));
  const auto place = b.position(named, 3);
  const auto x = b.read({3, 30}, {b.at(place), b.at(j)});
  b.store({i}, b.sum({j}, x));
  std::vector<std::int64_t> terms(200, 0);
  terms[150] = 2;  // of row 1
  std::vector<float> rows(90, 0);
  for (std::size_t column = 0; column < 30; ++column) rows[60 + column] = 1;
  const std::span<const std::byte> inputs[] = {bytes(terms), bytes(rows)};
  const std::int64_t point[] = {1};
  // 100 terms and their sum, 30 elements and theirs, a few more.
  const auto found = interpret_at(b.kernel, inputs, {}, b.kernel.stores()[0], point, 250);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place, 1U);
  EXPECT_EQ(to_double(found->value), 30);
  EXPECT_FALSE(interpret_at(b.kernel, inputs, {}, b.kernel.stores()[0], point, 100));
}

}  // namespace
}  // namespace luminal::kernel
