#pragma once
#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "luminal/frontend/tensor.h"
#include "luminal/io/model_file.h"

namespace luminal::io {

/// The name that a file uses for a parameter. The parameter's own name is its path with dots: the state
/// "layers/0/weight" of `nn::state_dict` is "layers.0.weight".
using NameMap = std::function<std::string(const std::string& path)>;

/// A map from patterns: the first whose left side is the whole path applies; a path that none matches stays
/// as it is. '*' stands for some text without dots and is copied in order: {"layers.*.attention.*.weight",
/// "blk.*.attn_*.weight"}. `Error` if the two sides have different numbers of stars.
NameMap renamed(std::vector<std::pair<std::string, std::string>> patterns);

/// Writes the arrays by name, atomically, as GGUF if the path ends in ".gguf" and as safetensors otherwise.
void save(const std::string& path, const std::map<std::string, Array>& tensors,
          const std::map<std::string, std::string>& metadata = {});

/// Every tensor of a file or folder (see `open_model`) by name; plain formats stay in the mapping until they
/// are read.
std::map<std::string, Array> load(const std::string& path);

struct SaveOptions {
  NameMap names;                                // empty: the parameters' own names
  std::map<std::string, std::string> metadata;  // text by key
};

/// The same for the values of inputs and states.
void save_tensors(const std::string& path, const std::map<std::string, Tensor>& parameters,
                  const SaveOptions& options, Location where);
/// `io::save("model.safetensors", nn::state_dict(model))`.
template <std::derived_from<Tensor> T>
void save(const std::string& path, const std::map<std::string, T>& parameters,
          const SaveOptions& options = {}, Location where = Location::current()) {
  save_tensors(path, {parameters.begin(), parameters.end()}, options, where);
}

struct LoadOptions {
  NameMap names;               // empty: the parameters' own names
  bool allow_missing = false;  // a parameter that the file does not have keeps its value
  bool allow_extra = false;    // tensors of the file that no parameter asks for are ignored
};

/// Gives inputs and states their values. Missing, extra, mis-shaped and unconvertible tensors are listed
/// together in one `Error`, and then nothing is set.
void load_into(const std::map<std::string, Tensor>& parameters, const ModelFile& file,
               const LoadOptions& options = {}, Location where = Location::current());
/// `io::load_into(nn::state_dict(model), io::open_model("model.safetensors"))`.
template <std::derived_from<Tensor> T>
void load_into(const std::map<std::string, T>& parameters, const ModelFile& file,
               const LoadOptions& options = {}, Location where = Location::current()) {
  load_into(std::map<std::string, Tensor>(parameters.begin(), parameters.end()), file, options, where);
}

}  // namespace luminal::io
