#include <algorithm>
#include <map>

#include "luminal/io/template_syntax.h"
#include "luminal/io/template_text.h"
#include "luminal/io/unicode.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

using Value = TemplateValue;
using Arguments = TemplateArguments;
using StringMethod = Value (*)(const std::string&, const Arguments&);

const std::string& text_argument(const Arguments& arguments, std::size_t place, const char* name) {
  const Value* found = arguments.find(place, name);
  if (found == nullptr || !found->is_string())
    throw Error(cat("a string method's argument '", name, "' is not a string"));
  return found->string();
}

std::optional<std::string> characters(const Arguments& arguments) {
  const Value* found = arguments.find(0, "chars");
  if (found == nullptr || found->is_none()) return std::nullopt;
  return text_argument(arguments, 0, "chars");
}

Value split(const std::string& text, const Arguments& arguments, bool from_right) {
  const Value separator = arguments.get(0, "sep", {});
  const Value limit = arguments.get(1, "maxsplit", -1);
  if (!limit.is_integer()) throw Error("split: maxsplit is not a whole number");
  if (separator.is_none()) return split_words(text, limit.integer(), from_right);
  if (!separator.is_string() || separator.string().empty())
    throw Error("split: the separator is empty or not a string");
  return split_text(text, separator.string(), limit.integer(), from_right);
}

template <typename Test>
bool all_characters(const std::string& text, const Test& test) {
  if (text.empty()) return false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!test(point.value)) return false;
    at += point.bytes;
  }
  return true;
}

/// Before, the separator and after; at the last separator if `from_right`.
Value parted(const std::string& text, const std::string& separator, bool from_right) {
  if (separator.empty()) throw Error("partition: the separator is empty");
  const std::size_t at = from_right ? text.rfind(separator) : text.find(separator);
  if (at == std::string::npos)
    return from_right ? Value::tuple({"", "", text}) : Value::tuple({text, "", ""});
  return Value::tuple({text.substr(0, at), separator, text.substr(at + separator.size())});
}

Value padded(const std::string& text, const Arguments& arguments, int side) {
  const Value width = arguments.get(0, "width", {});
  if (!width.is_integer()) throw Error("a string's width is not a whole number");
  const std::u32string fill = to_utf32(arguments.get(1, "fillchar", " ").text());
  if (fill.size() != 1) throw Error("a string is filled with exactly one character");
  return padded_text(text, static_cast<std::size_t>(std::max<std::int64_t>(width.integer(), 0)), fill[0],
                     side);
}

std::string zero_filled(const std::string& text, const Arguments& arguments) {
  const bool sign = text.starts_with('-') || text.starts_with('+');
  const Value width = arguments.get(0, "width", {});
  if (!width.is_integer()) throw Error("zfill: the width is not a whole number");
  const std::int64_t rest = width.integer() - (sign ? 1 : 0);
  return text.substr(0, sign ? 1 : 0) + padded_text(text.substr(sign ? 1 : 0),
                                                    static_cast<std::size_t>(std::max<std::int64_t>(rest, 0)),
                                                    '0', 1);
}

/// The part of a text, in bytes, that the arguments "start" and "end" leave, as a slice's bounds; nullopt if
/// they leave none.
std::optional<std::pair<std::size_t, std::size_t>> part_of(const std::string& text,
                                                           const Arguments& arguments) {
  const Value start = arguments.get(1, "start", {}), end = arguments.get(2, "end", {});
  if (start.is_none() && end.is_none()) return std::pair(std::size_t{0}, text.size());
  const auto length = static_cast<std::int64_t>(to_utf32(text).size());
  const auto place = [&](const Value& bound, std::int64_t otherwise) {
    if (bound.is_none()) return otherwise;
    if (!bound.is_integer() && !bound.is_bool())
      throw Error("a string method's start or end is not a whole number");
    const std::int64_t at = bound.integer();
    return at < 0 ? std::max<std::int64_t>(at + length, 0) : at;
  };
  const std::int64_t first = place(start, 0), last = std::min(place(end, length), length);
  if (first > last) return std::nullopt;
  std::size_t begin = 0;
  for (std::int64_t i = 0; i < first; ++i) begin += code_point_at(text, begin).bytes;
  std::size_t stop = begin;
  for (std::int64_t i = first; i < last; ++i) stop += code_point_at(text, stop).bytes;
  return std::pair(begin, stop);
}

/// Where the argument is first (or last) found within that part, in characters; −1 if it is not.
std::int64_t found_at(const std::string& text, const Arguments& arguments, bool from_right) {
  const std::string& wanted = text_argument(arguments, 0, "sub");
  const auto part = part_of(text, arguments);
  if (!part) return -1;
  const std::string_view within = std::string_view(text).substr(part->first, part->second - part->first);
  const std::size_t at = from_right ? within.rfind(wanted) : within.find(wanted);
  if (at == std::string_view::npos) return -1;
  return static_cast<std::int64_t>(to_utf32(std::string_view(text).substr(0, part->first + at)).size());
}

