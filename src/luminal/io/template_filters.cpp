#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "luminal/io/template_syntax.h"
#include "luminal/io/template_text.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

using Value = TemplateValue;
using Arguments = TemplateArguments;
using Filter = Value (*)(const Value&, const Arguments&);

Value::List items(const Value& value) {
  auto result = elements_of(value);
  if (!result) throw Error(cat("a value of type ", value.type_name(), " cannot be looped over"));
  return std::move(*result);
}

std::string text_of(const Arguments& arguments, std::size_t place, const char* name,
                    const char* otherwise = nullptr) {
  const Value* found = arguments.find(place, name);
  if (found == nullptr && otherwise != nullptr) return otherwise;
  if (found == nullptr || !found->is_string())
    throw Error(cat("the argument '", name, "' is missing or not a string"));
  return found->string();
}

/// "a.b.0": fields of fields.
Value path_of(Value value, const Value& path) {
  if (path.is_integer()) return item_of(value, path);
  if (!path.is_string()) throw Error("an attribute's name is not a string");
  const Value parts = split_text(path.string(), ".", -1, false);
  for (const Value& part : parts.list()) {
    const bool number =
        !part.string().empty() && part.string().find_first_not_of("0123456789") == std::string::npos;
    value = number && part.string().size() < 10
                ? item_of(value, Value(std::int64_t{std::stol(part.string())}))
                : item_of(value, part);
  }
  return value;
}

Value length(const Value& value, const Arguments&) {
  if (value.is_string()) return static_cast<std::int64_t>(to_utf32(value.string()).size());
  if (value.is_mapping()) return static_cast<std::int64_t>(value.mapping().size());
  return static_cast<std::int64_t>(items(value).size());
}

Value otherwise(const Value& value, const Arguments& arguments) {
  const bool falsy = arguments.get(1, "boolean", false).truthy();
  return value.is_undefined() || (falsy && !value.truthy()) ? arguments.get(0, "default_value", "") : value;
}

Value join_items(const Value& value, const Arguments& arguments) {
  const std::string separator = arguments.get(0, "d", "").text();
  const Value* attribute = arguments.find(1, "attribute");
  std::string result;
  bool first = true;
  for (const Value& item : items(value)) {
    if (!first) result += separator;
    first = false;
    result += attribute != nullptr ? path_of(item, *attribute).text() : item.text();
  }
  return result;
}

Value to_integer(const Value& value, const Arguments& arguments) {
  Value fallback = arguments.get(0, "default", 0);
  if (value.is_bool() || value.is_integer()) return value.integer();
  if (value.is_real())
    return std::abs(value.real()) < 9e18 ? Value(static_cast<std::int64_t>(value.real())) : fallback;
  if (!value.is_string()) return fallback;
  const std::string text = strip_text(value.string(), std::nullopt, true, true);
  const Value base = arguments.get(1, "base", 10);
  if (!base.is_integer() || base.integer() < 2 || base.integer() > 36)
    throw Error("int: the base is not 2 to 36");
  std::string digits = text.substr(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
  const std::string prefix = lower_text(digits.substr(0, 2));
  if ((base.integer() == 16 && prefix == "0x") || (base.integer() == 8 && prefix == "0o") ||
      (base.integer() == 2 && prefix == "0b"))
    digits.erase(0, 2);
  if (text.starts_with('-')) digits.insert(0, 1, '-');
  std::int64_t number = 0;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, static_cast<int>(base.integer()));
  if (failure == std::errc() && end == digits.data() + digits.size()) return number;
  double real = 0;
  const auto [rest, wrong] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (wrong == std::errc() && rest == text.data() + text.size() && std::abs(real) < 9e18)
    return static_cast<std::int64_t>(real);
  return fallback;
}

