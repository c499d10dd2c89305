#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "luminal/io/template_filters.h"
#include "luminal/io/template_syntax.h"
#include "luminal/io/template_text.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

using Value = TemplateValue;
using Arguments = TemplateArguments;

constexpr double beyond_64_bits = 9223372036854775808.0;

Value whole(double real) {
  if (!(std::abs(real) < beyond_64_bits)) throw Error("int: the result exceeds 64 bits");
  return static_cast<std::int64_t>(real);
}

/// Digits may have single underscores between them, as in Python.
std::string without_underscores(const std::string& text) {
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
  };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '_' || i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) result += text[i];
  return result;
}

std::optional<double> parse_real(const std::string& text) {
  const std::string digits = text.starts_with('+') ? text.substr(1) : text;
  double real = 0;
  const auto [rest, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), real);
  if (failure == std::errc::result_out_of_range)
    real = std::strtod(digits.c_str(), nullptr);
  else if (failure != std::errc())
    return std::nullopt;
  return rest == digits.data() + digits.size() ? std::optional(real) : std::nullopt;
}

Value parse_integer(const std::string& text, std::int64_t base, const Value& fallback) {
  std::string digits = text.substr(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
  const std::string prefix = lower_text(digits.substr(0, 2));
  if ((base == 16 && prefix == "0x") || (base == 8 && prefix == "0o") || (base == 2 && prefix == "0b"))
    digits.erase(0, 2);
  if (text.starts_with('-')) digits.insert(0, 1, '-');
  std::int64_t number = 0;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, static_cast<int>(base));
  const bool all = end == digits.data() + digits.size();
  if (all && failure == std::errc::result_out_of_range) throw Error("int: the number exceeds 64 bits");
  if (all && failure == std::errc()) return number;
  const auto real = parse_real(text);
  return real && std::isfinite(*real) ? whole(*real) : fallback;
}

/// The decimal digits of a number without its sign, rounded half to even before the last `cut` ones of its
/// whole part, which become zeros.
double cut_digits(double value, std::size_t cut) {
  std::array<char, 1500> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.1074f", std::abs(value));
  const std::string all(text.data(), static_cast<std::size_t>(length));
  const std::size_t point = all.find('.');
  if (cut > point) return 0;
  std::string kept = "0" + all.substr(0, point - cut);
  const std::string rest = all.substr(point - cut);
  const bool above =
      rest[0] > '5' || (rest[0] == '5' && rest.find_first_not_of("0.", 1) != std::string::npos);
  if (above || (rest[0] == '5' && (kept.back() - '0') % 2 != 0)) {
    std::size_t i = kept.size() - 1;
    for (; kept[i] == '9'; --i) kept[i] = '0';
    ++kept[i];
  }
  return std::strtod((kept + std::string(cut, '0')).c_str(), nullptr);
}

/// As Python's round(value, digits) of a float: right in decimal, half to even.
double round_real(double value, std::int64_t digits) {
  if (!std::isfinite(value)) return value;
  if (digits < 0) return std::copysign(cut_digits(value, static_cast<std::size_t>(-digits)), value);
  const int places = static_cast<int>(digits);
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, "%.*f", places, value)) + 1, '\0');
  (void)std::snprintf(text.data(), text.size(), "%.*f", places, value);
  return std::strtod(text.c_str(), nullptr);
}

std::int64_t round_integer(std::int64_t value, std::int64_t digits) {
  if (digits >= 0) return value;
  if (digits < -18) return 0;
  std::int64_t unit = 1;
  for (std::int64_t i = 0; i < -digits; ++i) unit *= 10;
  const std::int64_t rest = value % unit;
  std::int64_t result = value - rest;
  const std::int64_t size = std::abs(rest), half = unit / 2;
  if (size > half || (size == half && result / unit % 2 != 0))
    if (__builtin_add_overflow(result, rest < 0 ? -unit : unit, &result))
      throw Error("round: the result exceeds 64 bits");
  return result;
}

}  // namespace

TemplateValue integer_filter(const TemplateValue& value, const TemplateArguments& arguments) {
  if (value.is_undefined()) throw Error(cat("int: '", value.undefined_name(), "' is not defined"));
  Value fallback = arguments.get(0, "default", 0);
  if (value.is_bool() || value.is_integer()) return value.integer();
  if (value.is_real()) return std::isnan(value.real()) ? fallback : whole(value.real());
  if (!value.is_string()) return fallback;
  const Value base = arguments.get(1, "base", 10);
  if (!base.is_integer() || base.integer() < 2 || base.integer() > 36)
    throw Error("int: the base is not 2 to 36");
  return parse_integer(without_underscores(strip_text(value.string(), std::nullopt, true, true)),
                       base.integer(), fallback);
}

TemplateValue real_filter(const TemplateValue& value, const TemplateArguments& arguments) {
  if (value.is_undefined()) throw Error(cat("float: '", value.undefined_name(), "' is not defined"));
  if (value.is_number()) return value.real();
  if (!value.is_string()) return arguments.get(0, "default", 0.0);
  const auto real = parse_real(without_underscores(strip_text(value.string(), std::nullopt, true, true)));
  return real ? Value(*real) : arguments.get(0, "default", 0.0);
}

TemplateValue round_filter(const TemplateValue& value, const TemplateArguments& arguments) {
  if (!value.is_number()) throw Error(cat("round: a ", value.type_name(), " is not a number"));
  const Value digits = arguments.get(0, "precision", 0);
  const Value method = arguments.get(1, "method", "common");
  if (!digits.is_integer() || std::abs(digits.integer()) > 300)
    throw Error("round: the precision is not a whole number from -300 to 300");
  if (method == Value("common")) {
    if (value.is_real()) return round_real(value.real(), digits.integer());
    return round_integer(value.integer(), digits.integer());
  }
  if (method != Value("ceil") && method != Value("floor"))
    throw Error("round: the method is not 'common', 'ceil' or 'floor'");
  const double scale = std::pow(10.0, static_cast<double>(digits.integer()));
  const double scaled = value.real() * scale;
  if (!std::isfinite(scaled)) throw Error("round: the number is too large");
  return (method == Value("ceil") ? std::ceil(scaled) : std::floor(scaled)) / scale;
}

}  // namespace luminal::io
