#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "luminal/train/dataset.h"

namespace luminal::train {

/// Sums of two whole numbers of `bits` bits: "input" are their bits, the highest first, "target" those of the
/// sum. All of them, in order.
class BinarySums : public Dataset {
 public:
  explicit BinarySums(int bits);
  std::int64_t size() const override { return std::int64_t{1} << (2 * bits_); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override;

 private:
  int bits_;
  std::vector<Field> fields_;
};

/// Sums of two numbers of three digits, as the text "321+654=9750" has them: every number is written from its
/// lowest digit on, so that a model can carry as it writes. "tokens" are the first 11 characters, "answer"
/// the last 4. A character's number is its place in `characters()`.
class DecimalSums : public Dataset {
 public:
  static constexpr std::int64_t numbers = 1000;
  static constexpr std::int64_t positions = 11;
  static constexpr std::int64_t question = 8;  // positions of the question, "321+654="
  static constexpr std::int64_t digits = 4;    // of the answer

  /// A pair is first · 1000 + second.
  explicit DecimalSums(std::vector<std::int32_t> pairs);
  static std::vector<std::string> characters();
  /// "321+654=".
  static std::string question_text(std::int64_t first, std::int64_t second);
  /// The sum that a model wrote, from its lowest digit on.
  static std::int64_t answer_of(const std::string& written);

  std::int64_t size() const override { return static_cast<std::int64_t>(pairs_.size()); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override;
  std::int64_t first(std::int64_t index) const { return pairs_[static_cast<std::size_t>(index)] / numbers; }
  std::int64_t second(std::int64_t index) const { return pairs_[static_cast<std::size_t>(index)] % numbers; }

 private:
  std::vector<std::int32_t> pairs_;
  std::vector<Field> fields_;
};

struct SplitSums {
  std::shared_ptr<const DecimalSums> training;
  std::shared_ptr<const DecimalSums> held_out;
};
/// All pairs of numbers, of which `held_out`, drawn by the seed, are in training neither as a + b nor as b +
/// a.
SplitSums split_decimal_sums(std::uint64_t seed, std::int64_t held_out);

}  // namespace luminal::train
