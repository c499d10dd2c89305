#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::io {

inline constexpr char32_t replacement_character = 0xFFFD;

struct CodePoint {
  char32_t value = replacement_character;
  std::uint8_t bytes = 1;  // that it takes; 1 for a byte that begins no character
  bool valid = false;
};

/// The character at `position`, which is within the text.
CodePoint code_point_at(std::string_view text, std::size_t position);
bool is_utf8(std::string_view text);
void append_utf8(std::string& out, char32_t code);
std::u32string to_utf32(std::string_view text);
/// Every maximal broken piece becomes U+FFFD, as Python's and Rust's lossy decoders do.
std::string to_valid_utf8(std::string_view bytes);
/// How many bytes at the end begin a character that is not complete yet: 0 to 3.
std::size_t incomplete_tail(std::string_view bytes);

/// `Error` if rewriting a text has made it long beyond measure: beyond 64 MiB and 16 times what it was.
void require_growth(std::size_t from, std::size_t to);

}  // namespace luminal::io
