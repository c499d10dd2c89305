#include "luminal/train/sums.h"

#include <array>
#include <cstring>
#include <utility>

namespace luminal::train {

BinarySums::BinarySums(int bits)
    : bits_(bits),
      fields_{{"input", DType::f32, {std::int64_t{2} * bits}},
              {"target", DType::f32, {std::int64_t{1} + bits}}} {}

void BinarySums::read(std::int64_t index, std::span<const std::span<std::byte>> into) const {
  const std::int64_t mask = (std::int64_t{1} << bits_) - 1;
  const std::int64_t a = index >> bits_;
  const std::int64_t b = index & mask;
  const auto put = [](std::span<std::byte> place, int first, std::int64_t value, int count) {
    for (int k = 0; k < count; ++k) {
      const float bit = (value >> (count - 1 - k) & 1) != 0 ? 1.0F : 0.0F;
      std::memcpy(place.data() + static_cast<std::size_t>(first + k) * sizeof(float), &bit, sizeof(float));
    }
  };
  put(into[0], 0, a, bits_);
  put(into[0], bits_, b, bits_);
  put(into[1], 0, a + b, bits_ + 1);
}

DecimalSums::DecimalSums(std::vector<std::int32_t> pairs)
    : pairs_(std::move(pairs)),
      fields_{{"tokens", DType::i32, {positions}}, {"answer", DType::i32, {digits}}} {}

std::vector<std::string> DecimalSums::characters() {
  return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "+", "="};
}

std::string DecimalSums::question_text(std::int64_t first, std::int64_t second) {
  std::string text;
  for (const auto& [number, end] : {std::pair{first, '+'}, std::pair{second, '='}}) {
    std::int64_t rest = number;
    for (int k = 0; k < 3; ++k, rest /= 10) text += static_cast<char>('0' + rest % 10);
    text += end;
  }
  return text;
}

std::int64_t DecimalSums::answer_of(const std::string& written) {
  std::int64_t value = 0;
  for (std::size_t k = written.size(); k-- > 0;) value = value * 10 + (written[k] - '0');
  return value;
}

void DecimalSums::read(std::int64_t index, std::span<const std::span<std::byte>> into) const {
  constexpr std::int32_t plus = 10;
  constexpr std::int32_t equals = 11;
  std::int64_t a = first(index);
  std::int64_t b = second(index);
  std::int64_t sum = a + b;
  std::array<std::int32_t, static_cast<std::size_t>(positions + 1)> text{};
  for (std::size_t k = 0; k < 3; ++k, a /= 10, b /= 10) {
    text[k] = static_cast<std::int32_t>(a % 10);
    text[4 + k] = static_cast<std::int32_t>(b % 10);
  }
  text[3] = plus;
  text[7] = equals;
  for (std::size_t k = 0; k < static_cast<std::size_t>(digits); ++k, sum /= 10)
    text[static_cast<std::size_t>(question) + k] = static_cast<std::int32_t>(sum % 10);
  std::memcpy(into[0].data(), text.data(), into[0].size());
  std::memcpy(into[1].data(), text.data() + question, into[1].size());
}

SplitSums split_decimal_sums(std::uint64_t seed, std::int64_t held_out) {
  constexpr std::int64_t numbers = DecimalSums::numbers;
  const auto order = shuffled(numbers * numbers, seed, 0x73756d73);
  std::vector<bool> is_held(static_cast<std::size_t>(numbers * numbers), false);
  std::vector<std::int32_t> held;
  for (std::int64_t k = 0; k < held_out; ++k) {
    const std::int64_t pair = order[static_cast<std::size_t>(k)];
    held.push_back(static_cast<std::int32_t>(pair));
    is_held[static_cast<std::size_t>(pair)] = true;
    is_held[static_cast<std::size_t>(pair % numbers * numbers + pair / numbers)] = true;
  }
  std::vector<std::int32_t> rest;
  rest.reserve(order.size());
  for (const std::int64_t pair : order)
    if (!is_held[static_cast<std::size_t>(pair)]) rest.push_back(static_cast<std::int32_t>(pair));
  return {std::make_shared<const DecimalSums>(std::move(rest)),
          std::make_shared<const DecimalSums>(std::move(held))};
}

}  // namespace luminal::train
