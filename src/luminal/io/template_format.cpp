// Python's two ways to format: "%s" % values, and "{}".format(values).
#include <charconv>
#include <cmath>
#include <cstdio>

#include "luminal/io/template_text.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

constexpr std::size_t widest = 10000;

struct Directive {
  bool left = false;
  bool zeros = false;
  bool plus = false;
  bool space = false;
  std::size_t width = 0;
  std::optional<std::size_t> precision;
  char kind = 's';
};

std::size_t small_number(std::string_view text, std::size_t& at) {
  std::size_t number = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    number = number * 10 + static_cast<std::size_t>(text[at] - '0');
    if (number > widest) throw Error(cat("'%': a width beyond ", widest, " is refused"));
  }
  return number;
}

Directive read_directive(std::string_view text, std::size_t& at) {
  Directive result;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    bool* flag = c == '-'   ? &result.left
                 : c == '0' ? &result.zeros
                 : c == '+' ? &result.plus
                 : c == ' ' ? &result.space
                            : nullptr;
    if (flag == nullptr) break;
    *flag = true;
  }
  result.width = small_number(text, at);
  if (at < text.size() && text[at] == '.') result.precision = small_number(text, ++at);
  if (at >= text.size()) throw Error("'%': the format ends within a directive");
  result.kind = text[at++];
  return result;
}

std::string digits_of(const Directive& directive, const TemplateValue& value) {
  if (!value.is_number()) throw Error(cat("'%", directive.kind, "' needs a number, got ", value.type_name()));
  if (directive.kind == 'd' || directive.kind == 'i' || directive.kind == 'x') {
    if (value.is_real() && std::abs(value.real()) >= 9e18) throw Error("'%d': the number exceeds 64 bits");
    const std::int64_t number = value.is_real() ? static_cast<std::int64_t>(value.real()) : value.integer();
    char buffer[32];
    const auto magnitude =
        number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, magnitude, directive.kind == 'x' ? 16 : 10).ptr;
    return (number < 0 ? "-" : "") + std::string(buffer, end);
  }
  const int precision = static_cast<int>(directive.precision.value_or(6));
  const char kind = directive.kind;
  const char* format = kind == 'f' ? "%.*f" : kind == 'e' ? "%.*e" : "%.*g";
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, precision, value.real())),
                   '\0');
  std::snprintf(text.data(), text.size() + 1, format, precision, value.real());
  return text;
}

std::string formatted(const Directive& directive, const TemplateValue& value) {
  std::string text;
  if (directive.kind == 's' || directive.kind == 'r') {
    text = directive.kind == 's' ? value.text() : value.repr();
    if (directive.precision) {
      const std::u32string characters = to_utf32(text).substr(0, *directive.precision);
      text.clear();
      for (const char32_t c : characters) append_utf8(text, c);
    }
  } else if (std::string_view("dixfeg").find(directive.kind) != std::string_view::npos) {
    text = digits_of(directive, value);
    const bool negative = text.starts_with('-');
    if (!negative && (directive.plus || directive.space)) text.insert(0, 1, directive.plus ? '+' : ' ');
    if (directive.zeros && !directive.left && text.size() < directive.width) {
      const bool sign = negative || directive.plus || directive.space;
      text.insert(sign ? 1 : 0, directive.width - text.size(), '0');
    }
  } else {
    throw Error(cat("'%", directive.kind, "' is not supported in a format"));
  }
  return padded_text(text, directive.width, ' ', directive.left ? -1 : 1);
}

}  // namespace

std::string padded_text(const std::string& text, std::size_t width, char32_t fill, int side) {
  const std::size_t length = to_utf32(text).size();
  if (width <= length) return text;
  if (width > widest) throw Error(cat("a width beyond ", widest, " is refused"));
  const std::size_t missing = width - length;
  const std::size_t before = side > 0 ? missing : side < 0 ? 0 : missing / 2 + (missing & width & 1U);
  std::string result;
  for (std::size_t i = 0; i < before; ++i) append_utf8(result, fill);
  result += text;
  for (std::size_t i = before; i < missing; ++i) append_utf8(result, fill);
  return result;
}

std::string format_percent(const std::string& format, const TemplateValue& values) {
  std::string result;
  std::size_t next = 0;
  const bool many = values.is_tuple();
  const std::size_t count = many ? values.list().size() : 1;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      result += format[at++];
      continue;
    }
    ++at;
    if (at < format.size() && format[at] == '%') {
      result += format[at++];
      continue;
    }
    const Directive directive = read_directive(format, at);
    if (next >= count) throw Error("'%': there are not enough values for the format");
    result += formatted(directive, many ? values.list()[next] : values);
    ++next;
  }
  if (next < count && !values.is_mapping()) throw Error("'%': not all values were used by the format");
  return result;
}

std::string format_braces(const std::string& format, const TemplateArguments& arguments) {
  std::string result;
  std::size_t next = 0;
  bool counted = false, placed = false;
  for (std::size_t at = 0; at < format.size(); ++at) {
    const char c = format[at];
    if (c != '{' && c != '}') {
      result += c;
      continue;
    }
    if (at + 1 < format.size() && format[at + 1] == c) {
      result += c;
      ++at;
      continue;
    }
    const std::size_t end = format.find('}', at);
    if (c == '}' || end == std::string::npos) throw Error("format: a brace is not closed");
    const std::string field = format.substr(at + 1, end - at - 1);
    at = end;
    (field.empty() ? counted : placed) |= field.find_first_not_of("0123456789") == std::string::npos;
    if (counted && placed) throw Error("format: fields with and without a number cannot stand together");
    const bool number = field.find_first_not_of("0123456789") == std::string::npos && field.size() < 6;
    const TemplateValue* value =
        number ? arguments.find(field.empty() ? next++ : static_cast<std::size_t>(std::stoul(field)), "")
               : arguments.find(static_cast<std::size_t>(-1), field);
    if (field.find_first_of(":!.[") != std::string::npos)
      throw Error(cat("format: the field '{", field, "}' is not supported: expected a place or a name"));
    if (value == nullptr) throw Error(cat("format: there is no value for '{", field, "}'"));
    result += value->text();
  }
  return result;
}

}  // namespace luminal::io
