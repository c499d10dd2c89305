#include "luminal/io/format.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "luminal/op/small_float.h"
#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

/// The 16 values of the non-linear 4-bit formats.
constexpr std::array<std::int8_t, 16> nonlinear = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                   1,    13,   25,  38,  53,  69,  89,  113};

/// Codes of 4 bits: `width` bytes hold `width` low halves, then `width` high halves.
BitPlane nibbles(std::uint16_t offset, std::uint16_t width, std::uint16_t step) {
  return {offset, static_cast<std::uint16_t>(2 * width), width, step, 0, 0, 4, 0x0F, 0};
}
/// Bit i / 32 of byte i % 32: the fifth bits of q5_k and the third of q3_k.
BitPlane bit_rows(std::uint16_t offset, std::uint8_t to) {
  return {offset, 256, 32, 0, 0, 0, 1, 1, to};
}
BitPlane crumbs(std::uint16_t offset, std::uint8_t to) {
  return {offset, 128, 32, 32, 0, 0, 2, 3, to};
}

BlockDecode simple(const PackedNumber& code, std::uint16_t elements,
                   std::optional<std::uint16_t> m_offset = {}) {
  return {code, {}, {}, {}, elements, 0, m_offset, 1};
}

PackedNumber five_bits(std::uint16_t high, int zero) {
  const auto low = static_cast<std::uint16_t>(high + 4);
  return {{nibbles(low, 16, 16), {high, 8, 1, 1, 0, 0, 1, 1, 4}}, zero};
}

/// The twelve bytes of q4_k and q5_k: eight 6-bit scales and eight 6-bit minima.
PackedNumber k_scale() {
  return {{{4, 4, 4, 8, 0, 0, 0, 0x0F, 0}, {4, 8, 4, 0, 0, 4, 2, 3, 4}}};
}
PackedNumber k_minimum() {
  return {{{8, 8, 4, 0, 4, 0, 4, 0x0F, 0}, {8, 8, 4, 0, 0, 4, 2, 3, 4}}};
}

BlockDecode q2_k() {
  const PackedNumber code{{crumbs(16, 0)}};
  const PackedNumber scale{{{0, 1, 1, 1, 0, 0, 0, 0x0F, 0}}};
  const PackedNumber minimum{{{0, 1, 1, 1, 0, 4, 0, 0x0F, 0}}};
  return {code, scale, minimum, {}, 16, 80, std::uint16_t{82}, -1};
}
BlockDecode q3_k() {
  const PackedNumber code{{crumbs(32, 0), bit_rows(0, 2)}, 4};
  const PackedNumber scale{{{96, 16, 8, 0, 0, 0, 4, 0x0F, 0}, {104, 16, 4, 0, 0, 0, 2, 3, 4}}, 32};
  return {code, scale, {}, {}, 16, 108, {}, 1};
}
BlockDecode q4_k() {
  return {{{nibbles(16, 32, 32)}}, k_scale(), k_minimum(), {}, 32, 0, std::uint16_t{2}, -1};
}
BlockDecode q5_k() {
  const PackedNumber code{{nibbles(48, 32, 32), bit_rows(16, 4)}};
  return {code, k_scale(), k_minimum(), {}, 32, 0, std::uint16_t{2}, -1};
}
BlockDecode q6_k() {
  const PackedNumber code{{nibbles(0, 64, 64), crumbs(128, 4)}, 32};
  const PackedNumber scale{{{192, 1, 1, 1, 0, 0, 0, 0xFF, 0}}, 0, true};
  return {code, scale, {}, {}, 16, 208, {}, 1};
}
BlockDecode iq4_xs() {
  const PackedNumber scale{{{4, 2, 1, 1, 0, 0, 4, 0x0F, 0}, {2, 4, 1, 1, 0, 0, 2, 3, 4}}, 32};
  return {{{nibbles(8, 16, 16)}}, scale, {}, nonlinear, 32, 0, {}, 1};
}
BlockDecode iq4_nl() {
  BlockDecode result = simple({{nibbles(2, 16, 16)}}, 32);
  result.table = nonlinear;
  return result;
}

FormatRow plain(Format format, DType dtype, std::optional<std::uint32_t> ggml, std::string_view safetensors) {
  return {format, luminal::name(dtype), dtype, ggml, safetensors, 1, luminal::row(dtype).bytes, {}};
}
FormatRow blocks(Format format, std::string_view name, std::uint32_t ggml, std::uint32_t elements,
                 std::uint32_t bytes, const BlockDecode& decode) {
  return {format, name, {}, ggml, "", elements, bytes, decode};
}

