#include <algorithm>
#include <vector>

#include "luminal/io/atomic_file.h"
#include "luminal/io/json.h"
#include "luminal/io/safetensors.h"
#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {

void write_safetensors(const std::string& path, const std::map<std::string, Array>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<const std::pair<const std::string, Array>*> order;
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) {
    return byte_size(a->second.dtype()) > byte_size(b->second.dtype());
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::int64_t offset = 0;
  for (const auto* tensor : order) {
    const auto& [name, array] = *tensor;
    if (name == "__metadata__") throw Error("safetensors: a tensor cannot be called \"__metadata__\"");
    const std::int64_t bytes = byte_count(array.dims(), static_cast<std::int64_t>(byte_size(array.dtype())));
    header[name] = {{"dtype", row(format_of(array.dtype())).safetensors},
                    {"shape", array.dims()},
                    {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception&) {
    throw Error(cat(path, ": a tensor name or metadata text is not UTF-8"));
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  write_atomically(path, [&](FileWriter& file) {
    const std::uint64_t length = text.size();
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(text);
    for (const auto* tensor : order) {
      const Array rows = tensor->second.contiguous();
      file.write({rows.bytes(), static_cast<std::size_t>(rows.size()) * byte_size(rows.dtype())});
    }
  });
}

}  // namespace luminal::io
