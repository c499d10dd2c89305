#include "luminal/io/parameters.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "luminal/io/gguf.h"
#include "luminal/io/quantise.h"
#include "luminal/io/safetensors.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

/// Whether the pattern is the whole text, and what its stars stand for, which never is a dot.
bool match(std::string_view pattern, std::string_view text, std::vector<std::string_view>& stars) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  const std::size_t longest = std::min(text.find('.'), text.size());
  for (std::size_t length = 1; length <= longest; ++length) {
    stars.push_back(text.substr(0, length));
    if (match(pattern, text.substr(length), stars)) return true;
    stars.pop_back();
  }
  return false;
}

std::optional<std::string> apply(const std::string& from, const std::string& to, const std::string& path) {
  std::vector<std::string_view> stars;
  if (!match(from, path, stars)) return std::nullopt;
  std::string result;
  std::size_t next = 0;
  for (const char c : to) {
    if (c == '*')
      result += stars[next++];
    else
      result += c;
  }
  return result;
}

std::string dotted(std::string path) {
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

/// What is wrong with giving `array`'s type to the tensor, or nothing.
std::optional<std::string> mismatch(const Tensor& tensor, const StoredTensor& stored) {
  bool same = tensor.rank() == stored.dims.size();
  for (std::size_t axis = 0; same && axis < stored.dims.size(); ++axis)
    same = tensor.shape()[axis].constant_value() == stored.dims[axis];
  if (!same) return cat("has shape ", tensor.shape(), ", the file's has [", join(stored.dims), "]");
  const DType dtype = row(stored.format).dtype.value_or(DType::f32);
  if (is_floating(dtype) && !is_floating(tensor.dtype()))
    return cat("is ", tensor.dtype(), ", the file's is ", name(stored.format));
  return std::nullopt;
}

void add_section(std::string& text, const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  text += cat("\n  ", title, " (", lines.size(), "):");
  for (const std::string& line : lines) text += "\n    " + line;
}

}  // namespace

NameMap renamed(std::vector<std::pair<std::string, std::string>> patterns) {
  for (const auto& [from, to] : patterns) {
    const auto stars = [](const std::string& pattern) {
      return std::count(pattern.begin(), pattern.end(), '*');
    };
    if (stars(from) != stars(to))
      throw Error(cat("renamed: ", luminal::in_quotes(from), " and ", luminal::in_quotes(to),
                      " have different numbers of stars"));
  }
  return [patterns = std::move(patterns)](const std::string& path) {
    for (const auto& [from, to] : patterns)
      if (auto result = apply(from, to, path)) return *result;
    return path;
  };
}

void save(const std::string& path, const std::map<std::string, Array>& tensors,
          const std::map<std::string, std::string>& metadata) {
  if (!path.ends_with(".gguf")) return write_safetensors(path, tensors, metadata);
  std::vector<std::pair<std::string, GgufNewValue>> values;
  for (const auto& [key, value] : metadata) values.emplace_back(key, GgufNewValue::of(value));
  std::vector<GgufNewTensor> list;
  for (const auto& [name, array] : tensors) {
    const Format format = format_of(array.dtype());
    list.push_back({name, format, array.dims(), [&array, format] { return encode_tensor(format, array); }});
  }
  write_gguf(path, values, list);
}

void save_tensors(const std::string& path, const std::map<std::string, Tensor>& parameters,
                  const SaveOptions& options, Location where) {
  std::map<std::string, Array> arrays;
  for (const auto& [parameter, tensor] : parameters) {
    const std::string own = dotted(parameter);
    const std::string name = options.names ? options.names(own) : own;
    if (!arrays.emplace(name, tensor.array(where)).second) {
      throw Error(cat("save: two parameters have the name ", luminal::in_quotes(name), ", the second is ",
                      luminal::in_quotes(parameter)),
                  where);
    }
  }
  save(path, arrays, options.metadata);
}

std::map<std::string, Array> load(const std::string& path) {
  std::map<std::string, Array> result;
  for (const StoredTensor& tensor : open_model(path).tensors) result.emplace(tensor.name, tensor.array());
  return result;
}

void load_into(const std::map<std::string, Tensor>& parameters, const ModelFile& file,
               const LoadOptions& options, Location where) {
  std::map<std::string_view, const StoredTensor*> stored;
  for (const StoredTensor& tensor : file.tensors) stored.emplace(tensor.name, &tensor);
  std::vector<std::string> missing, extra, wrong;
  std::vector<std::pair<const Tensor*, const StoredTensor*>> found;
  std::set<std::string_view> used;
  for (const auto& [path, tensor] : parameters) {
    const std::string own = dotted(path);
    const std::string wanted = options.names ? options.names(own) : own;
    const auto entry = stored.find(wanted);
    if (entry == stored.end()) {
      if (!options.allow_missing)
        missing.push_back(wanted == own ? own : cat(own, " (in the file: ", wanted, ")"));
      continue;
    }
    used.insert(entry->first);
    if (const auto problem = mismatch(tensor, *entry->second))
      wrong.push_back(cat(own, " ", *problem));
    else
      found.emplace_back(&tensor, entry->second);
  }
  if (!options.allow_extra)
    for (const auto& [name, tensor] : stored)
      if (!used.contains(name)) extra.emplace_back(name);
  std::string problems;
  add_section(problems, "missing from the file", missing);
  add_section(problems, "in the file, but asked for by nothing", extra);
  add_section(problems, "of another type", wrong);
  if (!problems.empty())
    throw Error(cat("load: ", file.files.empty() ? "the file" : file.files.front(),
                    " does not fit the parameters:", problems),
                where);
  for (const auto& [tensor, source] : found) tensor->set(source->array(), where);
}

}  // namespace luminal::io