const std::array<FormatRow, format_count>& table() {
  static const std::array<FormatRow, format_count> rows = {
      plain(Format::f64, DType::f64, 28, "F64"),
      plain(Format::f32, DType::f32, 0, "F32"),
      plain(Format::f16, DType::f16, 1, "F16"),
      plain(Format::bf16, DType::bf16, 30, "BF16"),
      plain(Format::f8e4m3, DType::f8e4m3, {}, "F8_E4M3"),
      plain(Format::f8e5m2, DType::f8e5m2, {}, "F8_E5M2"),
      plain(Format::i64, DType::i64, 27, "I64"),
      plain(Format::i32, DType::i32, 26, "I32"),
      plain(Format::i16, DType::i16, 25, "I16"),
      plain(Format::i8, DType::i8, 24, "I8"),
      plain(Format::u64, DType::u64, {}, "U64"),
      plain(Format::u32, DType::u32, {}, "U32"),
      plain(Format::u16, DType::u16, {}, "U16"),
      plain(Format::u8, DType::u8, {}, "U8"),
      plain(Format::boolean, DType::boolean, {}, "BOOL"),
      blocks(Format::q4_0, "q4_0", 2, 32, 18, simple({{nibbles(2, 16, 16)}, 8}, 32)),
      blocks(Format::q4_1, "q4_1", 3, 32, 20, simple({{nibbles(4, 16, 16)}}, 32, std::uint16_t{2})),
      blocks(Format::q5_0, "q5_0", 6, 32, 22, simple(five_bits(2, 16), 32)),
      blocks(Format::q5_1, "q5_1", 7, 32, 24, simple(five_bits(4, 0), 32, std::uint16_t{2})),
      blocks(Format::q8_0, "q8_0", 8, 32, 34, simple({{{2, 1, 1, 1, 0, 0, 0, 0xFF, 0}}, 0, true}, 32)),
      blocks(Format::q2_k, "q2_k", 10, 256, 84, q2_k()),
      blocks(Format::q3_k, "q3_k", 11, 256, 110, q3_k()),
      blocks(Format::q4_k, "q4_k", 12, 256, 144, q4_k()),
      blocks(Format::q5_k, "q5_k", 13, 256, 176, q5_k()),
      blocks(Format::q6_k, "q6_k", 14, 256, 210, q6_k()),
      blocks(Format::iq4_nl, "iq4_nl", 20, 32, 18, iq4_nl()),
      blocks(Format::iq4_xs, "iq4_xs", 23, 256, 136, iq4_xs()),
  };
  return rows;
}

template <typename Predicate>
std::optional<Format> find(Predicate matches) {
  for (const FormatRow& candidate : table())
    if (matches(candidate)) return candidate.format;
  return std::nullopt;
}

float half_at(const std::uint8_t* block, std::size_t offset) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, block + offset, sizeof bits);
  return luminal::decode(f16_format, bits);
}

void decode_block(const FormatRow& format, const std::uint8_t* block, float* out) {
  const BlockDecode& decode = *format.decode;
  const float d = half_at(block, decode.d_offset);
  const float m = decode.m_offset ? half_at(block, *decode.m_offset) : 0.0F;
  for (std::size_t start = 0; start < format.block_elements; start += decode.group) {
    const std::size_t group = start / decode.group;
    const float scale =
        decode.scale.planes.empty() ? d : d * static_cast<float>(decode.scale.at(block, group));
    float shift = m;
    if (!decode.minimum.planes.empty()) shift = m * static_cast<float>(decode.minimum.at(block, group));
    for (std::size_t i = start; i < start + decode.group; ++i) {
      const int code = decode.code.at(block, i);
      const int value = decode.table.empty() ? code : decode.table[static_cast<std::size_t>(code)];
      const float product = scale * static_cast<float>(value);
      out[i] = !decode.m_offset ? product : decode.minimum_sign > 0 ? product + shift : product - shift;
    }
  }
}

}  // namespace

int PackedNumber::at(const std::uint8_t* block, std::size_t i) const {
  unsigned bits = 0;
  for (const BitPlane& plane : planes)
    bits |= ((static_cast<unsigned>(block[plane.byte(i)]) >> plane.shift_at(i)) & plane.mask) << plane.to;
  return (is_signed ? static_cast<int>(static_cast<std::int8_t>(bits)) : static_cast<int>(bits)) - zero;
}

const FormatRow& row(Format format) {
  return table()[static_cast<std::size_t>(format)];
}
std::optional<Format> format_named(std::string_view name) {
  return find([&](const FormatRow& candidate) { return candidate.name == name; });
}
std::optional<Format> format_of_ggml(std::uint32_t type) {
  return find([&](const FormatRow& candidate) { return candidate.ggml == type; });
}
std::optional<Format> format_of_safetensors(std::string_view name) {
  return find([&](const FormatRow& candidate) { return !name.empty() && candidate.safetensors == name; });
}
Format format_of(DType dtype) {
  return *find([&](const FormatRow& candidate) { return candidate.dtype == dtype; });
}

std::int64_t stored_bytes(Format format, std::span<const std::int64_t> dims) {
  const FormatRow& stored = row(format);
  const std::int64_t count = element_count(dims);
  if (count == 0) {  // strides must not overflow either
    std::vector<std::int64_t> others(dims.begin(), dims.end());
    std::erase(others, 0);
    (void)element_count(others);
  }
  if (stored.block_elements > 1) {
    if (dims.empty() || dims.back() % stored.block_elements != 0)
      throw Error(cat("a tensor of shape [", join(dims), "] cannot be stored as ", stored.name,
                      ": its last dim must be a multiple of ", stored.block_elements));
  }
  const auto bytes = checked_mul(count / stored.block_elements, stored.block_bytes);
  if (!bytes) throw Error(cat("a tensor of shape [", join(dims), "] has more bytes than fit in 63 bits"));
  return *bytes;
}

void decode_blocks(Format format, std::span<const std::byte> blocks, float* out) {
  const FormatRow& stored = row(format);
  ensure(stored.decode && blocks.size() % stored.block_bytes == 0, "whole blocks of a block format");
  const auto* data = reinterpret_cast<const std::uint8_t*>(blocks.data());
  for (std::size_t at = 0; at < blocks.size(); at += stored.block_bytes, out += stored.block_elements)
    decode_block(stored, data + at, out);
}

}  // namespace luminal::io
