#include "luminal/io/template_filters.h"

#include <algorithm>
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
  const std::string field_name = text_of(arguments, 1, "by", "key");
  if (field_name != "key" && field_name != "value") throw Error("dictsort: it sorts by 'key' or by 'value'");
  const std::size_t by = field_name == "value" ? 1 : 0;
  const bool reverse = arguments.get(2, "reverse", false).truthy();
  const auto key = [&](const Value& pair) {
    const Value& field = pair.list()[by];
    return field.is_string() && !exact ? Value(lower_text(field.string())) : field;
  };
  std::stable_sort(list.begin(), list.end(), [&](const Value& a, const Value& b) {
    const auto order = reverse ? compare_values(key(b), key(a)) : compare_values(key(a), key(b));
    if (!order)
      throw Error(cat("dictsort: ", key(a).type_name(), " and ", key(b).type_name(), " cannot be ordered"));
    return *order < 0;
  });
  return list;
}

Value mapped(const Value& value, const Arguments& arguments) {
  Value::List list;
  const Value* attribute =
      arguments.positional.empty() ? arguments.find(std::size_t(-1), "attribute") : nullptr;
  if (attribute != nullptr)
    for (const auto& [name, given] : arguments.named)
      if (name != "attribute" && name != "default")
        throw Error(cat("map: the argument '", name, "' is not supported"));
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
  if (arguments.positional.size() < skip) throw Error("select: the attribute's name is missing");
  const std::string name = arguments.positional.size() > skip ? text_of(arguments, skip, "test") : "";
  if (name.empty() && !arguments.named.empty())
    throw Error(cat("select: the argument '", arguments.named[0].first, "' is not supported"));
  if (!name.empty() && !is_known_test(name))
    throw Error(cat("select: the test '", name, "' is not supported"));
  for (const Value& item : items(value)) {
    const Value field = by_field ? path_of(item, arguments.get(0, "attribute", {})) : item;
    bool passes = field.truthy();
    if (!name.empty())
      passes = apply_test(
          name, field,
          {{arguments.positional.begin() + static_cast<std::ptrdiff_t>(skip) + 1, arguments.positional.end()},
           arguments.named});
    if (passes == wanted) list.push_back(item);
  }
  return list;
}

Value json_text(const Value& value, const Arguments& arguments) {
  JsonStyle style;
  style.ascii = arguments.get(0, "ensure_ascii", false).truthy();
  style.sorted = arguments.get(3, "sort_keys", false).truthy();
  const Value indent = arguments.get(1, "indent", {});
  if (!indent.is_none()) {
    if (!indent.is_integer() || indent.integer() < 0 || indent.integer() > 64)
      throw Error("tojson: the indent is not 0 to 64");
    style.indent = static_cast<int>(indent.integer());
    style.comma = ",";
  }
  if (const Value separators = arguments.get(2, "separators", {}); !separators.is_none()) {
    const auto is_text = [](const Value& part) { return part.is_string(); };
    if (!separators.is_list() || separators.list().size() != 2 ||
        !std::all_of(separators.list().begin(), separators.list().end(), is_text))
      throw Error("tojson: the separators are not two strings");
    style.comma = separators.list()[0].string();
    style.colon = separators.list()[1].string();
  }
  return to_json(value, style);
}

/// What a filter compares: a field if one is named, and strings without their case unless that is asked for.
Value comparable(const Value& item, const Arguments& arguments) {
  const Value attribute = arguments.get(1, "attribute", {});
  const Value field = attribute.is_none() ? item : path_of(item, attribute);
  const bool exact = arguments.get(0, "case_sensitive", false).truthy();
  return field.is_string() && !exact ? Value(lower_text(field.string())) : field;
}

Value extreme(const Value& value, const Arguments& arguments, int sign) {
  const Value::List list = items(value);
  if (list.empty()) return Value::undefined("the extreme of nothing");
  return *std::max_element(list.begin(), list.end(), [&](const Value& a, const Value& b) {
    const auto order = compare_values(comparable(a, arguments), comparable(b, arguments));
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

Value unique(const Value& value, const Arguments& arguments) {
  Value::List kept, seen;
  for (const Value& item : items(value)) {
    Value key = comparable(item, arguments);
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    kept.push_back(item);
    seen.push_back(std::move(key));
  }
  return kept;
}

/// A field of the object itself, so of a mapping its methods and not its entries.
Value attribute_filter(const Value& value, const Arguments& arguments) {
  const std::string name = text_of(arguments, 0, "name");
  const Value found = attribute_of(value, name);
  return value.is_mapping() && !attribute_of(Value(Value::Mapping{}), name).is_function()
             ? Value::undefined(name)
             : found;
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
      {"int", integer_filter},
      {"float", real_filter},
      {"sort", sorted},
      {"dictsort", dictionary_sorted},
      {"map", mapped},
      {"tojson", json_text},
      {"format",
       [](const Value& value, const Arguments& arguments) -> Value {
         if (!value.is_string()) throw Error("format: the format is not a string");
         if (!arguments.named.empty())
           throw Error(cat("format: the argument '", arguments.named[0].first, "' is not supported"));
         return format_percent(value.string(), Value::tuple(arguments.positional));
       }},
      {"center",
       [](const Value& value, const Arguments& arguments) -> Value {
         const Value width = arguments.get(0, "width", 80);
         if (!width.is_integer() || width.integer() < 0)
           throw Error("center: the width is not a whole number");
         return padded_text(value.text(), static_cast<std::size_t>(width.integer()), ' ', 0);
       }},
      {"round", round_filter},
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
         const Value count = a.get(2, "count", {});
         if (!count.is_none() && !count.is_integer()) throw Error("replace: the count is not a whole number");
         return replace_text(v.text(), text_of(a, 0, "old"), text_of(a, 1, "new"),
                             count.is_none() ? -1 : count.integer());
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
      {"attr", attribute_filter},
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

/// The names of a filter's arguments, as `TemplateArguments::require` takes them.
const char* arguments_of(const std::string& filter) {
  static const std::map<std::string, const char*, std::less<>> names = {
      {"default", "default_value boolean"},
      {"d", "default_value boolean"},
      {"join", "d attribute"},
      {"int", "default base"},
      {"float", "default"},
      {"sort", "reverse case_sensitive attribute"},
      {"dictsort", "case_sensitive by reverse"},
      {"map", "*"},
      {"tojson", "ensure_ascii indent separators sort_keys"},
      {"format", "*"},
      {"center", "width"},
      {"round", "precision method"},
      {"sum", "attribute start"},
      {"unique", "case_sensitive attribute"},
      {"indent", "width first blank"},
      {"trim", "chars"},
      {"replace", "old new count"},
      {"min", "case_sensitive attribute"},
      {"max", "case_sensitive attribute"},
      {"attr", "name"},
      {"select", "*"},
      {"reject", "*"},
      {"selectattr", "*"},
      {"rejectattr", "*"},
  };
  const auto found = names.find(filter);
  return found == names.end() ? "" : found->second;
}

}  // namespace

bool is_known_filter(std::string_view name) {
  return filters().contains(name);
}
TemplateValue apply_filter(const std::string& name, const TemplateValue& input,
                           const TemplateArguments& arguments) {
  arguments.require(cat("the filter '", name, "'"), arguments_of(name));
  return filters().at(name)(input, arguments);
}

}  // namespace luminal::io
