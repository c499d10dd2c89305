#include <algorithm>
#include <cmath>

#include "luminal/io/template_syntax.h"
#include "luminal/io/template_text.h"
#include "luminal/io/utf8.h"
#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

constexpr std::int64_t longest_repeat = 1 << 24;

[[noreturn]] void refuse_types(const std::string& operation, const TemplateValue& a, const TemplateValue& b) {
  const auto shown = [](const TemplateValue& value) {
    return value.is_undefined() ? cat("'", value.undefined_name(), "', which is not defined,")
                                : std::string(value.type_name());
  };
  throw Error(cat("'", operation, "' is not supported between ", shown(a), " and ", shown(b)));
}

TemplateValue checked(std::optional<std::int64_t> value, const std::string& operation) {
  if (!value) throw Error(cat("'", operation, "': the result exceeds 64 bits"));
  return *value;
}

/// Rounded towards minus infinity, as Python's.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) throw Error("division by zero");
  if (b == -1) return checked(checked_sub(0, a), "//").integer();
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

double power(double a, double b) {
  if (a == 0 && b < 0) throw Error("division by zero");
  if (a < 0 && b != std::floor(b)) throw Error("'**': the result is a complex number");
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b))
    throw Error("'**': the result is too large");
  return result;
}

TemplateValue integers(const std::string& operation, std::int64_t a, std::int64_t b) {
  if (operation == "+") return checked(checked_add(a, b), operation);
  if (operation == "-") return checked(checked_sub(a, b), operation);
  if (operation == "*") return checked(checked_mul(a, b), operation);
  if (operation == "//") return floor_divide(a, b);
  if (operation == "%") return b == -1 ? 0 : a - floor_divide(a, b) * b;
  if (operation == "/") {
    if (b == 0) throw Error("division by zero");
    return static_cast<double>(a) / static_cast<double>(b);
  }
  if (b < 0) return power(static_cast<double>(a), static_cast<double>(b));
  std::optional<std::int64_t> result = 1;
  for (std::int64_t i = 0; i < b && result; ++i) {
    result = checked_mul(*result, a);
    if (a == 0 || a == 1 || (a == -1 && i % 2 == b % 2)) break;
  }
  return checked(result, operation);
}

TemplateValue reals(const std::string& operation, double a, double b) {
  if (operation == "+") return a + b;
  if (operation == "-") return a - b;
  if (operation == "*") return a * b;
  if (operation == "**") return power(a, b);
  if (b == 0) throw Error("division by zero");
  if (operation == "/") return a / b;
  if (operation == "//") return std::floor(a / b);
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

TemplateValue repeated(const TemplateValue& value, std::int64_t count) {
  count = std::max<std::int64_t>(count, 0);
  const auto size =
      static_cast<std::int64_t>(value.is_string() ? value.string().size() : value.list().size());
  const auto total = checked_mul(size, count);
  if (!total || *total > longest_repeat) throw Error("'*': the result is too large");
  if (size == 0) count = 0;
  if (value.is_string()) {
    std::string text;
    for (std::int64_t i = 0; i < count; ++i) text += value.string();
    return text;
  }
  TemplateValue::List list;
  for (std::int64_t i = 0; i < count; ++i) list.insert(list.end(), value.list().begin(), value.list().end());
  return list;
}

/// Where a slice starts, stops and steps, as Python's slice.indices.
struct SliceBounds {
  std::int64_t start, stop, step;
};
SliceBounds bounds_of(std::int64_t size, const TemplateValue& start, const TemplateValue& stop,
                      const TemplateValue& step) {
  const auto integer = [](const TemplateValue& value) {
    if (!value.is_integer() && !value.is_bool())
      throw Error(cat("a slice's bounds are whole numbers, not ", value.type_name()));
    return value.integer();
  };
  const std::int64_t pace = step.is_none() ? 1 : integer(step);
  if (pace == 0) throw Error("a slice's step is 0");
  const std::int64_t low = pace > 0 ? 0 : -1;
  const std::int64_t high = pace > 0 ? size : size - 1;
  const auto place = [&](const TemplateValue& value, std::int64_t otherwise) {
    if (value.is_none()) return otherwise;
    const std::int64_t number = integer(value);
    return std::clamp(number < 0 ? std::max(number, -size - 1) + size : number, low, high);
  };
  return {place(start, pace > 0 ? low : high), place(stop, pace > 0 ? high : low),
          std::clamp<std::int64_t>(pace, -size - 1, size + 1)};
}

}  // namespace

