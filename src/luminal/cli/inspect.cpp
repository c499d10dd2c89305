#include "luminal/cli/inspect.h"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "luminal/io/gguf.h"
#include "luminal/io/model_file.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InspectOptions {
  std::string path;
  bool json = false;
};

constexpr std::uint64_t longest_array = 16;  // longer ones are told by type and length

Json json_of(const io::GgufArray& array) {
  if (array.count > longest_array) return {{"type", io::name(array.type)}, {"length", array.count}};
  Json list = Json::array();
  if (array.type == io::GgufType::text)
    for (const auto text : array.texts()) list.push_back(io::to_valid_utf8(text));
  else if (array.type == io::GgufType::array)
    for (const auto& inner : array.arrays()) list.push_back(json_of(inner));
  else if (array.type == io::GgufType::f32 || array.type == io::GgufType::f64)
    list = array.reals();
  else
    list = array.integers();
  return list;
}

Json json_of(const io::GgufValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string_view>)
          return io::to_valid_utf8(held);
        else if constexpr (std::is_same_v<Held, io::GgufArray>)
          return json_of(held);
        else
          return held;
      },
      value.value);
}

Json metadata_of(const io::ModelFile& model) {
  Json metadata = Json::object();
  if (model.kind == io::FileKind::safetensors) {
    for (const auto& [key, value] : model.metadata) metadata[key] = value;
  } else {
    const io::Gguf gguf = io::open_gguf(io::MappedFile(model.files.front()));
    for (const auto& [key, value] : gguf.metadata) metadata[key] = json_of(value);
  }
  return metadata;
}

Json describe(const io::ModelFile& model) {
  Json tensors = Json::array();
  for (const io::StoredTensor& tensor : model.tensors)
    tensors.push_back({{"name", tensor.name},
                       {"type", io::name(tensor.format)},
                       {"shape", tensor.dims},
                       {"bytes", tensor.bytes.size()},
                       {"file", model.files[tensor.shard]}});
  return {{"kind", model.kind == io::FileKind::gguf ? "gguf" : "safetensors"},
          {"files", model.files},
          {"metadata", metadata_of(model)},
          {"tensors", std::move(tensors)}};
}

void print_table(const io::ModelFile& model) {
  std::cout << (model.kind == io::FileKind::gguf ? "GGUF" : "safetensors") << ": " << join(model.files)
            << '\n';
  const Json metadata = metadata_of(model);
  for (const auto& [key, value] : metadata.items()) {
    std::string text = value.dump();
    if (text.size() > 100) text = io::to_valid_utf8(text.substr(0, 97)) + "...";
    std::cout << "  " << key << " = " << text << '\n';
  }
  std::size_t bytes = 0;
  std::int64_t elements = 0;
  for (const io::StoredTensor& tensor : model.tensors) {
    std::cout << tensor.name << ' ' << io::name(tensor.format) << " [" << join(tensor.dims) << "] "
              << tensor.bytes.size() << " bytes\n";
    bytes += tensor.bytes.size();
    elements += static_cast<std::int64_t>(tensor.bytes.size()) / io::row(tensor.format).block_bytes *
                io::row(tensor.format).block_elements;
  }
  std::cout << model.tensors.size() << " tensors, " << elements << " elements, " << bytes << " bytes\n";
}

void inspect(const InspectOptions& options) {
  const io::ModelFile model = io::open_model(options.path);
  if (options.json)
    std::cout << describe(model).dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
  else
    print_table(model);
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  const auto options = std::make_shared<InspectOptions>();
  auto* command = app.add_subcommand("inspect", "List the tensors and metadata of a model file");
  command->add_option("PATH", options->path, "A .safetensors or .gguf file, an index, or a folder of them")
      ->required();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options] { inspect(*options); });
}

}  // namespace luminal::cli
