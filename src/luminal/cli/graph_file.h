#pragma once
#include <string>
#include <vector>

#include "luminal/frontend/graph.h"

namespace luminal::cli {

/// A file's whole content. `Error` naming `command` if it cannot be read.
std::string read_file(const std::string& path, std::string_view command);

/// The graph that a command's argument names: a file in the text format, or "model:NAME", one of the
/// benchmarks' models.
Graph load_graph(const std::string& name, std::string_view command);
inline constexpr const char* graph_help = "A graph in the text format, or model:NAME of the benchmarks";

/// NAME=NUMBER words as dims.
DimMap dims_of(const std::vector<std::string>& words, std::string_view command);

}  // namespace luminal::cli
