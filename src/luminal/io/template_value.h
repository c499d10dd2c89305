#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace luminal::io {

class TemplateValue;
struct TemplateArguments;

/// Counts values whose nesting could overflow the stack when they are printed or freed: deeper is an `Error`.
inline constexpr int deepest_value = 100;

/// A value of a template: what Python's types are to Jinja. Lists and mappings are shared and never change; a
/// namespace does.
class TemplateValue {
 public:
  struct Undefined {
    std::string name;
  };
  using List = std::vector<TemplateValue>;
  using Mapping = std::vector<std::pair<std::string, TemplateValue>>;  // in order of insertion
  using Function = std::function<TemplateValue(const TemplateArguments&)>;
  struct Namespace {
    Mapping fields;
  };

  TemplateValue() : value_(nullptr) {}  // none
  TemplateValue(bool value) : value_(value) {}
  TemplateValue(int value) : value_(std::int64_t{value}) {}
  TemplateValue(std::int64_t value) : value_(value) {}
  TemplateValue(double value) : value_(value) {}
  TemplateValue(std::string value) : value_(std::make_shared<const std::string>(std::move(value))) {}
  TemplateValue(std::string_view value) : TemplateValue(std::string(value)) {}
  TemplateValue(const char* value) : TemplateValue(std::string(value)) {}
  TemplateValue(List value);
  TemplateValue(Mapping value);
  TemplateValue(Function value) : value_(std::make_shared<const Function>(std::move(value))) {}
  /// A list that Python would print in parentheses.
  static TemplateValue tuple(List value);
  static TemplateValue undefined(std::string name);
  static TemplateValue make_namespace(Mapping fields);
  /// `Error` for bad JSON, and for whole numbers beyond 64 bits.
  static TemplateValue from_json(std::string_view text);

  bool is_undefined() const { return std::holds_alternative<Undefined>(value_); }
  bool is_none() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_real() const { return std::holds_alternative<double>(value_); }
  bool is_number() const { return is_bool() || is_integer() || is_real(); }
  bool is_string() const { return std::holds_alternative<std::shared_ptr<const std::string>>(value_); }
  bool is_list() const { return std::holds_alternative<std::shared_ptr<const List>>(value_); }
  bool is_tuple() const { return tuple_; }
  bool is_mapping() const { return std::holds_alternative<std::shared_ptr<const Mapping>>(value_); }
  bool is_namespace() const { return std::holds_alternative<std::shared_ptr<Namespace>>(value_); }
  bool is_function() const { return std::holds_alternative<std::shared_ptr<const Function>>(value_); }

  /// Bools count as 0 and 1. The other accessors need the type that they name.
  std::int64_t integer() const;
  double real() const;
  const std::string& string() const { return *std::get<std::shared_ptr<const std::string>>(value_); }
  const List& list() const { return *std::get<std::shared_ptr<const List>>(value_); }
  const Mapping& mapping() const { return *std::get<std::shared_ptr<const Mapping>>(value_); }
  Namespace& name_space() const { return *std::get<std::shared_ptr<Namespace>>(value_); }
  const Function& function() const { return *std::get<std::shared_ptr<const Function>>(value_); }
  const std::string& undefined_name() const { return std::get<Undefined>(value_).name; }

  bool truthy() const;
  /// Python's name of the type.
  const char* type_name() const;
  /// As printed by `{{ value }}`, and as Python's repr.
  std::string text() const;
  std::string repr() const;
  int depth() const { return depth_; }
  /// The value of a mapping's or namespace's key.
  const TemplateValue* find(std::string_view key) const;
  friend bool operator==(const TemplateValue& a, const TemplateValue& b);

 private:
  std::variant<Undefined, std::nullptr_t, bool, std::int64_t, double, std::shared_ptr<const std::string>,
               std::shared_ptr<const List>, std::shared_ptr<const Mapping>, std::shared_ptr<Namespace>,
               std::shared_ptr<const Function>>
      value_;
  int depth_ = 0;
  bool tuple_ = false;
};

/// What a function, filter or test is called with.
struct TemplateArguments {
  std::vector<TemplateValue> positional;
  TemplateValue::Mapping named;

  /// The argument at this place or of this name.
  const TemplateValue* find(std::size_t place, std::string_view name) const;
  TemplateValue get(std::size_t place, std::string_view name, const TemplateValue& otherwise) const;
  /// `Error` that names what was called and the argument, unless each is one of `names`: those of the places,
  /// in order, with blanks between. After a "/" names are for places only; "*" takes all.
  void require(std::string_view called, std::string_view names) const;
};

/// −1, 0 or 1; nullopt if they cannot be ordered.
std::optional<int> compare_values(const TemplateValue& a, const TemplateValue& b);
/// The elements that a loop sees: of a list, a mapping's keys, a string's characters. nullopt if there are
/// none to see.
std::optional<TemplateValue::List> elements_of(const TemplateValue& value);
struct JsonStyle {
  int indent = -1;  // less than 0: one line
  bool ascii = false;
  bool sorted = false;
  std::string comma = ", ";
  std::string colon = ": ";
};
/// As Python's json.dumps with ensure_ascii, indent, sort_keys and separators.
std::string to_json(const TemplateValue& value, const JsonStyle& style = {});

}  // namespace luminal::io