/// Whether that part starts (or ends) with the argument, or with one of a list.
Value has_affix(const std::string& text, const Arguments& arguments, bool at_end) {
  const auto part = part_of(text, arguments);
  const std::string within = part ? text.substr(part->first, part->second - part->first) : "";
  const auto matches = [&](const std::string& affix) {
    return part.has_value() && (at_end ? within.ends_with(affix) : within.starts_with(affix));
  };
  const Value affixes = arguments.get(0, "prefix", {});
  if (!affixes.is_tuple()) return matches(text_argument(arguments, 0, "prefix"));
  return std::any_of(affixes.list().begin(), affixes.list().end(),
                     [&](const Value& affix) { return affix.is_string() && matches(affix.string()); });
}

/// The names of a method's arguments, as `TemplateArguments::require` takes them.
const char* arguments_of(const std::string& method) {
  static const std::map<std::string, const char*, std::less<>> names = {
      {"strip", "/chars"},
      {"lstrip", "/chars"},
      {"rstrip", "/chars"},
      {"split", "sep maxsplit"},
      {"rsplit", "sep maxsplit"},
      {"splitlines", "keepends"},
      {"startswith", "/prefix start end"},
      {"endswith", "/suffix start end"},
      {"removeprefix", "/prefix"},
      {"removesuffix", "/suffix"},
      {"replace", "/old new count"},
      {"join", "/iterable"},
      {"find", "/sub start end"},
      {"rfind", "/sub start end"},
      {"index", "/sub start end"},
      {"count", "/sub start end"},
      {"partition", "/sep"},
      {"rpartition", "/sep"},
      {"center", "/width fillchar"},
      {"ljust", "/width fillchar"},
      {"rjust", "/width fillchar"},
      {"zfill", "/width"},
      {"format", "*"},
      {"get", "/key default"},
  };
  const auto found = names.find(method);
  return found == names.end() ? "" : found->second;
}

const std::map<std::string, StringMethod, std::less<>>& string_methods() {
  static const std::map<std::string, StringMethod, std::less<>> methods = {
      {"strip",
       [](const std::string& s, const Arguments& a) -> Value {
         return strip_text(s, characters(a), true, true);
       }},
      {"lstrip",
       [](const std::string& s, const Arguments& a) -> Value {
         return strip_text(s, characters(a), true, false);
       }},
      {"rstrip",
       [](const std::string& s, const Arguments& a) -> Value {
         return strip_text(s, characters(a), false, true);
       }},
      {"upper", [](const std::string& s, const Arguments&) -> Value { return upper_text(s); }},
      {"lower", [](const std::string& s, const Arguments&) -> Value { return lower_text(s); }},
      {"title", [](const std::string& s, const Arguments&) -> Value { return title_text(s); }},
      {"capitalize", [](const std::string& s, const Arguments&) -> Value { return capitalise_text(s); }},
      {"split", [](const std::string& s, const Arguments& a) { return split(s, a, false); }},
      {"rsplit", [](const std::string& s, const Arguments& a) { return split(s, a, true); }},
      {"splitlines", [](const std::string& s,
                        const Arguments& a) { return split_lines(s, a.get(0, "keepends", false).truthy()); }},
      {"startswith", [](const std::string& s, const Arguments& a) { return has_affix(s, a, false); }},
      {"endswith", [](const std::string& s, const Arguments& a) { return has_affix(s, a, true); }},
      {"removeprefix",
       [](const std::string& s, const Arguments& a) -> Value {
         const std::string& affix = text_argument(a, 0, "prefix");
         return s.starts_with(affix) ? s.substr(affix.size()) : s;
       }},
      {"removesuffix",
       [](const std::string& s, const Arguments& a) -> Value {
         const std::string& affix = text_argument(a, 0, "suffix");
         return s.ends_with(affix) ? s.substr(0, s.size() - affix.size()) : s;
       }},
      {"replace",
       [](const std::string& s, const Arguments& a) -> Value {
         const Value count = a.get(2, "count", -1);
         if (!count.is_integer()) throw Error("replace: the count is not a whole number");
         return replace_text(s, text_argument(a, 0, "old"), text_argument(a, 1, "new"), count.integer());
       }},
      {"join",
       [](const std::string& s, const Arguments& a) -> Value {
         const auto items = elements_of(a.get(0, "iterable", {}));
         if (!items) throw Error("join: the argument cannot be looped over");
         std::string result;
         for (std::size_t i = 0; i < items->size(); ++i) {
           if (!(*items)[i].is_string())
             throw Error(cat("join: item ", i, " is ", (*items)[i].type_name(), ", not a string"));
           result += (i == 0 ? "" : s) + (*items)[i].string();
         }
         return result;
       }},
      {"find", [](const std::string& s, const Arguments& a) -> Value { return found_at(s, a, false); }},
      {"rfind", [](const std::string& s, const Arguments& a) -> Value { return found_at(s, a, true); }},
      {"count",
       [](const std::string& s, const Arguments& a) -> Value {
         const std::string& wanted = text_argument(a, 0, "sub");
         const auto part = part_of(s, a);
         return part ? count_text(s.substr(part->first, part->second - part->first), wanted) : Value(0);
       }},
      {"index",
       [](const std::string& s, const Arguments& a) -> Value {
         const std::int64_t at = found_at(s, a, false);
         if (at < 0) throw Error("index: the text is not there");
         return at;
       }},
      {"partition",
       [](const std::string& s, const Arguments& a) { return parted(s, text_argument(a, 0, "sep"), false); }},
      {"rpartition",
       [](const std::string& s, const Arguments& a) { return parted(s, text_argument(a, 0, "sep"), true); }},
      {"center", [](const std::string& s, const Arguments& a) { return padded(s, a, 0); }},
      {"ljust", [](const std::string& s, const Arguments& a) { return padded(s, a, -1); }},
      {"rjust", [](const std::string& s, const Arguments& a) { return padded(s, a, 1); }},
      {"zfill", [](const std::string& s, const Arguments& a) -> Value { return zero_filled(s, a); }},
      {"format", [](const std::string& s, const Arguments& a) -> Value { return format_braces(s, a); }},
      {"isdigit",
       [](const std::string& s, const Arguments&) -> Value { return all_characters(s, is_digit); }},
      {"isalpha",
       [](const std::string& s, const Arguments&) -> Value { return all_characters(s, is_letter); }},
      {"isalnum",
       [](const std::string& s, const Arguments&) -> Value {
         return all_characters(s, [](char32_t c) { return is_letter(c) || is_number(c); });
       }},
      {"isspace",
       [](const std::string& s, const Arguments&) -> Value { return all_characters(s, is_python_space); }},
      {"isupper",
       [](const std::string& s, const Arguments&) -> Value {
         return upper_text(s) == s && lower_text(s) != s;
       }},
      {"islower",
       [](const std::string& s, const Arguments&) -> Value {
         return lower_text(s) == s && upper_text(s) != s;
       }},
  };
  return methods;
}

