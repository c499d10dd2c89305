#pragma once
#include <sstream>
#include <string>
#include <string_view>

namespace luminal {

/// The arguments' printed forms, one after the other.
template <typename... Args>
std::string cat(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

/// The elements' printed forms with `separator` between them.
template <typename Range>
std::string join(const Range& range, std::string_view separator = ", ") {
  std::ostringstream out;
  bool first = true;
  for (const auto& element : range) {
    if (!first) out << separator;
    first = false;
    out << element;
  }
  return out.str();
}

/// `text` in double quotes with JSON's escapes, so that any bytes survive a line-based format.
std::string in_quotes(std::string_view text);

/// The shortest decimal that reads back as exactly this value; "inf", "-inf" and "nan" for the rest.
std::string shortest(double value);
std::string shortest(float value);

}  // namespace luminal
