#include "luminal/op/philox.h"

#include <gtest/gtest.h>

namespace luminal {
namespace {

using Block = std::array<std::uint32_t, 4>;

// The known-answer vectors that Random123 publishes for philox4x32 with 10 rounds.
TEST(Philox, GivesThePublishedBlocks) {
  EXPECT_EQ(philox_block({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_block({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox_block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, WordsFollowTheCounter) {
  const std::uint64_t key = 0x299f31d0a4093822;
  const std::uint64_t stream = 0x0370734413198a2e;
  const std::uint64_t block = 0x05a308d3243f6a88;  // below 2^62, as an index counts words
  const Block words =
      philox_block({0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  for (std::uint64_t k = 0; k < 4; ++k) EXPECT_EQ(philox(key, stream, 4 * block + k), words[k]);
  EXPECT_EQ(philox(0, 0, 3), 0x9b00dbd8U);
  EXPECT_EQ(philox(0, 0, 4), philox_block({1, 0, 0, 0}, {0, 0})[0]);
}

}  // namespace
}  // namespace luminal
