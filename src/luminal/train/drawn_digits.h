#pragma once
#include <cstdint>
#include <vector>

#include "luminal/train/dataset.h"

namespace luminal::train {

/// Digits of 28×28 pixels, drawn with strokes: of each there are several forms, and an example shifts, turns,
/// stretches and slants one, draws it with a pen of its own width, and adds noise. "image" [1, 28, 28] in [0,
/// 1], "label" i64. Example k is a function of the seed and k.
class DrawnDigits : public Dataset {
 public:
  static constexpr std::int64_t side = 28;

  DrawnDigits(std::int64_t count, std::uint64_t seed);
  std::int64_t size() const override { return count_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override;

 private:
  std::int64_t count_;
  std::uint64_t seed_;
  std::vector<Field> fields_;
};

}  // namespace luminal::train
