#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/graph/array.h"
#include "luminal/io/format.h"

namespace luminal::io {

/// A tensor as it lies in a mapped file: nothing is read before it is used.
struct StoredTensor {
  std::string name;
  Format format = Format::f32;
  std::vector<std::int64_t> dims;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // keeps `bytes` mapped
  std::uint32_t shard = 0;            // index into ModelFile::files

  /// Plain formats: the mapped bytes themselves, borrowed. Block formats: decoded to f32.
  Array array() const;
};

enum class FileKind : std::uint8_t { safetensors, gguf };

/// The tensors of a model, whatever the file. Names are unique.
struct ModelFile {
  FileKind kind = FileKind::safetensors;
  std::vector<std::string> files;
  std::vector<StoredTensor> tensors;
  std::map<std::string, std::string> metadata;  // of safetensors; see `Gguf` for that of GGUF

  const StoredTensor* find(std::string_view name) const;
};

/// Opens a .safetensors or GGUF file (told apart by content), a safetensors index, or a folder that holds
/// model.safetensors.index.json, model.safetensors, or exactly one file of either kind. `Error` names the
/// file, what is wrong, where, and what was expected.
ModelFile open_model(const std::string& path);

}  // namespace luminal::io