TemplateValue binary_operation(const std::string& operation, const TemplateValue& a, const TemplateValue& b) {
  if (a.is_number() && b.is_number())
    return a.is_real() || b.is_real() ? reals(operation, a.real(), b.real())
                                      : integers(operation, a.integer(), b.integer());
  if (operation == "+" && a.is_string() && b.is_string()) return a.string() + b.string();
  if (operation == "+" && a.is_list() && b.is_list()) {
    TemplateValue::List list = a.list();
    if (a.is_tuple() != b.is_tuple()) refuse_types(operation, a, b);
    list.insert(list.end(), b.list().begin(), b.list().end());
    return a.is_tuple() ? TemplateValue::tuple(std::move(list)) : TemplateValue(std::move(list));
  }
  if (operation == "*" && (a.is_string() || a.is_list()) && b.is_integer()) return repeated(a, b.integer());
  if (operation == "*" && (b.is_string() || b.is_list()) && a.is_integer()) return repeated(b, a.integer());
  if (operation == "%" && a.is_string()) return format_percent(a.string(), b);
  refuse_types(operation, a, b);
}

bool contains(const TemplateValue& container, const TemplateValue& element) {
  if (container.is_undefined()) return false;
  if (container.is_string()) {
    if (!element.is_string()) throw Error(cat("'in <string>' needs a string, not ", element.type_name()));
    return container.string().find(element.string()) != std::string::npos;
  }
  if (container.is_mapping()) return element.is_string() && container.find(element.string()) != nullptr;
  if (container.is_list())
    return std::find(container.list().begin(), container.list().end(), element) != container.list().end();
  throw Error(cat("'in' is not supported for a value of type ", container.type_name()));
}

TemplateValue item_of(const TemplateValue& value, const TemplateValue& key) {
  if (value.is_undefined()) throw Error(cat("'", value.undefined_name(), "' is not defined"));
  if (value.is_mapping() || value.is_namespace()) {
    const TemplateValue* found = key.is_string() ? value.find(key.string()) : nullptr;
    if (found != nullptr) return *found;
    return key.is_string() ? attribute_of(value, key.string()) : TemplateValue::undefined(key.text());
  }
  if ((value.is_list() || value.is_string()) && (key.is_integer() || key.is_bool())) {
    const auto elements = elements_of(value);
    const auto size = static_cast<std::int64_t>(elements->size());
    const std::int64_t index = key.integer() < 0 ? key.integer() + size : key.integer();
    if (index < 0 || index >= size) return TemplateValue::undefined(cat("item ", key.integer()));
    return (*elements)[static_cast<std::size_t>(index)];
  }
  return key.is_string() ? attribute_of(value, key.string()) : TemplateValue::undefined(key.text());
}

TemplateValue slice_of(const TemplateValue& value, const TemplateValue& start, const TemplateValue& stop,
                       const TemplateValue& step) {
  if (!value.is_list() && !value.is_string())
    throw Error(value.is_undefined() ? cat("'", value.undefined_name(), "' is not defined")
                                     : cat("a value of type ", value.type_name(), " cannot be sliced"));
  const auto elements = elements_of(value);
  const SliceBounds bounds = bounds_of(static_cast<std::int64_t>(elements->size()), start, stop, step);
  TemplateValue::List kept;
  for (std::int64_t i = bounds.start; bounds.step > 0 ? i < bounds.stop : i > bounds.stop; i += bounds.step)
    kept.push_back((*elements)[static_cast<std::size_t>(i)]);
  if (value.is_list())
    return value.is_tuple() ? TemplateValue::tuple(std::move(kept)) : TemplateValue(std::move(kept));
  std::string text;
  for (const TemplateValue& character : kept) text += character.string();
  return text;
}

}  // namespace luminal::io
