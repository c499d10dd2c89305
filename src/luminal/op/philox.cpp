#include "luminal/op/philox.h"

namespace luminal {
namespace {

constexpr std::uint32_t low(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}
constexpr std::uint32_t high(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

}  // namespace

std::array<std::uint32_t, 4> philox_block(std::array<std::uint32_t, 4> counter,
                                          std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {high(second) ^ counter[1] ^ key[0], low(second), high(first) ^ counter[3] ^ key[1],
               low(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

std::uint32_t philox(std::uint64_t key, std::uint64_t stream, std::uint64_t index) {
  const std::uint64_t block = index / 4;
  return philox_block({low(block), high(block), low(stream), high(stream)}, {low(key), high(key)})[index % 4];
}

}  // namespace luminal
