#pragma once
#include <cstdint>
#include <string_view>

namespace luminal {

/// A 64-bit hash that is the same in every process and on every machine.
class Hash {
 public:
  constexpr explicit Hash(std::uint64_t seed = 0) : state_(seed ^ 0x51D6E8FD8D3A7B4FULL) {}

  constexpr Hash& add(std::uint64_t word) {
    state_ ^= word + 0x9E3779B97F4A7C15ULL + (state_ << 6) + (state_ >> 2);
    state_ ^= state_ >> 32;
    state_ *= 0xD6E8FEB86659FD93ULL;
    state_ ^= state_ >> 32;
    return *this;
  }
  constexpr Hash& add(std::string_view text) {
    std::uint64_t word = 0;
    int filled = 0;
    for (const char c : text) {
      word = word << 8 | static_cast<unsigned char>(c);
      if (++filled == 8) {
        add(word);
        word = 0;
        filled = 0;
      }
    }
    return add(word).add(text.size());
  }
  constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_;
};

}  // namespace luminal