Value to_real(const Value& value, const Arguments& arguments) {
  if (value.is_number()) return value.real();
  if (!value.is_string()) return arguments.get(0, "default", 0.0);
  const std::string text = strip_text(value.string(), std::nullopt, true, true);
  double real = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), real);
  return failure == std::errc() && rest == text.data() + text.size() ? Value(real)
                                                                     : arguments.get(0, "default", 0.0);
}

Value sorted(const Value& value, const Arguments& arguments) {
  Value::List list = items(value);
  const bool reverse = arguments.get(0, "reverse", false).truthy();
  const bool exact = arguments.get(1, "case_sensitive", false).truthy();
  const Value* attribute = arguments.find(2, "attribute");
  const auto key = [&](const Value& item) {
    const Value field = attribute != nullptr ? path_of(item, *attribute) : item;
    return field.is_string() && !exact ? Value(lower_text(field.string())) : field;
  };
  std::stable_sort(list.begin(), list.end(), [&](const Value& a, const Value& b) {
    const auto order = reverse ? compare_values(key(b), key(a)) : compare_values(key(a), key(b));
    if (!order) throw Error(cat("sort: ", a.type_name(), " and ", b.type_name(), " cannot be ordered"));
    return *order < 0;
  });
  return list;
}

Value pairs_of(const Value& value) {
  if (value.is_undefined()) return Value::List{};
  if (!value.is_mapping()) throw Error(cat("expected a mapping, got ", value.type_name()));
  Value::List list;
  for (const auto& [key, item] : value.mapping()) list.push_back(Value::tuple({key, item}));
  return list;
}

Value dictionary_sorted(const Value& value, const Arguments& arguments) {
  Value::List list = pairs_of(value).list();
  const bool exact = arguments.get(0, "case_sensitive", false).truthy();
  const std::size_t by = text_of(arguments, 1, "by", "key") == "value" ? 1 : 0;
  const bool reverse = arguments.get(2, "reverse", false).truthy();
  const auto key = [&](const Value& pair) {
    const Value& field = pair.list()[by];
    return field.is_string() && !exact ? Value(lower_text(field.string())) : field;
  };
  std::stable_sort(list.begin(), list.end(), [&](const Value& a, const Value& b) {
    return (reverse ? compare_values(key(b), key(a)) : compare_values(key(a), key(b))).value_or(0) < 0;
  });
  return list;
}

Value mapped(const Value& value, const Arguments& arguments) {
  Value::List list;
  const Value* attribute = arguments.find(std::size_t(-1), "attribute");
  for (const Value& item : items(value)) {
    if (attribute != nullptr) {
      const Value field = path_of(item, *attribute);
      list.push_back(field.is_undefined() ? arguments.get(std::size_t(-1), "default", field) : field);
      continue;
    }
    const std::string name = text_of(arguments, 0, "filter");
    if (!is_known_filter(name)) throw Error(cat("map: the filter '", name, "' is not supported"));
    list.push_back(apply_filter(
        name, item, {{arguments.positional.begin() + 1, arguments.positional.end()}, arguments.named}));
  }
  return list;
}

/// select, reject and their *attr forms: the elements (or a field of them) that pass a test.
Value chosen(const Value& value, const Arguments& arguments, bool by_field, bool wanted) {
  Value::List list;
  const std::size_t skip = by_field ? 1 : 0;
  const std::string name = arguments.positional.size() > skip ? text_of(arguments, skip, "test") : "";
  if (!name.empty() && !is_known_test(name))
    throw Error(cat("select: the test '", name, "' is not supported"));
  for (const Value& item : items(value)) {
    const Value field = by_field ? path_of(item, arguments.get(0, "attribute", {})) : item;
    bool passes = field.truthy();
    if (!name.empty())
      passes = apply_test(
          name, field,
          {{arguments.positional.begin() + static_cast<std::ptrdiff_t>(skip) + 1, arguments.positional.end()},
           {}});
    if (passes == wanted) list.push_back(item);
  }
  return list;
}

