#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/id.h"
#include "luminal/support/large_memory.h"
#include "luminal/support/number.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

TEST(Error, NamesTheUsersLine) {
  const Error error("add: shapes differ", Location("some/folder/model.cpp", 12));
  EXPECT_STREQ(error.what(), "add: shapes differ (at model.cpp:12)");
  EXPECT_EQ(error.problem(), "add: shapes differ");
}

TEST(Location, IsTheCallers) {
  const auto here = [](Location where = Location::current()) { return where; };
  EXPECT_EQ(here().line, static_cast<std::uint32_t>(__LINE__));
}

TEST(ElementCount, IsZeroWithAnyEmptyDim) {
  const std::array<std::int64_t, 3> dims{std::int64_t{1} << 62, std::int64_t{1} << 62, 0};
  EXPECT_EQ(element_count(dims), 0);
  EXPECT_EQ(element_count({}), 1);
}

TEST(ElementCount, RefusesOverflowAndNegativeDims) {
  const std::array<std::int64_t, 2> large{std::int64_t{1} << 32, std::int64_t{1} << 31};
  EXPECT_THROW(element_count(large), Error);
  const std::array<std::int64_t, 2> negative{0, -1};
  EXPECT_THROW(element_count(negative), Error);
  const std::array<std::int64_t, 1> many{std::int64_t{1} << 61};
  EXPECT_EQ(byte_count(many, 1), std::int64_t{1} << 61);
  EXPECT_THROW(byte_count(many, 8), Error);
}

TEST(Number, TextReadsBackExactly) {
  const double odd_nan = std::bit_cast<double>(0x7FF8000000000001ULL);
  for (const Number number :
       {Number(true), Number(false), Number(-3), Number(7u), Number(0.1), Number(2.0), Number(-0.0),
        Number(1e300), Number(5e-324), Number(odd_nan), Number(std::numeric_limits<double>::infinity()),
        Number(std::nan("")), Number(std::numeric_limits<std::int64_t>::min()),
        Number(std::numeric_limits<std::uint64_t>::max())})
    EXPECT_EQ(parse_number(number.text()), number) << number.text();
  for (const char* bad : {"", "1.2.3", "abc", "1u1", "nan(0x0)", "99999999999999999999", "-1u"})
    EXPECT_THROW(parse_number(bad), Error) << bad;
}

TEST(LargeMemory, BeginsAtALineOrAPageAndCanBeWritten) {
  constexpr std::size_t large = std::size_t{2} << 20;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{65}, large - 1, large, 3 * large + 5}) {
    auto* const memory = static_cast<std::byte*>(allocate_elements(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % (bytes >= large ? large : 64), 0U) << bytes;
    std::memset(memory, 1, bytes);
    std::free(memory);
  }
  EXPECT_EQ(allocate_elements(std::numeric_limits<std::size_t>::max()), nullptr);
}

TEST(Text, QuotesEveryByte) {
  EXPECT_EQ(in_quotes("a\"b\\\n\x01"), "\"a\\\"b\\\\\\n\\u0001\"");
}

TEST(Id, NoneIsTheDefault) {
  struct Tag;
  EXPECT_TRUE(Id<Tag>().none());
  EXPECT_EQ(Id<Tag>(3).index(), 3u);
}

}  // namespace
}  // namespace luminal
