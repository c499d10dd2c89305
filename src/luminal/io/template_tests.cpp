#include <map>
#include <set>

#include "luminal/io/template_syntax.h"
#include "luminal/io/template_text.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

using Value = TemplateValue;
using Arguments = TemplateArguments;
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

bool takes_operand(const std::string& name) {
  static const std::set<std::string, std::less<>> with = {
      "sameas", "eq", "equalto", "==", "ne", "!=",          "lt", "<",  "lessthan",
      "le",     "<=", "gt",      ">",  "ge", "greaterthan", ">=", "in", "divisibleby"};
  return with.contains(name);
}

const std::map<std::string, Test, std::less<>>& tests() {
  static constexpr Test equal = [](const Value& v, const Arguments& a) { return v == operand(a); };
  static constexpr Test different = [](const Value& v, const Arguments& a) { return !(v == operand(a)); };
  static constexpr Test less = [](const Value& v, const Arguments& a) { return order(v, a) < 0; };
  static constexpr Test greater = [](const Value& v, const Arguments& a) { return order(v, a) > 0; };
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
      {"==", equal},
      {"ne", different},
      {"!=", different},
      {"lt", less},
      {"<", less},
      {"lessthan", less},
      {"le", [](const Value& v, const Arguments& a) { return order(v, a) <= 0; }},
      {"<=", [](const Value& v, const Arguments& a) { return order(v, a) <= 0; }},
      {"gt", greater},
      {">", greater},
      {"greaterthan", greater},
      {"ge", [](const Value& v, const Arguments& a) { return order(v, a) >= 0; }},
      {">=", [](const Value& v, const Arguments& a) { return order(v, a) >= 0; }},
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

bool is_known_test(std::string_view name) {
  return tests().contains(name);
}
bool apply_test(const std::string& name, const TemplateValue& input, const TemplateArguments& arguments) {
  arguments.require(cat("the test '", name, "'"), takes_operand(name) ? "/other" : "");
  return tests().at(name)(input, arguments);
}

}  // namespace luminal::io
