#include "luminal/cli/quantize.h"

#include <filesystem>
#include <iostream>
#include <memory>

#include "luminal/cli/progress.h"
#include "luminal/io/gguf.h"
#include "luminal/io/quantise.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

struct QuantizeOptions {
  std::string input;
  std::string output;
  std::string type = "q4_k";
};

/// Matrices take the wanted format where their rows are whole blocks, else q8_0, else f16; vectors and
/// scalars stay exact.
io::Format format_for(const io::StoredTensor& tensor, io::Format wanted) {
  const auto dtype = io::row(tensor.format).dtype;
  if (dtype && !is_floating(*dtype)) return tensor.format;
  if (tensor.dims.size() < 2) return tensor.format == io::Format::f64 ? io::Format::f64 : io::Format::f32;
  for (const io::Format format : {wanted, io::Format::q8_0})
    if (tensor.dims.back() % io::row(format).block_elements == 0) return format;
  return io::Format::f16;
}

std::vector<std::pair<std::string, io::GgufNewValue>> metadata_for(const io::ModelFile& model) {
  std::vector<std::pair<std::string, io::GgufNewValue>> metadata;
  if (model.kind == io::FileKind::gguf) {
    const io::Gguf gguf = io::open_gguf(io::MappedFile(model.files.front()));
    for (const auto& [key, value] : gguf.metadata)
      if (key != "general.alignment") metadata.emplace_back(key, io::GgufNewValue::of(value));
  } else {
    metadata.emplace_back("general.architecture", io::GgufNewValue::of(std::string("unknown")));
    for (const auto& [key, value] : model.metadata)
      if (key != "general.architecture") metadata.emplace_back(key, io::GgufNewValue::of(value));
  }
  return metadata;
}

void quantize(const QuantizeOptions& options) {
  const auto wanted = io::format_named(options.type);
  if (!wanted || !io::can_encode(*wanted) || !io::row(*wanted).ggml)
    throw Error(cat("quantize: the type ", luminal::in_quotes(options.type),
                    " cannot be written: expected f32, f16, bf16, q8_0, q4_0, q4_k or q6_k"));
  if (!options.output.ends_with(".gguf"))
    throw Error(
        cat("quantize: the output ", luminal::in_quotes(options.output), " does not end in \".gguf\""));
  const io::ModelFile model = io::open_model(options.input);
  for (const std::string& file : model.files) {
    std::error_code failure;
    if (std::filesystem::equivalent(file, options.output, failure))
      throw Error(cat("quantize: the output ", luminal::in_quotes(options.output), " is the input ",
                      luminal::in_quotes(file)));
  }
  std::vector<io::GgufNewTensor> tensors;
  for (const io::StoredTensor& tensor : model.tensors) {
    const io::Format format = format_for(tensor, *wanted);
    tensors.push_back({tensor.name, format, tensor.dims, [&tensor, format] {
                         if (format == tensor.format)
                           return std::vector(tensor.bytes.begin(), tensor.bytes.end());
                         try {
                           return io::encode_tensor(format, tensor.array());
                         } catch (const Error& error) {
                           throw Error(
                               cat("tensor ", luminal::in_quotes(tensor.name), ": ", error.problem()));
                         }
                       }});
  }
  Progress progress("quantize", tensors.size());
  io::write_gguf(options.output, metadata_for(model), tensors,
                 [&](std::size_t i) { progress.show(i, tensors[i].name); });
  progress.show(tensors.size(), "");
}

}  // namespace

void add_quantize_command(CLI::App& app) {
  const auto options = std::make_shared<QuantizeOptions>();
  auto* command = app.add_subcommand("quantize", "Write a model as GGUF with its matrices in another format");
  command->add_option("IN", options->input, "A .safetensors or .gguf file, an index, or a folder of them")
      ->required();
  command->add_option("OUT", options->output, "The GGUF file to write")->required();
  command->add_option("--type", options->type, "f32, f16, bf16, q8_0, q4_0, q4_k (default) or q6_k");
  command->callback([options] { quantize(*options); });
}

}  // namespace luminal::cli
