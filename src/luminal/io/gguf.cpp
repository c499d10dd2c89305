#include "luminal/io/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <set>

#include "luminal/io/byte_reader.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF and safetensors are read where they lie");

constexpr std::string_view magic = "GGUF";
constexpr int deepest_array = 4;
constexpr std::uint32_t most_dims = 4;

struct TypeRow {
  std::string_view name;
  std::size_t bytes;  // 0: variable
};
constexpr std::array<TypeRow, 13> types = {{{"u8", 1},
                                            {"i8", 1},
                                            {"u16", 2},
                                            {"i16", 2},
                                            {"u32", 4},
                                            {"i32", 4},
                                            {"f32", 4},
                                            {"bool", 1},
                                            {"text", 0},
                                            {"array", 0},
                                            {"u64", 8},
                                            {"i64", 8},
                                            {"f64", 8}}};

GgufType read_type(ByteReader& in) {
  const auto number = in.number<std::uint32_t>("a value's type");
  if (number >= types.size()) in.refuse(cat("value type ", number, " is unknown: expected 0 to 12"));
  return static_cast<GgufType>(number);
}

std::string_view read_text(ByteReader& in, const char* what) {
  const auto length = in.number<std::uint64_t>(what);
  return in.text(length, what);
}

/// Steps over an array's elements, checking each, and returns where they lie.
GgufArray read_array(ByteReader& in, int depth) {
  if (depth > deepest_array) in.refuse(cat("arrays nested deeper than ", deepest_array, " are refused"));
  GgufArray array;
  array.type = read_type(in);
  array.count = in.number<std::uint64_t>("an array's length");
  const std::size_t start = in.position();
  const std::size_t width = types[static_cast<std::size_t>(array.type)].bytes;
  // The least an element takes: a text has a length of 8 bytes, an array a type and a length.
  const std::size_t least = width > 0 ? width : array.type == GgufType::text ? 8 : 12;
  if (array.count > in.left() / least)
    in.refuse(cat("an array of ", array.count, " values of type ", name(array.type), " does not fit in the ",
                  in.left(), " bytes that are left"));
  if (width > 0) {
    const auto bytes = in.bytes(array.count * width, "an array");
    if (array.type == GgufType::boolean &&
        std::any_of(bytes.begin(), bytes.end(), [](auto b) { return b > std::byte{1}; }))
      in.refuse("a bool in an array is neither 0 nor 1");
  } else {
    for (std::uint64_t i = 0; i < array.count; ++i) {
      if (array.type == GgufType::text)
        read_text(in, "a text in an array");
      else
        read_array(in, depth + 1);
    }
  }
  array.bytes = in.since(start);
  return array;
}

GgufValue read_value(ByteReader& in) {
  const GgufType type = read_type(in);
  switch (type) {
    case GgufType::u8:
      return {type, std::uint64_t{in.number<std::uint8_t>("a value")}};
    case GgufType::u16:
      return {type, std::uint64_t{in.number<std::uint16_t>("a value")}};
    case GgufType::u32:
      return {type, std::uint64_t{in.number<std::uint32_t>("a value")}};
    case GgufType::u64:
      return {type, in.number<std::uint64_t>("a value")};
    case GgufType::i8:
      return {type, std::int64_t{in.number<std::int8_t>("a value")}};
    case GgufType::i16:
      return {type, std::int64_t{in.number<std::int16_t>("a value")}};
    case GgufType::i32:
      return {type, std::int64_t{in.number<std::int32_t>("a value")}};
    case GgufType::i64:
      return {type, in.number<std::int64_t>("a value")};
    case GgufType::f32:
      return {type, double{in.number<float>("a value")}};
    case GgufType::f64:
      return {type, in.number<double>("a value")};
    case GgufType::boolean: {
      const auto byte = in.number<std::uint8_t>("a bool");
      if (byte > 1) in.refuse(cat("a bool is ", int{byte}, ": expected 0 or 1"));
      return {type, byte == 1};
    }
    case GgufType::text:
      return {type, read_text(in, "a text")};
    case GgufType::array:
      return {type, read_array(in, 1)};
  }
  throw InternalError("a GGUF type without a reader");
}

std::string read_name(ByteReader& in, const char* what) {
  const std::string_view text = read_text(in, what);
  if (text.empty() || text.size() > 65535)
    in.refuse(cat(what, " has ", text.size(), " bytes: expected 1 to 65535"));
  if (!is_utf8(text)) in.refuse(cat(what, " is not UTF-8"));
  return std::string(text);
}

struct Placed {
  StoredTensor tensor;
  std::uint64_t offset = 0;
};

Placed read_tensor(ByteReader& in) {
  Placed result;
  StoredTensor& tensor = result.tensor;
  tensor.name = read_name(in, "a tensor's name");
  const auto rank = in.number<std::uint32_t>("a tensor's rank");
  if (rank > most_dims)
    in.refuse(cat("tensor ", luminal::in_quotes(tensor.name), " has ", rank, " dims: expected at most 4"));
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    const auto dim = in.number<std::uint64_t>("a tensor's dim");
    if (dim > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      in.refuse(cat("tensor ", luminal::in_quotes(tensor.name), ": the dim ", dim, " exceeds 2^63 - 1"));
    tensor.dims.insert(tensor.dims.begin(), static_cast<std::int64_t>(dim));
  }
  const auto type = in.number<std::uint32_t>("a tensor's type");
  const auto format = format_of_ggml(type);
  if (!format)
    in.refuse(
        cat("tensor ", luminal::in_quotes(tensor.name), " has the type ", type, ", which is not supported"));
  tensor.format = *format;
  result.offset = in.number<std::uint64_t>("a tensor's offset");
  return result;
}