Value json_text(const Value& value, const Arguments& arguments) {
  const auto option = [&](const char* name) { return arguments.get(std::size_t(-1), name, {}); };
  JsonStyle style;
  style.ascii = option("ensure_ascii").truthy();
  style.sorted = option("sort_keys").truthy();
  const Value indent = arguments.positional.empty() ? option("indent") : arguments.positional[0];
  if (!indent.is_none()) {
    if (!indent.is_integer() || indent.integer() < 0 || indent.integer() > 64)
      throw Error("tojson: the indent is not 0 to 64");
    style.indent = static_cast<int>(indent.integer());
    style.comma = ",";
  }
  if (const Value separators = option("separators"); !separators.is_none()) {
    const auto is_text = [](const Value& part) { return part.is_string(); };
    if (!separators.is_list() || separators.list().size() != 2 ||
        !std::all_of(separators.list().begin(), separators.list().end(), is_text))
      throw Error("tojson: the separators are not two strings");
    style.comma = separators.list()[0].string();
    style.colon = separators.list()[1].string();
  }
  return to_json(value, style);
}

Value rounded(const Value& value, const Arguments& arguments) {
  if (!value.is_number()) throw Error(cat("round: a ", value.type_name(), " is not a number"));
  const Value digits = arguments.get(0, "precision", 0);
  const std::string method = text_of(arguments, 1, "method", "common");
  if (!digits.is_integer() || std::abs(digits.integer()) > 300)
    throw Error("round: the precision is not a small whole number");
  const double scale = std::pow(10.0, static_cast<double>(digits.integer()));
  const double scaled = value.real() * scale;
  return (method == "ceil"    ? std::ceil(scaled)
          : method == "floor" ? std::floor(scaled)
                              : std::nearbyint(scaled)) /
         scale;
}

Value extreme(const Value& value, const Arguments&, int sign) {
  const Value::List list = items(value);
  if (list.empty()) return Value::undefined("the extreme of nothing");
  return *std::max_element(list.begin(), list.end(), [&](const Value& a, const Value& b) {
    const auto order = compare_values(a, b);
    if (!order) throw Error("min and max: the values cannot be ordered");
    return *order * sign < 0;
  });
}

Value total(const Value& value, const Arguments& arguments) {
  Value sum = arguments.get(1, "start", 0);
  const Value* attribute = arguments.find(0, "attribute");
  for (const Value& item : items(value))
    sum = binary_operation("+", sum,
                           attribute != nullptr && !attribute->is_none() ? path_of(item, *attribute) : item);
  return sum;
}

Value unique(const Value& value, const Arguments&) {
  Value::List kept;
  const auto folded = [](const Value& v) { return v.is_string() ? Value(lower_text(v.string())) : v; };
  for (const Value& item : items(value))
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const Value& seen) { return folded(seen) == folded(item); }))
      kept.push_back(item);
  return kept;
}

Value escaped(const Value& value, const Arguments&) {
  std::string text = value.text();
  for (const auto& [from, to] :
       {std::pair("&", "&amp;"), {"<", "&lt;"}, {">", "&gt;"}, {"'", "&#39;"}, {"\"", "&#34;"}})
    text = replace_text(text, from, to, -1);
  return text;
}

Value reversed(const Value& value, const Arguments&) {
  Value::List list = items(value);
  std::reverse(list.begin(), list.end());
  if (!value.is_string()) return list;
  std::string text;
  for (const Value& character : list) text += character.string();
  return text;
}

Value indented(const Value& value, const Arguments& arguments) {
  const Value width = arguments.get(0, "width", 4);
  std::string by = width.is_string() ? width.string() : "";
  if (width.is_integer())
    by = std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(width.integer(), 0, 1000)), ' ');
  return indent_text(value.text(), by, arguments.get(1, "first", false).truthy(),
                     arguments.get(2, "blank", false).truthy());
}

