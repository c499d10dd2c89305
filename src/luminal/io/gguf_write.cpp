#include "luminal/io/atomic_file.h"
#include "luminal/io/gguf.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

constexpr std::uint64_t alignment = 32;

template <typename T>
void put(FileWriter& out, T number) {
  out.write(std::as_bytes(std::span(&number, 1)));
}
void put_text(FileWriter& out, std::string_view text) {
  put<std::uint64_t>(out, text.size());
  out.write(text);
}
std::size_t padding(std::uint64_t size) {
  return static_cast<std::size_t>((alignment - size % alignment) % alignment);
}

/// A number in the width of its type; it came from a value of that type, so it fits.
template <typename T>
void put_number(FileWriter& out, GgufType type, T value) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
      return put(out, static_cast<std::uint8_t>(value));
    case GgufType::u16:
    case GgufType::i16:
      return put(out, static_cast<std::uint16_t>(value));
    case GgufType::u32:
    case GgufType::i32:
      return put(out, static_cast<std::uint32_t>(value));
    default:
      return put(out, static_cast<std::uint64_t>(value));
  }
}

void put_list(FileWriter& out, const GgufList& list) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&list); texts != nullptr) {
    put(out, static_cast<std::uint32_t>(GgufType::text));
    put<std::uint64_t>(out, texts->size());
    for (const std::string& text : *texts) put_text(out, text);
  } else if (const auto* integers = std::get_if<std::vector<std::int32_t>>(&list); integers != nullptr) {
    put(out, static_cast<std::uint32_t>(GgufType::i32));
    put<std::uint64_t>(out, integers->size());
    out.write(std::as_bytes(std::span(*integers)));
  } else {
    const auto& reals = std::get<std::vector<float>>(list);
    put(out, static_cast<std::uint32_t>(GgufType::f32));
    put<std::uint64_t>(out, reals.size());
    out.write(std::as_bytes(std::span(reals)));
  }
}

struct ValueWriter {
  FileWriter& out;
  GgufType type;

  void operator()(std::uint64_t value) const { put_number(out, type, value); }
  void operator()(std::int64_t value) const { put_number(out, type, value); }
  void operator()(double value) const {
    if (type == GgufType::f32)
      put(out, static_cast<float>(value));
    else
      put(out, value);
  }
  void operator()(bool value) const { put<std::uint8_t>(out, value ? 1 : 0); }
  void operator()(const std::string& value) const { put_text(out, value); }
  void operator()(const GgufList& list) const { put_list(out, list); }
  void operator()(const GgufArray& array) const {
    put(out, static_cast<std::uint32_t>(array.type));
    put(out, array.count);
    out.write(array.bytes);
  }
};

std::uint64_t put_tensor_header(FileWriter& out, const GgufNewTensor& tensor, std::uint64_t offset) {
  const FormatRow& stored = row(tensor.format);
  if (!stored.ggml)
    throw Error(cat("GGUF: tensor ", luminal::in_quotes(tensor.name), ": GGUF has no type for ", stored.name,
                    "; cast first"));
  if (tensor.dims.size() > 4)
    throw Error(cat("GGUF: tensor ", luminal::in_quotes(tensor.name), " has ", tensor.dims.size(),
                    " dims: at most 4 are possible"));
  const auto bytes = static_cast<std::uint64_t>(stored_bytes(tensor.format, tensor.dims));
  put_text(out, tensor.name);
  put(out, static_cast<std::uint32_t>(tensor.dims.size()));
  for (std::size_t axis = tensor.dims.size(); axis-- > 0;)
    put(out, static_cast<std::uint64_t>(tensor.dims[axis]));
  put(out, *stored.ggml);
  put(out, offset);
  return bytes;
}

}  // namespace

void write_gguf(const std::string& path, const std::vector<std::pair<std::string, GgufNewValue>>& metadata,
                const std::vector<GgufNewTensor>& tensors, const std::function<void(std::size_t)>& progress) {
  write_atomically(path, [&](FileWriter& out) {
    out.write("GGUF");
    put<std::uint32_t>(out, 3);
    put<std::uint64_t>(out, tensors.size());
    put<std::uint64_t>(out, metadata.size());
    for (const auto& [key, value] : metadata) {
      put_text(out, key);
      put(out, static_cast<std::uint32_t>(value.type));
      std::visit(ValueWriter{out, value.type}, value.value);
    }
    std::uint64_t offset = 0;
    for (const GgufNewTensor& tensor : tensors) {
      offset += put_tensor_header(out, tensor, offset);
      offset += padding(offset);
    }
    out.zeros(padding(out.position()));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (progress) progress(i);
      const std::vector<std::byte> bytes = tensors[i].bytes();
      if (static_cast<std::int64_t>(bytes.size()) != stored_bytes(tensors[i].format, tensors[i].dims))
        throw InternalError(cat("tensor ", tensors[i].name, " gave ", bytes.size(), " bytes"));
      out.write(bytes);
      out.zeros(padding(out.position()));
    }
  });
}

}  // namespace luminal::io
