#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "luminal/op/dtype.h"

namespace luminal::io {

/// How a file stores the elements of a tensor: plainly, as one of our dtypes, or in blocks with shared
/// scales.
// clang-format off: one line a family
enum class Format : std::uint8_t {
  f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i16, i8, u64, u32, u16, u8, boolean,
  q4_0, q4_1, q5_0, q5_1, q8_0,
  q2_k, q3_k, q4_k, q5_k, q6_k, iq4_nl, iq4_xs
};
// clang-format on
inline constexpr std::size_t format_count = 27;

/// Some bits of a small whole number, as an affine function of its position i in the block:
/// ((block[byte(i)] >> shift(i)) & mask) << to, where
/// byte(i)  = offset + (i / chunk)·chunk_step + ((i % chunk) / width)·group_step + i % width,
/// shift(i) = shift + ((i % chunk) / width)·shift_step.
struct BitPlane {
  std::uint16_t offset;
  std::uint16_t chunk;
  std::uint16_t width;
  std::uint16_t chunk_step;
  std::uint16_t group_step;
  std::uint8_t shift;
  std::uint8_t shift_step;
  std::uint8_t mask;
  std::uint8_t to;

  constexpr std::size_t byte(std::size_t i) const {
    return offset + i / chunk * chunk_step + i % chunk / width * group_step + i % width;
  }
  constexpr unsigned shift_at(std::size_t i) const {
    return shift + static_cast<unsigned>(i % chunk / width) * shift_step;
  }
};

/// Up to two planes, in place.
class BitPlanes {
 public:
  constexpr BitPlanes() = default;
  constexpr BitPlanes(std::initializer_list<BitPlane> planes) {
    for (const BitPlane& plane : planes) planes_[count_++] = plane;
  }
  constexpr const BitPlane* begin() const { return planes_.data(); }
  constexpr const BitPlane* end() const { return planes_.data() + count_; }
  constexpr bool empty() const { return count_ == 0; }

 private:
  std::array<BitPlane, 2> planes_{};
  std::size_t count_ = 0;
};

/// A whole number spread over the planes of a block, and what is subtracted from it.
struct PackedNumber {
  BitPlanes planes;  // none: the number is 1 where it scales, 0 where it shifts
  int zero = 0;
  bool is_signed = false;  // of 8 bits

  int at(const std::uint8_t* block, std::size_t i) const;
};

/// How a block is decoded, as data that a compiler can turn into index arithmetic and fuse into a consumer:
/// value(i) = (d · scale(i / group)) · code(i) + sign · (m · minimum(i / group)), all in f32, in this order.
/// `d` and `m` are f16 numbers in the block; a code goes through `table` if there is one.
struct BlockDecode {
  PackedNumber code;
  PackedNumber scale;
  PackedNumber minimum;
  std::span<const std::int8_t> table;
  std::uint16_t group;  // elements that share a scale
  std::uint16_t d_offset;
  std::optional<std::uint16_t> m_offset;
  int minimum_sign = 1;
};

struct FormatRow {
  Format format;
  std::string_view name;              // "f32", "q4_k"
  std::optional<DType> dtype;         // of plain formats
  std::optional<std::uint32_t> ggml;  // the type's number in GGUF
  std::string_view safetensors;       // the type's name there, or nothing
  std::uint32_t block_elements;
  std::uint32_t block_bytes;
  std::optional<BlockDecode> decode;
};

const FormatRow& row(Format format);
inline std::string_view name(Format format) {
  return row(format).name;
}
std::optional<Format> format_named(std::string_view name);
std::optional<Format> format_of_ggml(std::uint32_t type);
std::optional<Format> format_of_safetensors(std::string_view name);
Format format_of(DType dtype);

/// The bytes of a tensor. `Error` if the count overflows, a dim is negative, or the last dim is not whole
/// blocks.
std::int64_t stored_bytes(Format format, std::span<const std::int64_t> dims);

/// The elements of whole blocks as f32, bit for bit as ggml's reference. `out` has room for all of them.
void decode_blocks(Format format, std::span<const std::byte> blocks, float* out);

}  // namespace luminal::io
