#include "luminal/compile/data_bank.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "luminal/op/scalar.h"
#include "luminal/support/hash.h"

namespace luminal {
namespace {

constexpr std::size_t period = std::size_t{1} << 16;

/// What repeats: one page of numbers.
std::vector<std::byte> pattern(DType dtype, bool positive) {
  const std::size_t size = byte_size(dtype);
  std::vector<std::byte> bytes(period);
  std::uint64_t state = Hash(static_cast<std::uint64_t>(dtype)).add(positive ? 1 : 0).value();
  for (std::size_t i = 0; i < period / size; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const double unit = static_cast<double>(state >> 33) * 0x1p-31;
    const double number = is_floating(dtype) ? (positive ? 0.1 + 0.5 * unit : unit - 0.5) : 0;
    store(make_scalar(dtype, is_floating(dtype) ? Number(number) : Number(std::int64_t{0})),
          bytes.data() + i * size);
  }
  return bytes;
}

}  // namespace

void DataBank::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

std::span<const std::byte> DataBank::elements(DType dtype, std::size_t bytes, std::size_t number,
                                              bool positive) {
  auto& blocks = blocks_[{dtype, number, positive}];
  for (const auto& block : blocks)
    if (block.bytes >= bytes) return {block.memory.get(), bytes};
  const std::size_t rounded = (bytes + period) / period * period;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  blocks.push_back({std::unique_ptr<std::byte, Free>(memory), rounded});
  const auto page = pattern(dtype, positive);
  // Another phase for each number, so that two operands are not equal.
  const std::size_t phase = number * 4096 % period;
  for (std::size_t at = 0; at < rounded; at += period) {
    std::memcpy(memory + at, page.data() + phase, period - phase);
    std::memcpy(memory + at + period - phase, page.data(), phase);
  }
  return {memory, bytes};
}

}  // namespace luminal
