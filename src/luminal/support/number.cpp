#include "luminal/support/number.h"

#include <charconv>
#include <cmath>
#include <sstream>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

constexpr std::uint64_t plain_nan = 0x7FF8000000000000ULL;

std::string real_text(double value, std::uint64_t bits) {
  if (!std::isnan(value) || bits == plain_nan) return shortest(value);
  std::ostringstream out;
  out << "nan(0x" << std::hex << bits << ")";
  return out.str();
}

template <typename T>
bool read_all(const char* begin, const char* end, T& value, int base = 10) {
  const auto result = std::from_chars(begin, end, value, base);
  return result.ec == std::errc() && result.ptr == end;
}

bool read_all(const char* begin, const char* end, double& value) {
  const auto result = std::from_chars(begin, end, value);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

std::string Number::text() const {
  switch (kind_) {
    case Kind::boolean:
      return boolean() ? "true" : "false";
    case Kind::integer:
      return std::to_string(integer());
    case Kind::natural:
      return std::to_string(natural()) + "u";
    case Kind::real:
      return real_text(real(), bits_);
  }
  throw InternalError("a Number of no kind");
}

Number parse_number(const std::string& text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text == "true") return Number(true);
  if (text == "false") return Number(false);
  if (text == "nan") return Number(std::bit_cast<double>(plain_nan));
  if (text == "inf") return Number(std::numeric_limits<double>::infinity());
  if (text == "-inf") return Number(-std::numeric_limits<double>::infinity());
  if (text.starts_with("nan(0x") && text.ends_with(")")) {
    std::uint64_t bits = 0;
    if (read_all(begin + 6, end - 1, bits, 16) && std::isnan(std::bit_cast<double>(bits)))
      return Number(std::bit_cast<double>(bits));
  } else if (text.ends_with("u")) {
    std::uint64_t value = 0;
    if (read_all(begin, end - 1, value)) return Number(value);
  } else if (text.find_first_of(".e") == std::string::npos) {
    std::int64_t value = 0;
    if (read_all(begin, end, value)) return Number(value);
  } else if (double value = 0; read_all(begin, end, value)) {
    return Number(value);
  }
  throw Error(
      cat("number: ", in_quotes(text), " is not true, false, an integer, an integer with 'u', or a decimal"));
}

}  // namespace luminal
