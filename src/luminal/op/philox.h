#pragma once
#include <array>
#include <cstdint>

namespace luminal {

/// One block of Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): four
/// words that depend on nothing but counter and key, so any element of a random array can be computed alone.
std::array<std::uint32_t, 4> philox_block(std::array<std::uint32_t, 4> counter,
                                          std::array<std::uint32_t, 2> key);

/// Word `index` of the sequence that `key` and `stream` name: word index % 4 of the block whose counter is,
/// low words first, (index / 4, stream). This is the meaning of `Op::random`.
std::uint32_t philox(std::uint64_t key, std::uint64_t stream, std::uint64_t index);

}  // namespace luminal