const std::map<std::string, Filter, std::less<>>& filters() {
  static const std::map<std::string, Filter, std::less<>> table = {
      {"length", length},
      {"count", length},
      {"default", otherwise},
      {"d", otherwise},
      {"join", join_items},
      {"int", to_integer},
      {"float", to_real},
      {"sort", sorted},
      {"dictsort", dictionary_sorted},
      {"map", mapped},
      {"tojson", json_text},
      {"format",
       [](const Value& value, const Arguments& arguments) -> Value {
         if (!value.is_string()) throw Error("format: the format is not a string");
         return format_percent(value.string(), Value::tuple(arguments.positional));
       }},
      {"center",
       [](const Value& value, const Arguments& arguments) -> Value {
         const Value width = arguments.get(0, "width", 80);
         if (!width.is_integer() || width.integer() < 0)
           throw Error("center: the width is not a whole number");
         return padded_text(value.text(), static_cast<std::size_t>(width.integer()), ' ', 0);
       }},
      {"round", rounded},
      {"sum", total},
      {"unique", unique},
      {"escape", escaped},
      {"e", escaped},
      {"reverse", reversed},
      {"indent", indented},
      {"items", [](const Value& v, const Arguments&) { return pairs_of(v); }},
      {"string", [](const Value& v, const Arguments&) -> Value { return v.text(); }},
      {"safe", [](const Value& v, const Arguments&) { return v; }},
      {"list", [](const Value& v, const Arguments&) -> Value { return items(v); }},
      {"upper", [](const Value& v, const Arguments&) -> Value { return upper_text(v.text()); }},
      {"lower", [](const Value& v, const Arguments&) -> Value { return lower_text(v.text()); }},
      {"title", [](const Value& v, const Arguments&) -> Value { return title_words(v.text()); }},
      {"capitalize", [](const Value& v, const Arguments&) -> Value { return capitalise_text(v.text()); }},
      {"trim",
       [](const Value& v, const Arguments& a) -> Value {
         const Value set = a.get(0, "chars", {});
         return strip_text(v.text(), set.is_string() ? std::optional(set.string()) : std::nullopt, true,
                           true);
       }},
      {"replace",
       [](const Value& v, const Arguments& a) -> Value {
         const Value count = a.get(2, "count", -1);
         return replace_text(v.text(), text_of(a, 0, "old"), text_of(a, 1, "new"),
                             count.is_integer() ? count.integer() : -1);
       }},
      {"first",
       [](const Value& v, const Arguments&) {
         const Value::List list = items(v);
         return list.empty() ? Value::undefined("first of nothing") : list.front();
       }},
      {"last",
       [](const Value& v, const Arguments&) {
         const Value::List list = items(v);
         return list.empty() ? Value::undefined("last of nothing") : list.back();
       }},
      {"abs",
       [](const Value& v, const Arguments&) {
         if (!v.is_number()) throw Error(cat("abs: a ", v.type_name(), " is not a number"));
         return v.real() < 0 ? binary_operation("-", Value(0), v) : v;
       }},
      {"min", [](const Value& v, const Arguments& a) { return extreme(v, a, -1); }},
      {"max", [](const Value& v, const Arguments& a) { return extreme(v, a, 1); }},
      {"attr", [](const Value& v, const Arguments& a) { return attribute_of(v, text_of(a, 0, "name")); }},
      {"select", [](const Value& v, const Arguments& a) { return chosen(v, a, false, true); }},
      {"reject", [](const Value& v, const Arguments& a) { return chosen(v, a, false, false); }},
      {"selectattr", [](const Value& v, const Arguments& a) { return chosen(v, a, true, true); }},
      {"rejectattr", [](const Value& v, const Arguments& a) { return chosen(v, a, true, false); }},
      {"wordcount",
       [](const Value& v, const Arguments&) -> Value {
         return static_cast<std::int64_t>(split_words(v.text(), -1, false).list().size());
       }},
  };
  return table;
}

using Test = bool (*)(const Value&, const Arguments&);

