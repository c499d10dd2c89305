#include "luminal/io/model_file.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "luminal/io/gguf.h"
#include "luminal/io/mapped_file.h"
#include "luminal/io/safetensors.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

namespace fs = std::filesystem;

std::string file_of_folder(const fs::path& folder) {
  for (const char* usual : {"model.safetensors.index.json", "model.safetensors"})
    if (fs::exists(folder / usual)) return (folder / usual).string();
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors.index.json")) return entry.path().string();
    if (name.ends_with(".safetensors") || name.ends_with(".gguf")) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  if (found.size() == 1) return found.front();
  throw Error(
      cat("the folder ", luminal::in_quotes(folder.string()), " holds ",
          found.empty() ? "no model file" : cat("several model files (", join(found), ")"),
          ": expected model.safetensors.index.json, model.safetensors, or exactly one .safetensors or .gguf "
          "file"));
}

}  // namespace

Array StoredTensor::array() const {
  const FormatRow& stored = row(format);
  if (stored.dtype) {
    std::vector<std::int64_t> strides(dims.size(), 1);
    for (std::size_t axis = dims.size(); axis-- > 1;)
      strides[axis - 1] = dims[axis] == 0 ? 0 : strides[axis] * dims[axis];
    return Array::borrow(*stored.dtype, dims, strides, bytes.data(), [keep = owner] {});
  }
  Array result(DType::f32, dims);
  decode_blocks(format, bytes, reinterpret_cast<float*>(result.bytes()));
  return result;
}

const StoredTensor* ModelFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const StoredTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

ModelFile open_model(const std::string& path) {
  std::error_code failure;
  if (fs::is_directory(path, failure)) return open_model(file_of_folder(path));
  if (path.ends_with(".index.json")) return open_safetensors_index(path);
  const MappedFile file(path);
  if (is_gguf(file)) return model_of(open_gguf(file));
  return open_safetensors(file);
}

}  // namespace luminal::io
