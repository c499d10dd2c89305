#include "luminal/io/template_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "luminal/io/json.h"
#include "luminal/io/unicode.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

int checked_depth(int depth) {
  if (depth > deepest_value) throw Error(cat("a template's value is nested deeper than ", deepest_value));
  return depth;
}

/// As Python's repr: the shortest digits that give the value back, and an exponent below 1e-4 and from 1e16
/// on.
std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  std::string text(buffer.data(), end);
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string string_repr(const std::string& text) {
  const char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  static constexpr std::string_view hex = "0123456789abcdef";
  std::string result(1, quote);
  const auto escape = [&](char letter, char32_t code, unsigned digits) {
    result.append({'\\', letter});
    while (digits > 0) result += hex[code >> 4 * --digits & 15U];
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const char c = text[at];
    const std::string_view character = std::string_view(text).substr(at, point.bytes);
    at += point.bytes;
    if (point.value >= 0x80) {
      if (is_printable(point.value))
        result += character;
      else if (point.value < 0x100)
        escape('x', point.value, 2);
      else if (point.value < 0x10000)
        escape('u', point.value, 4);
      else
        escape('U', point.value, 8);
    } else if (c == '\n')
      result += "\\n";
    else if (c == '\r')
      result += "\\r";
    else if (c == '\t')
      result += "\\t";
    else if (c == '\\' || c == quote)
      result.append({'\\', c});
    else if (point.value < 0x20 || c == 0x7F)
      escape('x', point.value, 2);
    else
      result += c;
  }
  return result + quote;
}

std::string json_string(const std::string& text, const JsonStyle& style) {
  return Json(text).dump(-1, ' ', style.ascii, Json::error_handler_t::replace);
}

void write_json(const TemplateValue& value, const JsonStyle& style, int level, std::string& out) {
  const auto line = [&](int depth) {
    if (style.indent >= 0)
      out +=
          "\n" + std::string(static_cast<std::size_t>(style.indent) * static_cast<std::size_t>(depth), ' ');
  };
  const auto separator = [&](bool first) {
    if (!first) out += style.comma;
    line(level + 1);
  };
  if (value.is_none()) {
    out += "null";
  } else if (value.is_bool()) {
    out += value.truthy() ? "true" : "false";
  } else if (value.is_integer()) {
    out += std::to_string(value.integer());
  } else if (value.is_real()) {
    const std::string text = real_text(value.real());
    out += text == "nan" ? "NaN" : text == "inf" ? "Infinity" : text == "-inf" ? "-Infinity" : text;
  } else if (value.is_string()) {
    out += json_string(value.string(), style);
  } else if (value.is_list()) {
    out += '[';
    for (std::size_t i = 0; i < value.list().size(); ++i) {
      separator(i == 0);
      write_json(value.list()[i], style, level + 1, out);
    }
    if (!value.list().empty()) line(level);
    out += ']';
  } else if (value.is_mapping()) {
    TemplateValue::Mapping entries = value.mapping();
    if (style.sorted)
      std::sort(entries.begin(), entries.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
    out += '{';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      separator(i == 0);
      out += json_string(entries[i].first, style) + style.colon;
      write_json(entries[i].second, style, level + 1, out);
    }
    if (!entries.empty()) line(level);
    out += '}';
  } else {
    throw Error(cat("tojson: a value of type ", value.type_name(), " has no JSON form"));
  }
}

TemplateValue convert(const nlohmann::ordered_json& json) {
  switch (json.type()) {
    case nlohmann::json::value_t::null:
      return {};
    case nlohmann::json::value_t::boolean:
      return json.get<bool>();
    case nlohmann::json::value_t::number_integer:
      return json.get<std::int64_t>();
    case nlohmann::json::value_t::number_unsigned:
      if (json.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
        throw Error(cat("the whole number ", json.dump(), " exceeds 64 bits"));
      return json.get<std::int64_t>();
    case nlohmann::json::value_t::number_float:
      return json.get<double>();
    case nlohmann::json::value_t::string:
      return json.get<std::string>();
    case nlohmann::json::value_t::array: {
      TemplateValue::List list;
      for (const auto& element : json) list.push_back(convert(element));
      return list;
    }
    default: {
      TemplateValue::Mapping mapping;
      for (const auto& [key, element] : json.items()) mapping.emplace_back(key, convert(element));
      return mapping;
    }
  }
}

}  // namespace

TemplateValue::TemplateValue(List value) {
  for (const TemplateValue& element : value) depth_ = std::max(depth_, checked_depth(element.depth_ + 1));
  value_ = std::make_shared<const List>(std::move(value));
}
TemplateValue::TemplateValue(Mapping value) {
  for (const auto& entry : value) depth_ = std::max(depth_, checked_depth(entry.second.depth_ + 1));
  value_ = std::make_shared<const Mapping>(std::move(value));
}
TemplateValue TemplateValue::tuple(List value) {
  TemplateValue result(std::move(value));
  result.tuple_ = true;
  return result;
}
TemplateValue TemplateValue::undefined(std::string name) {
  TemplateValue result;
  result.value_ = Undefined{std::move(name)};
  return result;
}
TemplateValue TemplateValue::make_namespace(Mapping fields) {
  TemplateValue result;
  result.value_ = std::make_shared<Namespace>(Namespace{std::move(fields)});
  result.depth_ = deepest_value;  // so that it fits into nothing, and no cycle can be made
  return result;
}
TemplateValue TemplateValue::from_json(std::string_view text) {
  (void)parse_json(text, "template context");
  return convert(nlohmann::ordered_json::parse(text.begin(), text.end()));
}