Value items_of(const Value& mapping) {
  Value::List items;
  for (const auto& [key, value] : mapping.mapping()) items.push_back(Value::tuple({key, value}));
  return items;
}

Value checked_method(const std::string& name, const Value::Function& run) {
  return Value::Function([name, run](const Arguments& arguments) {
    arguments.require(name, arguments_of(name));
    return run(arguments);
  });
}

std::optional<Value> mapping_method(const Value& mapping, const std::string& name) {
  if (name == "items") return checked_method(name, [mapping](const Arguments&) { return items_of(mapping); });
  if (name == "keys")
    return checked_method(name, [mapping](const Arguments&) -> Value { return *elements_of(mapping); });
  if (name == "values")
    return checked_method(name, [mapping](const Arguments&) -> Value {
      Value::List values;
      for (const auto& entry : mapping.mapping()) values.push_back(entry.second);
      return values;
    });
  if (name == "get")
    return checked_method(name, [mapping](const Arguments& arguments) -> Value {
      const Value key = arguments.get(0, "key", {});
      const Value* found = key.is_string() ? mapping.find(key.string()) : nullptr;
      return found != nullptr ? *found : arguments.get(1, "default", {});
    });
  return std::nullopt;
}

}  // namespace

TemplateValue attribute_of(const TemplateValue& value, const std::string& name) {
  if (value.is_undefined())
    throw Error(cat("'", value.undefined_name(), "' is not defined, so it has no field '", name, "'"));
  if (value.is_string()) {
    const auto found = string_methods().find(name);
    if (found == string_methods().end()) return Value::undefined(name);
    return Value::Function([text = value, name, method = found->second](const Arguments& arguments) {
      arguments.require(name, arguments_of(name));
      return method(text.string(), arguments);
    });
  }
  if (value.is_mapping()) {
    if (auto method = mapping_method(value, name)) return *method;
    const Value* found = value.find(name);
    return found != nullptr ? *found : Value::undefined(name);
  }
  if (value.is_namespace()) {
    const Value* found = value.find(name);
    return found != nullptr ? *found : Value::undefined(name);
  }
  if (value.is_list() && (name == "index" || name == "count"))
    return Value::Function([value, name](const Arguments& arguments) -> Value {
      arguments.require(name, "/value");
      const Value wanted = arguments.get(0, "value", {});
      const auto& list = value.list();
      if (name == "count") return static_cast<std::int64_t>(std::count(list.begin(), list.end(), wanted));
      const auto found = std::find(list.begin(), list.end(), wanted);
      if (found == list.end()) throw Error("index: the value is not in the list");
      return static_cast<std::int64_t>(found - list.begin());
    });
  return Value::undefined(name);
}

}  // namespace luminal::io
