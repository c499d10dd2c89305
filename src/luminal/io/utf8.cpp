#include "luminal/io/utf8.h"

#include <algorithm>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

/// How many bytes a character with this first byte has; 0 for none.
std::size_t length_of(std::uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

/// Whether `second` may follow `first`: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool may_follow(std::uint8_t first, std::uint8_t second) {
  const std::uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  return second >= low && second <= high;
}

/// The bytes from `position` that could still be part of one character, and how many it would have.
std::size_t valid_prefix(std::string_view text, std::size_t position, std::size_t length) {
  std::size_t have = 1;
  while (have < length && position + have < text.size()) {
    const std::uint8_t next = byte_at(text, position + have);
    if (have == 1 ? !may_follow(byte_at(text, position), next) : (next & 0xC0U) != 0x80U) break;
    ++have;
  }
  return have;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t position) {
  const std::uint8_t first = byte_at(text, position);
  if (first < 0x80) return {first, 1, true};
  const std::size_t length = length_of(first);
  if (length == 0) return {};
  const std::size_t have = valid_prefix(text, position, length);
  if (have < length) return {replacement_character, static_cast<std::uint8_t>(have), false};
  char32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6U | (byte_at(text, position + i) & 0x3FU);
  return {code, static_cast<std::uint8_t>(length), true};
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!point.valid) return false;
    at += point.bytes;
  }
  return true;
}

void append_utf8(std::string& out, char32_t code) {
  const auto add = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0U | code >> 6U);
    add(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    add(0xE0U | code >> 12U);
    add(0x80U | (code >> 6U & 0x3FU));
    add(0x80U | (code & 0x3FU));
  } else {
    add(0xF0U | code >> 18U);
    add(0x80U | (code >> 12U & 0x3FU));
    add(0x80U | (code >> 6U & 0x3FU));
    add(0x80U | (code & 0x3FU));
  }
}

std::u32string to_utf32(std::string_view text) {
  std::u32string result;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    result.push_back(point.value);
    at += point.bytes;
  }
  return result;
}

std::string to_valid_utf8(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string result;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint point = code_point_at(bytes, at);
    append_utf8(result, point.value);
    at += point.bytes;
  }
  return result;
}

std::size_t incomplete_tail(std::string_view bytes) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
    const std::size_t start = bytes.size() - back;
    const std::size_t length = length_of(byte_at(bytes, start));
    if (length > back && valid_prefix(bytes, start, length) == back) return back;
  }
  return 0;
}

void require_growth(std::size_t from, std::size_t to) {
  constexpr std::size_t always_fine = 64U << 20U;
  if (to > always_fine && to / 16 > from)
    throw Error(cat("a text of ", from, " bytes grows beyond 64 MiB when it is rewritten"));
}

}  // namespace luminal::io