std::int64_t TemplateValue::integer() const {
  return is_bool() ? (std::get<bool>(value_) ? 1 : 0) : std::get<std::int64_t>(value_);
}
double TemplateValue::real() const {
  return is_real() ? std::get<double>(value_) : static_cast<double>(integer());
}

bool TemplateValue::truthy() const {
  if (is_undefined() || is_none()) return false;
  if (is_bool() || is_integer()) return integer() != 0;
  if (is_real()) return real() != 0;
  if (is_string()) return !string().empty();
  if (is_list()) return !list().empty();
  if (is_mapping()) return !mapping().empty();
  return true;
}

const char* TemplateValue::type_name() const {
  if (is_undefined()) return "undefined";
  if (is_none()) return "NoneType";
  if (is_bool()) return "bool";
  if (is_integer()) return "int";
  if (is_real()) return "float";
  if (is_string()) return "str";
  if (is_list()) return is_tuple() ? "tuple" : "list";
  if (is_mapping()) return "dict";
  return is_namespace() ? "namespace" : "function";
}

std::string TemplateValue::text() const {
  if (is_undefined()) return "";
  return is_string() ? string() : repr();
}

std::string TemplateValue::repr() const {
  if (is_undefined()) return "Undefined";
  if (is_none()) return "None";
  if (is_bool()) return truthy() ? "True" : "False";
  if (is_integer()) return std::to_string(integer());
  if (is_real()) return real_text(real());
  if (is_string()) return string_repr(string());
  std::string result;
  if (is_list()) {
    for (const TemplateValue& element : list()) result += (result.empty() ? "" : ", ") + element.repr();
    if (!is_tuple()) return "[" + result + "]";
    return "(" + result + (list().size() == 1 ? ",)" : ")");
  }
  if (is_mapping()) {
    for (const auto& [key, element] : mapping())
      result += (result.empty() ? "" : ", ") + string_repr(key) + ": " + element.repr();
    return "{" + result + "}";
  }
  throw Error(cat("a value of type ", type_name(), " cannot be printed"));
}

const TemplateValue* TemplateValue::find(std::string_view key) const {
  const Mapping& fields = is_namespace() ? name_space().fields : mapping();
  for (const auto& [name, value] : fields)
    if (name == key) return &value;
  return nullptr;
}

bool operator==(const TemplateValue& a, const TemplateValue& b) {
  if (a.is_number() && b.is_number())
    return a.is_real() || b.is_real() ? a.real() == b.real() : a.integer() == b.integer();
  if (a.value_.index() != b.value_.index()) return false;
  if (a.is_undefined() || a.is_none()) return true;
  if (a.is_string()) return a.string() == b.string();
  if (a.is_list()) return a.is_tuple() == b.is_tuple() && a.list() == b.list();
  if (a.is_mapping()) {
    if (a.mapping().size() != b.mapping().size()) return false;
    return std::all_of(a.mapping().begin(), a.mapping().end(), [&](const auto& entry) {
      const TemplateValue* other = b.find(entry.first);
      return other != nullptr && *other == entry.second;
    });
  }
  return a.is_namespace() ? &a.name_space() == &b.name_space() : &a.function() == &b.function();
}

const TemplateValue* TemplateArguments::find(std::size_t place, std::string_view name) const {
  if (place < positional.size()) return &positional[place];
  for (const auto& [key, value] : named)
    if (key == name) return &value;
  return nullptr;
}
TemplateValue TemplateArguments::get(std::size_t place, std::string_view name,
                                     const TemplateValue& otherwise) const {
  const TemplateValue* found = find(place, name);
  return found == nullptr ? otherwise : *found;
}

void TemplateArguments::require(std::string_view called, std::string_view names) const {
  if (names == "*") return;
  const bool by_place = names.starts_with('/');
  if (by_place) names.remove_prefix(1);
  std::vector<std::string_view> places;
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(' ', at), names.size());
    places.push_back(names.substr(at, end - at));
    at = end + 1;
  }
  if (positional.size() > places.size())
    throw Error(cat(called, ": it takes at most ", places.size(), " arguments, got ", positional.size()));
  for (const auto& [key, value] : named) {
    const auto found = std::find(places.begin(), places.end(), key);
    if (by_place || found == places.end())
      throw Error(cat(called, ": the argument '", key, "' is not supported"));
    if (static_cast<std::size_t>(found - places.begin()) < positional.size())
      throw Error(cat(called, ": the argument '", key, "' is given twice"));
  }
}

std::optional<int> compare_values(const TemplateValue& a, const TemplateValue& b) {
  const auto sign = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (a.is_number() && b.is_number())
    return a.is_real() || b.is_real() ? sign(a.real(), b.real()) : sign(a.integer(), b.integer());
  if (a.is_string() && b.is_string()) return sign(a.string(), b.string());
  if (!a.is_list() || !b.is_list()) return std::nullopt;
  for (std::size_t i = 0; i < std::min(a.list().size(), b.list().size()); ++i)
    if (const auto order = compare_values(a.list()[i], b.list()[i]); !order || *order != 0) return order;
  return sign(a.list().size(), b.list().size());
}

std::optional<TemplateValue::List> elements_of(const TemplateValue& value) {
  if (value.is_undefined()) return TemplateValue::List{};
  if (value.is_list()) return value.list();
  TemplateValue::List result;
  if (value.is_mapping()) {
    for (const auto& entry : value.mapping()) result.emplace_back(entry.first);
  } else if (value.is_string()) {
    const std::string& text = value.string();
    for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).bytes)
      result.emplace_back(text.substr(at, code_point_at(text, at).bytes));
  } else {
    return std::nullopt;
  }
  return result;
}

std::string to_json(const TemplateValue& value, const JsonStyle& style) {
  std::string out;
  write_json(value, style, 0, out);
  return out;
}

}  // namespace luminal::io
