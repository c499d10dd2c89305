#pragma once

#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "luminal/op/dtype.h"

namespace luminal {

/// Elements to run candidates on: seeded numbers of either sign, or positive ones for kernels that have no
/// finite result otherwise; 0 for integers, which may be places on an axis. Large arrays repeat.
class DataBank {
 public:
  /// As many bytes of this dtype, 64-byte aligned. Arrays with different numbers do not overlap. Stays valid
  /// as long as the bank lives.
  std::span<const std::byte> elements(DType dtype, std::size_t bytes, std::size_t number, bool positive);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t bytes = 0;
  };
  std::map<std::tuple<DType, std::size_t, bool>, std::vector<Block>> blocks_;
};

}  // namespace luminal
