#pragma once
#include <map>
#include <string>

#include "luminal/graph/array.h"
#include "luminal/io/mapped_file.h"
#include "luminal/io/model_file.h"

namespace luminal::io {

/// Reads the header; the tensors stay in the mapping. `Error` unless the tensors cover the data exactly: no
/// overlap, no hole, nothing left over.
ModelFile open_safetensors(const MappedFile& file);

/// The same for a header and data in memory, which must outlive the result.
ModelFile read_safetensors(std::span<const std::byte> bytes, const std::string& file);

/// A model in shards: `model.safetensors.index.json`. A shard is a file name in the index's own folder; what
/// the name leads to there (a symbolic link, as in download caches) is the user's matter.
ModelFile open_safetensors_index(const std::string& path);

/// Writes atomically (see `write_atomically`), largest elements first and then by name, as the reference
/// does.
void write_safetensors(const std::string& path, const std::map<std::string, Array>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace luminal::io
