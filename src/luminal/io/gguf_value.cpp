#include <cstring>

#include "luminal/io/byte_reader.h"
#include "luminal/io/gguf.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

template <typename To>
std::vector<To> numbers(const GgufArray& array) {
  std::vector<To> result;
  result.reserve(array.count);
  ByteReader in(array.bytes, "array");
  for (std::uint64_t i = 0; i < array.count; ++i) {
    const auto add = [&]<typename T>(T) { result.push_back(static_cast<To>(in.number<T>("an element"))); };
    switch (array.type) {
      case GgufType::u8:
      case GgufType::boolean:
        add(std::uint8_t{});
        break;
      case GgufType::i8:
        add(std::int8_t{});
        break;
      case GgufType::u16:
        add(std::uint16_t{});
        break;
      case GgufType::i16:
        add(std::int16_t{});
        break;
      case GgufType::u32:
        add(std::uint32_t{});
        break;
      case GgufType::i32:
        add(std::int32_t{});
        break;
      case GgufType::u64:
        add(std::uint64_t{});
        break;
      case GgufType::i64:
        add(std::int64_t{});
        break;
      case GgufType::f32:
        add(float{});
        break;
      case GgufType::f64:
        add(double{});
        break;
      default:
        throw Error(cat("a GGUF array of ", name(array.type), " holds no numbers"));
    }
  }
  return result;
}

[[noreturn]] void wrong_type(const Gguf& gguf, std::string_view key, const GgufValue& value,
                             std::string_view wanted) {
  throw Error(cat(gguf.file, ": the metadata key ", luminal::in_quotes(key), " is a ", name(value.type),
                  ": expected ", wanted));
}

}  // namespace

std::vector<std::string_view> GgufArray::texts() const {
  if (type != GgufType::text) throw Error(cat("a GGUF array of ", name(type), " holds no texts"));
  std::vector<std::string_view> result;
  result.reserve(count);
  ByteReader in(bytes, "array");
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto length = in.number<std::uint64_t>("a text's length");
    result.push_back(in.text(length, "a text"));
  }
  return result;
}

std::vector<std::int64_t> GgufArray::integers() const {
  if (type == GgufType::f32 || type == GgufType::f64)
    throw Error("a GGUF array of reals holds no whole numbers");
  return numbers<std::int64_t>(*this);
}

std::vector<double> GgufArray::reals() const {
  return numbers<double>(*this);
}

std::vector<GgufArray> GgufArray::arrays() const {
  if (type != GgufType::array) throw Error(cat("a GGUF array of ", name(type), " holds no arrays"));
  std::vector<GgufArray> result;
  ByteReader in(bytes, "array");
  for (std::uint64_t i = 0; i < count; ++i) result.push_back(read_gguf_array(in));
  return result;
}

const GgufValue* Gguf::find(std::string_view key) const {
  for (const auto& [name, value] : metadata)
    if (name == key) return &value;
  return nullptr;
}

std::optional<std::string_view> Gguf::text(std::string_view key) const {
  const GgufValue* found = find(key);
  if (found == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string_view>(&found->value);
  if (text == nullptr) wrong_type(*this, key, *found, "text");
  return *text;
}

std::optional<std::int64_t> Gguf::integer(std::string_view key) const {
  const GgufValue* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* natural = std::get_if<std::uint64_t>(&found->value); natural != nullptr) {
    if (*natural > static_cast<std::uint64_t>(INT64_MAX))
      wrong_type(*this, key, *found, "a number below 2^63");
    return static_cast<std::int64_t>(*natural);
  }
  const auto* integer = std::get_if<std::int64_t>(&found->value);
  if (integer == nullptr) wrong_type(*this, key, *found, "a whole number");
  return *integer;
}

std::optional<bool> Gguf::boolean(std::string_view key) const {
  const GgufValue* found = find(key);
  if (found == nullptr) return std::nullopt;
  const auto* flag = std::get_if<bool>(&found->value);
  if (flag == nullptr) wrong_type(*this, key, *found, "bool");
  return *flag;
}

const GgufArray* Gguf::array(std::string_view key, GgufType type) const {
  const GgufValue* found = find(key);
  if (found == nullptr) return nullptr;
  const auto* array = std::get_if<GgufArray>(&found->value);
  if (array == nullptr || array->type != type)
    wrong_type(*this, key, *found, cat("an array of ", name(type)));
  return array;
}

GgufNewValue GgufNewValue::of(const GgufValue& value) {
  return std::visit(
      [&](const auto& held) -> GgufNewValue {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string_view>)
          return {value.type, std::string(held)};
        else
          return {value.type, held};
      },
      value.value);
}

}  // namespace luminal::io
