#include "luminal/cli/graph_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "luminal/cli/models.h"
#include "luminal/luminal.h"
#include "luminal/support/text.h"

namespace luminal::cli {

std::string read_file(const std::string& path, std::string_view command) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw Error(cat(command, ": the file ", in_quotes(path), " cannot be read"));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Graph load_graph(const std::string& name, std::string_view command) {
  constexpr std::string_view prefix = "model:";
  if (!name.starts_with(prefix)) return Graph(parse(read_file(name, command)));
  const std::string_view wanted = std::string_view(name).substr(prefix.size());
  if (wanted == "llama-3.2-1b") return llama_decode(16);
  std::vector<std::string> names = {"llama-3.2-1b"};
  for (const auto& model : model_suite()) {
    if (model.name == wanted) return model.build(false);
    names.push_back(model.name);
  }
  throw Error(cat(command, ": no model is named ", in_quotes(wanted), "; there is ", join(names)));
}

DimMap dims_of(const std::vector<std::string>& words, std::string_view command) {
  DimMap dims;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    std::size_t used = 0;
    std::int64_t value = 0;
    try {
      if (equals != std::string::npos) value = std::stoll(word.substr(equals + 1), &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (equals == std::string::npos || equals == 0 || used == 0 || equals + 1 + used != word.size())
      throw Error(cat(command, ": --dim takes NAME=NUMBER, got ", in_quotes(word)));
    dims.insert_or_assign(word.substr(0, equals), value);
  }
  return dims;
}

}  // namespace luminal::cli
