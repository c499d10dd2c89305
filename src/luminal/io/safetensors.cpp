#include "luminal/io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "luminal/io/json.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

constexpr std::size_t largest_header = 100'000'000;  // the reference's bound

struct HeaderEntry {
  std::string name;
  std::optional<Format> format;
  std::optional<std::vector<std::int64_t>> dims;
  std::vector<std::uint64_t> offsets;
};

/// Reads the header without building it: {"name": {"dtype": …, "shape": […], "data_offsets": [begin, end]},
/// "__metadata__": {text: text}}.
class HeaderReader : public JsonHandler {
 public:
  explicit HeaderReader(const std::string& file_name)
      : JsonHandler(file_name, {.depth = 3, .values = std::numeric_limits<std::size_t>::max()}) {}

  std::vector<HeaderEntry> entries;
  std::map<std::string, std::string> metadata;

  bool start_object(std::size_t) override {
    if (depth() == 1 && !in_metadata_) entries.push_back({name_, {}, {}, {}});
    if (depth() == 2) refuse("an object stands where a value was expected");
    return enter();
  }
  bool end_object() override {
    if (depth() == 2 && !in_metadata_) finish(entries.back());
    return leave();
  }
  bool start_array(std::size_t) override {
    if (depth() != 2 || in_metadata_ || (field_ != "shape" && field_ != "data_offsets"))
      refuse("a list stands where none was expected");
    if (field_ == "shape") {
      if (entries.back().dims) refuse("\"shape\" stands twice");
      entries.back().dims.emplace();
    } else if (!entries.back().offsets.empty()) {
      refuse("\"data_offsets\" stands twice");
    }
    return enter();
  }
  bool key(string_t& key) override {
    if (depth() == 1) {
      name_ = key;
      in_metadata_ = key == "__metadata__";
    } else {
      field_ = key;
      if (!in_metadata_ && key != "dtype" && key != "shape" && key != "data_offsets")
        refuse(
            cat("the key ", luminal::in_quotes(key), " is unknown: expected dtype, shape and data_offsets"));
    }
    return true;
  }
  bool string(string_t& text) override {
    if (depth() == 2 && in_metadata_) {
      if (!metadata.emplace(field_, text).second)
        refuse(cat("the key ", luminal::in_quotes(field_), " stands twice"));
      return true;
    }
    if (depth() != 2 || field_ != "dtype")
      refuse(cat("the text ", luminal::in_quotes(text), " was not expected"));
    if (entries.back().format) refuse("\"dtype\" stands twice");
    entries.back().format = format_of_safetensors(text);
    if (!entries.back().format) refuse(cat("the dtype ", luminal::in_quotes(text), " is not supported"));
    return true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (depth() != 3) refuse(cat("the number ", number, " was not expected"));
    if (number > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      refuse(cat("the number ", number, " exceeds 2^63 - 1"));
    if (field_ == "shape")
      entries.back().dims->push_back(static_cast<std::int64_t>(number));
    else
      entries.back().offsets.push_back(number);
    return true;
  }
  bool number_integer(number_integer_t number) override {
    return refuse(cat("the number ", number, " is negative"));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return refuse(cat("the number ", text, " is not a whole number below 2^63"));
  }
  bool null() override { return refuse("null was not expected"); }
  bool boolean(bool) override { return refuse("a bool was not expected"); }

 private:
  bool refuse(const std::string& why) const {
    throw Error(cat(file(), ": safetensors header: ",
                    depth() > 0 ? cat("at ", luminal::in_quotes(name_), ": ") : "", why));
  }
  void finish(const HeaderEntry& entry) const {
    if (!entry.format) refuse("\"dtype\" is missing");
    if (!entry.dims) refuse("\"shape\" is missing");
    if (entry.offsets.size() != 2)
      refuse(cat("\"data_offsets\" has ", entry.offsets.size(), " numbers, not 2"));
  }

  std::string name_;
  std::string field_;
  bool in_metadata_ = false;
};

StoredTensor place(HeaderEntry& entry, std::span<const std::byte> data, const std::string& file) {
  const std::uint64_t begin = entry.offsets[0];
  const std::uint64_t end = entry.offsets[1];
  const std::string where = cat(file, ": tensor ", luminal::in_quotes(entry.name), ": ");
  if (begin > end || end > data.size())
    throw Error(
        cat(where, "data_offsets [", begin, ", ", end, "] are outside the ", data.size(), " bytes of data"));
  std::int64_t expected = 0;
  try {
    expected = stored_bytes(*entry.format, *entry.dims);
  } catch (const Error& error) {
    throw Error(cat(where, error.problem()));
  }
  if (end - begin != static_cast<std::uint64_t>(expected))
    throw Error(cat(where, name(*entry.format), " of shape [", join(*entry.dims), "] needs ", expected,
                    " bytes, data_offsets give ", end - begin));
  return {std::move(entry.name),
          *entry.format,
          std::move(*entry.dims),
          data.subspan(begin, end - begin),
          nullptr,
          0};
}

/// `Error` for a name given twice, for overlaps and for bytes that belong to no tensor.
void require_exact_cover(const std::vector<StoredTensor>& tensors, std::span<const std::byte> data,
                         const std::string& file) {
  std::vector<const StoredTensor*> order;
  order.reserve(tensors.size());
  for (const StoredTensor& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->name < b->name; });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (order[i]->name == order[i - 1]->name)
      throw Error(
          cat(file, ": the tensor ", luminal::in_quotes(order[i]->name), " stands twice in the header"));
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) {
    return a->bytes.data() != b->bytes.data() ? a->bytes.data() < b->bytes.data()
                                              : a->bytes.size() < b->bytes.size();
  });
  std::size_t covered = 0;
  for (const StoredTensor* tensor : order) {
    const auto begin = static_cast<std::size_t>(tensor->bytes.data() - data.data());
    if (begin != covered)
      throw Error(cat(file, ": tensor ", luminal::in_quotes(tensor->name), " begins at byte ", begin,
                      " of the data, ", begin < covered ? "inside the tensor before it" : "after a hole",
                      ": expected ", covered));
    covered = begin + tensor->bytes.size();
  }
  if (covered != data.size())
    throw Error(cat(file, ": ", data.size() - covered, " bytes at the end of the file belong to no tensor"));
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\\') == std::string::npos && name.find('\0') == std::string::npos;
}

}  // namespace

