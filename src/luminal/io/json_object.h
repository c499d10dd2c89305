#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "luminal/io/json.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {

/// A JSON object that says where it stands when a field is not what it should be.
class JsonObject {
 public:
  JsonObject(const Json& value, std::string where) : value_(value), where_(std::move(where)) {
    if (!value.is_object()) throw Error(cat(where_, ": expected an object, got ", value.type_name()));
  }

  const std::string& where() const { return where_; }
  [[noreturn]] void refuse(const std::string& why) const { throw Error(cat(where_, ": ", why)); }
  /// Null counts as absent.
  const Json* find(const char* key) const {
    const auto found = value_.find(key);
    return found == value_.end() || found->is_null() ? nullptr : &*found;
  }
  const Json& at(const char* key) const {
    const Json* found = find(key);
    if (found == nullptr) refuse(cat(luminal::in_quotes(key), " is missing"));
    return *found;
  }
  std::string text(const char* key) const {
    return checked<std::string>(key, at(key), at(key).is_string(), "a text");
  }
  std::optional<std::string> optional_text(const char* key) const {
    return find(key) == nullptr ? std::nullopt : std::optional(text(key));
  }
  bool flag(const char* key, bool otherwise) const {
    const Json* found = find(key);
    return found == nullptr ? otherwise : checked<bool>(key, *found, found->is_boolean(), "true or false");
  }
  std::int64_t integer(const char* key) const {
    const bool fits =
        at(key).is_number_integer() &&
        (!at(key).is_number_unsigned() || at(key).get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
    return checked<std::int64_t>(key, at(key), fits, "a whole number");
  }
  const Json& array(const char* key) const {
    if (!at(key).is_array())
      refuse(cat(luminal::in_quotes(key), " is ", at(key).type_name(), ": expected a list"));
    return at(key);
  }
  JsonObject object(const char* key) const { return {at(key), cat(where_, ": ", key)}; }

 private:
  template <typename T>
  T checked(const char* key, const Json& value, bool fits, const char* expected) const {
    if (!fits) refuse(cat(luminal::in_quotes(key), " is ", value.type_name(), ": expected ", expected));
    return value.get<T>();
  }

  const Json& value_;
  std::string where_;
};

}  // namespace luminal::io
