#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "luminal/op/dtype.h"

namespace luminal {

/// Elements to run candidates on, seeded. Large arrays repeat.
class DataBank {
 public:
  struct Numbers {
    /// Floats are of either sign; or positive, for kernels that have no finite result otherwise.
    bool positive = false;
    /// Integers are places on an axis of this length; 0: they are none, and small but not 0.
    std::int64_t places = 0;
    friend auto operator<=>(const Numbers&, const Numbers&) = default;
  };
  /// As many bytes of this dtype, 64-byte aligned. Arrays with different numbers do not overlap. Stays valid
  /// as long as the bank lives.
  std::span<const std::byte> elements(DType dtype, std::size_t bytes, std::size_t number,
                                      const Numbers& numbers);
  /// Bytes that are all the same, likewise.
  std::span<const std::byte> filled(std::size_t bytes, std::byte with);

  /// What arrays are filled with before a kernel writes them: no arithmetic has it as its result.
  static constexpr std::byte unwritten{0xFF};
  /// The first of the elements, of so many bytes each, that is as it was then; none if all were written.
  static std::optional<std::size_t> first_unwritten(std::span<const std::byte> elements, std::size_t size);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t bytes = 0;
  };
  static std::byte* add(std::vector<Block>& blocks, std::size_t bytes);

  std::map<std::tuple<DType, std::size_t, Numbers>, std::vector<Block>> blocks_;
  std::map<std::byte, std::vector<Block>> filled_;
};

}  // namespace luminal