std::uint64_t read_alignment(const Gguf& gguf) {
  const GgufValue* value = gguf.find("general.alignment");
  if (value == nullptr) return 32;
  const auto* number = std::get_if<std::uint64_t>(&value->value);
  if (number == nullptr || value->type != GgufType::u32)
    throw Error(cat(gguf.file, ": general.alignment is a ", name(value->type), ": expected u32"));
  if (!std::has_single_bit(*number) || *number > (1U << 20U))
    throw Error(cat(gguf.file, ": general.alignment is ", *number, ": expected a power of two up to 2^20"));
  return *number;
}

/// Gives the tensors their bytes. As ggml does, the data has no holes but the padding to the alignment.
void place_tensors(Gguf& gguf, std::vector<Placed>& placed, std::span<const std::byte> bytes,
                   std::size_t header) {
  const auto padded = [&](std::uint64_t size) {
    return (size + gguf.alignment - 1) / gguf.alignment * gguf.alignment;
  };
  const std::uint64_t start = padded(header);
  const auto data = bytes.subspan(std::min<std::size_t>(start, bytes.size()));
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
  std::uint64_t expected = 0;
  for (Placed& entry : placed) {
    StoredTensor& tensor = entry.tensor;
    const std::string where = cat(gguf.file, ": tensor ", luminal::in_quotes(tensor.name), ": ");
    std::int64_t size = 0;
    try {
      size = stored_bytes(tensor.format, tensor.dims);
    } catch (const Error& error) {
      throw Error(cat(where, error.problem()));
    }
    if (entry.offset != expected)
      throw Error(cat(where, "it begins at byte ", entry.offset, " of the data: expected ", expected,
                      ", right after the tensor before it and aligned to ", gguf.alignment));
    if (entry.offset > data.size() || static_cast<std::uint64_t>(size) > data.size() - entry.offset)
      throw Error(cat(where, name(tensor.format), " of shape [", join(tensor.dims), "] needs ", size,
                      " bytes at ", entry.offset, ", but the file has ", data.size(), " bytes of data"));
    tensor.bytes = data.subspan(entry.offset, static_cast<std::size_t>(size));
    expected = padded(entry.offset + static_cast<std::uint64_t>(size));
    gguf.tensors.push_back(std::move(tensor));
  }
  if (data.size() > expected)
    throw Error(
        cat(gguf.file, ": ", data.size() - expected, " bytes at the end of the file belong to no tensor"));
}

}  // namespace

GgufArray read_gguf_array(ByteReader& in) {
  return read_array(in, 1);
}

std::string_view name(GgufType type) {
  return types.at(static_cast<std::size_t>(type)).name;
}

bool is_gguf(const MappedFile& file) {
  return file.text().starts_with(magic);
}

Gguf read_gguf(std::span<const std::byte> bytes, const std::string& file) {
  Gguf gguf;
  gguf.file = file;
  ByteReader in(bytes, file);
  if (in.text(4, "the magic") != magic) in.refuse("it does not begin with 'GGUF'");
  gguf.version = in.number<std::uint32_t>("the version");
  if (gguf.version == 0x02000000U || gguf.version == 0x03000000U)
    in.refuse("big-endian GGUF is not supported");
  if (gguf.version != 2 && gguf.version != 3)
    in.refuse(cat("GGUF version ", gguf.version, " is not supported: expected 2 or 3"));
  const auto tensor_count = in.number<std::uint64_t>("the number of tensors");
  const auto value_count = in.number<std::uint64_t>("the number of metadata values");
  if (value_count > in.left() / 13)  // a key, a type and a value take at least that
    in.refuse(cat(value_count, " metadata values do not fit in ", in.left(), " bytes"));
  std::set<std::string_view> keys;
  for (std::uint64_t i = 0; i < value_count; ++i) {
    std::string key = read_name(in, "a metadata key");
    GgufValue value = read_value(in);
    gguf.metadata.emplace_back(std::move(key), value);
  }
  for (const auto& [key, value] : gguf.metadata)
    if (!keys.insert(key).second)
      throw Error(cat(file, ": the metadata key ", luminal::in_quotes(key), " stands twice"));
  if (tensor_count > in.left() / 25)  // a name, a rank, a type and an offset take at least that
    in.refuse(cat(tensor_count, " tensors do not fit in ", in.left(), " bytes"));
  gguf.alignment = read_alignment(gguf);
  std::vector<Placed> placed;
  placed.reserve(std::min<std::uint64_t>(tensor_count, 4096));
  for (std::uint64_t i = 0; i < tensor_count; ++i) placed.push_back(read_tensor(in));
  std::set<std::string_view> names;
  for (const Placed& entry : placed)
    if (!names.insert(entry.tensor.name).second)
      throw Error(cat(file, ": the tensor ", luminal::in_quotes(entry.tensor.name), " stands twice"));
  place_tensors(gguf, placed, bytes, in.position());
  return gguf;
}

Gguf open_gguf(const MappedFile& file) {
  Gguf gguf = read_gguf(file.bytes(), file.path());
  gguf.owner = file.owner();
  for (StoredTensor& tensor : gguf.tensors) tensor.owner = file.owner();
  return gguf;
}

ModelFile model_of(const Gguf& gguf) {
  return {FileKind::gguf, {gguf.file}, gguf.tensors, {}};
}

}  // namespace luminal::io