Value operand(const Arguments& arguments) {
  if (arguments.positional.empty()) throw Error("the test needs an argument");
  return arguments.positional[0];
}

std::int64_t whole(const Value& value) {
  if (!value.is_integer() && !value.is_bool())
    throw Error(cat("a ", value.type_name(), " is not a whole number"));
  return value.integer();
}

int order(const Value& value, const Arguments& arguments) {
  const auto result = compare_values(value, operand(arguments));
  if (!result) throw Error("the values cannot be ordered");
  return *result;
}

const std::map<std::string, Test, std::less<>>& tests() {
  static constexpr Test equal = [](const Value& v, const Arguments& a) { return v == operand(a); };
  static const std::map<std::string, Test, std::less<>> table = {
      {"defined", [](const Value& v, const Arguments&) { return !v.is_undefined(); }},
      {"undefined", [](const Value& v, const Arguments&) { return v.is_undefined(); }},
      {"none", [](const Value& v, const Arguments&) { return v.is_none(); }},
      {"boolean", [](const Value& v, const Arguments&) { return v.is_bool(); }},
      {"true", [](const Value& v, const Arguments&) { return v.is_bool() && v.truthy(); }},
      {"false", [](const Value& v, const Arguments&) { return v.is_bool() && !v.truthy(); }},
      {"integer", [](const Value& v, const Arguments&) { return v.is_integer(); }},
      {"float", [](const Value& v, const Arguments&) { return v.is_real(); }},
      {"number", [](const Value& v, const Arguments&) { return v.is_number(); }},
      {"string", [](const Value& v, const Arguments&) { return v.is_string(); }},
      {"mapping", [](const Value& v, const Arguments&) { return v.is_mapping(); }},
      {"sequence",
       [](const Value& v, const Arguments&) { return v.is_list() || v.is_string() || v.is_mapping(); }},
      {"iterable", [](const Value& v, const Arguments&) { return elements_of(v).has_value(); }},
      {"callable", [](const Value& v, const Arguments&) { return v.is_function(); }},
      {"sameas", equal},
      {"eq", equal},
      {"equalto", equal},
      {"ne", [](const Value& v, const Arguments& a) { return !(v == operand(a)); }},
      {"lt", [](const Value& v, const Arguments& a) { return order(v, a) < 0; }},
      {"le", [](const Value& v, const Arguments& a) { return order(v, a) <= 0; }},
      {"gt", [](const Value& v, const Arguments& a) { return order(v, a) > 0; }},
      {"ge", [](const Value& v, const Arguments& a) { return order(v, a) >= 0; }},
      {"in", [](const Value& v, const Arguments& a) { return contains(operand(a), v); }},
      {"even", [](const Value& v, const Arguments&) { return whole(v) % 2 == 0; }},
      {"odd", [](const Value& v, const Arguments&) { return whole(v) % 2 != 0; }},
      {"divisibleby",
       [](const Value& v, const Arguments& a) {
         const std::int64_t divisor = whole(operand(a));
         if (divisor == 0) throw Error("division by zero");
         return divisor == -1 || whole(v) % divisor == 0;
       }},
      {"upper", [](const Value& v,
                   const Arguments&) { return v.is_string() && upper_text(v.string()) == v.string(); }},
      {"lower", [](const Value& v,
                   const Arguments&) { return v.is_string() && lower_text(v.string()) == v.string(); }},
  };
  return table;
}

}  // namespace

bool is_known_filter(std::string_view name) {
  return filters().contains(name);
}
bool is_known_test(std::string_view name) {
  return tests().contains(name);
}
TemplateValue apply_filter(const std::string& name, const TemplateValue& input,
                           const TemplateArguments& arguments) {
  return filters().at(name)(input, arguments);
}
bool apply_test(const std::string& name, const TemplateValue& input, const TemplateArguments& arguments) {
  return tests().at(name)(input, arguments);
}

}  // namespace luminal::io
