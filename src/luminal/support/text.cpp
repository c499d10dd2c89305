#include "luminal/support/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace luminal {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          static constexpr std::string_view digits = "0123456789abcdef";
          out += "\\u00";
          out += digits[static_cast<unsigned char>(c) >> 4];
          out += digits[static_cast<unsigned char>(c) & 15];
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

namespace {
template <typename T>
std::string shortest_of(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  // A float is recognisable as one: "2.0", not "2".
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}
}  // namespace

std::string shortest(double value) {
  return shortest_of(value);
}
std::string shortest(float value) {
  return shortest_of(value);
}

}  // namespace luminal
