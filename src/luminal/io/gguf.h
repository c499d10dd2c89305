#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "luminal/io/mapped_file.h"
#include "luminal/io/model_file.h"

namespace luminal::io {

/// The types of GGUF's metadata, with their numbers in the file.
enum class GgufType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };

std::string_view name(GgufType type);

/// An array as it lies in the file, checked when the file was opened.
struct GgufArray {
  GgufType type = GgufType::u8;
  std::uint64_t count = 0;
  std::span<const std::byte> bytes;

  /// The elements of an array of texts; they point into the file.
  std::vector<std::string_view> texts() const;
  std::vector<std::int64_t> integers() const;
  std::vector<double> reals() const;
  std::vector<GgufArray> arrays() const;
};

/// One value of the metadata. Texts and arrays point into the file.
struct GgufValue {
  GgufType type = GgufType::u8;
  std::variant<std::uint64_t, std::int64_t, double, bool, std::string_view, GgufArray> value;
};

/// A GGUF file, version 2 or 3, little-endian. Shapes are row-major: the file's own order reversed.
struct Gguf {
  std::string file;
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;
  std::vector<std::pair<std::string, GgufValue>> metadata;  // in the file's order
  std::vector<StoredTensor> tensors;
  std::shared_ptr<const void> owner;

  const GgufValue* find(std::string_view key) const;
  /// The value of a key, nothing if the key is absent, `Error` if it has another type.
  std::optional<std::string_view> text(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  const GgufArray* array(std::string_view key, GgufType type) const;
};

bool is_gguf(const MappedFile& file);
Gguf open_gguf(const MappedFile& file);
/// The same for bytes in memory, which must outlive the result.
Gguf read_gguf(std::span<const std::byte> bytes, const std::string& file);
ModelFile model_of(const Gguf& gguf);

/// A value to be written: as in `GgufValue`, or a list of texts or numbers.
using GgufList = std::variant<std::vector<std::string>, std::vector<std::int32_t>, std::vector<float>>;
struct GgufNewValue {
  GgufType type = GgufType::u32;
  std::variant<std::uint64_t, std::int64_t, double, bool, std::string, GgufList, GgufArray> value;

  static GgufNewValue of(std::string text) { return {GgufType::text, std::move(text)}; }
  static GgufNewValue of(std::uint32_t number) { return {GgufType::u32, std::uint64_t{number}}; }
  static GgufNewValue of(GgufList list) { return {GgufType::array, std::move(list)}; }
  static GgufNewValue of(const GgufValue& value);
};

/// A tensor to be written; `bytes` is called when its turn comes, so that only one is in memory at a time.
struct GgufNewTensor {
  std::string name;
  Format format = Format::f32;
  std::vector<std::int64_t> dims;
  std::function<std::vector<std::byte>()> bytes;
};

/// Writes version 3, atomically. `progress`, if given, is called before each tensor with its number.
void write_gguf(const std::string& path, const std::vector<std::pair<std::string, GgufNewValue>>& metadata,
                const std::vector<GgufNewTensor>& tensors,
                const std::function<void(std::size_t)>& progress = {});

}  // namespace luminal::io
