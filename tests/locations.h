#pragma once
#include <optional>
#include <string>

#include "luminal/graph/text.h"

namespace luminal::test {

/// The first node that names no line, or one of the library instead of its user's.
inline std::optional<std::string> foreign_line(const Dag& dag) {
  for (const auto id : dag.nodes()) {
    const Location where = dag.node(id).where;
    if (!where.known() || std::string(where.file).find("src/luminal/") != std::string::npos)
      return print_node(dag, id);
  }
  return std::nullopt;
}

}  // namespace luminal::test
