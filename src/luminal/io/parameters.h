#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "luminal/frontend/tensor.h"
#include "luminal/io/model_file.h"

namespace luminal::io {

/// The name that a file uses for a parameter path.
using NameMap = std::function<std::string(const std::string& path)>;

/// A map from patterns: the first whose left side is the whole path applies; a path that none matches stays
/// as it is. '*' stands for one part between dots and is copied in order: {"layers.*.attention.q.weight",
/// "blk.*.attn_q.weight"}. `Error` if the two sides have different numbers of stars.
NameMap renamed(std::vector<std::pair<std::string, std::string>> patterns);

/// Writes the arrays by name, atomically, as GGUF if the path ends in ".gguf" and as safetensors otherwise.
void save(const std::string& path, const std::map<std::string, Array>& tensors,
          const std::map<std::string, std::string>& metadata = {});

/// Every tensor of a file or folder (see `open_model`) by name; plain formats stay in the mapping until they
/// are read.
std::map<std::string, Array> load(const std::string& path);

struct LoadOptions {
  NameMap names;               // empty: the same names
  bool allow_missing = false;  // a parameter that the file does not have keeps its value
  bool allow_extra = false;    // tensors of the file that no parameter asks for are ignored
};

/// Gives inputs and states their values. Missing, extra, mis-shaped and unconvertible tensors are listed
/// together in one `Error`, and then nothing is set.
void load_into(const std::map<std::string, Tensor>& parameters, const ModelFile& file,
               const LoadOptions& options = {}, Location where = Location::current());

}  // namespace luminal::io
