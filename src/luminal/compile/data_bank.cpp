#include "luminal/compile/data_bank.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "luminal/op/scalar.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/large_memory.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

constexpr std::size_t period = std::size_t{1} << 16;

/// What repeats: one page of numbers.
std::vector<std::byte> pattern(DType dtype, const DataBank::Numbers& numbers) {
  const std::size_t size = byte_size(dtype);
  std::vector<std::byte> bytes(period);
  std::uint64_t state = Hash(static_cast<std::uint64_t>(dtype)).add(numbers.positive ? 1 : 0).value();
  for (std::size_t i = 0; i < period / size; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::uint64_t random = state >> 33;
    const double unit = static_cast<double>(random) * 0x1p-31;
    Number number;
    if (is_floating(dtype))
      number = Number(numbers.positive ? 0.1 + 0.5 * unit : unit - 0.5);
    else if (dtype == DType::boolean)
      number = Number(static_cast<std::int64_t>(numbers.places == 1 ? 0 : random % 2));
    else if (numbers.places > 0)
      number = Number(static_cast<std::int64_t>(random % static_cast<std::uint64_t>(numbers.places)));
    else
      number = Number(static_cast<std::int64_t>(1 + random % 9));
    store(make_scalar(dtype, number), bytes.data() + i * size);
  }
  return bytes;
}

static_assert(DataBank::unwritten == std::byte{0xFF});

/// The first element whose bits are all 1.
template <typename Unsigned>
std::optional<std::size_t> first_of_ones(std::span<const std::byte> elements) {
  constexpr auto ones = static_cast<Unsigned>(~Unsigned{0});
  const std::size_t count = elements.size() / sizeof(Unsigned);
  for (std::size_t k = 0; k < count; ++k) {
    Unsigned element = 0;
    std::memcpy(&element, elements.data() + k * sizeof(Unsigned), sizeof(Unsigned));
    if (element == ones) return k;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> DataBank::first_unwritten(std::span<const std::byte> elements, std::size_t size) {
  switch (size) {
    case 1:
      return first_of_ones<std::uint8_t>(elements);
    case 2:
      return first_of_ones<std::uint16_t>(elements);
    case 4:
      return first_of_ones<std::uint32_t>(elements);
    case 8:
      return first_of_ones<std::uint64_t>(elements);
    default:
      throw InternalError(cat("data bank: no element has ", size, " bytes"));
  }
}

void DataBank::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

std::byte* DataBank::add(std::vector<Block>& blocks, std::size_t bytes) {
  const std::size_t rounded = (bytes + period) / period * period;
  auto* memory = static_cast<std::byte*>(allocate_elements(rounded));
  if (memory == nullptr) throw std::bad_alloc();
  blocks.push_back({std::unique_ptr<std::byte, Free>(memory), rounded});
  return memory;
}

std::span<const std::byte> DataBank::elements(DType dtype, std::size_t bytes, std::size_t number,
                                              const Numbers& numbers) {
  auto& blocks = blocks_[{dtype, number, numbers}];
  for (const auto& block : blocks)
    if (block.bytes >= bytes) return {block.memory.get(), bytes};
  std::byte* const memory = add(blocks, bytes);
  const auto page = pattern(dtype, numbers);
  // Another phase for each number, so that two operands are not equal.
  const std::size_t phase = number * 4096 % period;
  for (std::size_t at = 0; at < blocks.back().bytes; at += period) {
    std::memcpy(memory + at, page.data() + phase, period - phase);
    std::memcpy(memory + at + period - phase, page.data(), phase);
  }
  return {memory, bytes};
}

std::span<const std::byte> DataBank::filled(std::size_t bytes, std::byte with) {
  auto& blocks = filled_[with];
  for (const auto& block : blocks)
    if (block.bytes >= bytes) return {block.memory.get(), bytes};
  std::byte* const memory = add(blocks, bytes);
  std::memset(memory, std::to_integer<int>(with), blocks.back().bytes);
  return {memory, bytes};
}

}  // namespace luminal