ModelFile read_safetensors(std::span<const std::byte> bytes, const std::string& file) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length)
    throw Error(
        cat(file, ": ", bytes.size(), " bytes are neither GGUF nor safetensors: expected at least 8"));
  std::memcpy(&length, bytes.data(), sizeof length);
  const auto rest = bytes.subspan(sizeof length);
  if (length > rest.size() || length > largest_header)
    throw Error(cat(file, ": a safetensors header of ", length, " bytes does not fit: ",
                    length > rest.size() ? cat("the file has ", rest.size(), " bytes after the length")
                                         : cat("at most ", largest_header, " are accepted")));
  const std::string_view header(reinterpret_cast<const char*>(rest.data()), length);
  if (!header.starts_with('{')) throw Error(cat(file, ": the safetensors header does not begin with '{'"));
  HeaderReader reader(file);
  scan_json(header, file, reader);
  const auto data = rest.subspan(length);
  ModelFile model{FileKind::safetensors, {file}, {}, std::move(reader.metadata)};
  model.tensors.reserve(reader.entries.size());
  for (HeaderEntry& entry : reader.entries) model.tensors.push_back(place(entry, data, file));
  require_exact_cover(model.tensors, data, file);
  return model;
}

ModelFile open_safetensors(const MappedFile& file) {
  ModelFile model = read_safetensors(file.bytes(), file.path());
  for (StoredTensor& tensor : model.tensors) tensor.owner = file.owner();
  return model;
}

ModelFile open_safetensors_index(const std::string& path) {
  const MappedFile file(path);
  const Json index = parse_json(file.text(), path);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    throw Error(
        cat(path, ": a safetensors index has an object \"weight_map\" from tensor names to file names"));
  const auto folder = std::filesystem::path(path).parent_path();
  ModelFile model;
  std::map<std::string, std::map<std::string, StoredTensor>> shards;
  for (const auto& [tensor, shard] : index["weight_map"].items()) {
    const std::string where = cat(path, ": weight_map: tensor ", luminal::in_quotes(tensor), ": ");
    if (!shard.is_string()) throw Error(cat(where, "the shard is not a text"));
    const auto shard_name = shard.get<std::string>();
    if (!is_plain_name(shard_name) || !shard_name.ends_with(".safetensors"))
      throw Error(cat(where, "the shard ", luminal::in_quotes(shard_name),
                      " is refused: expected the name of a .safetensors file in the index's own folder"));
    if (!shards.contains(shard_name)) {
      ModelFile part = open_safetensors(MappedFile((folder / shard_name).string()));
      const auto number = static_cast<std::uint32_t>(model.files.size());
      model.files.push_back(part.files.front());
      auto& held = shards[shard_name];
      for (StoredTensor& stored : part.tensors) {
        stored.shard = number;
        held.emplace(stored.name, stored);
      }
    }
    const auto found = shards[shard_name].find(tensor);
    if (found == shards[shard_name].end())
      throw Error(cat(where, "it is not in ", luminal::in_quotes(shard_name)));
    model.tensors.push_back(found->second);
  }
  return model;
}

}  // namespace luminal::io
