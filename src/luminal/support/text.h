#pragma once
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

namespace luminal {

/// Appends a value's printed form: what `<<` writes, without the cost of a stream for strings, integers,
/// names and what has a `text`.
template <typename T>
void append_text(std::string& out, const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    out += std::string_view(value);
  } else if constexpr (std::is_same_v<T, char>) {
    out += value;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) >= 2 && !std::is_same_v<T, bool>) {
    out += std::to_string(value);
  } else if constexpr (requires { requires std::is_same_v<decltype(value.text()), std::string>; }) {
    out += value.text();
  } else if constexpr (std::is_enum_v<T> &&
                       requires { requires std::is_same_v<decltype(name(value)), std::string_view>; }) {
    out += name(value);
  } else {
    std::ostringstream stream;
    stream << value;
    out += stream.str();
  }
}

/// The arguments' printed forms, one after the other.
template <typename... Args>
std::string cat(const Args&... args) {
  std::string out;
  (append_text(out, args), ...);
  return out;
}

/// The elements' printed forms with `separator` between them.
template <typename Range>
std::string join(const Range& range, std::string_view separator = ", ") {
  std::string out;
  bool first = true;
  for (const auto& element : range) {
    if (!first) out += separator;
    first = false;
    append_text(out, element);
  }
  return out;
}

/// `text` in double quotes with JSON's escapes, so that any bytes survive a line-based format.
std::string in_quotes(std::string_view text);

/// The shortest decimal that reads back as exactly this value; "inf", "-inf" and "nan" for the rest.
std::string shortest(double value);
std::string shortest(float value);

}  // namespace luminal
