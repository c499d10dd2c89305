#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "luminal/graph/dag.h"

namespace luminal {

/// The user's functions that a text may name.
using CustomOps = std::map<std::string, std::shared_ptr<const CustomOp>, std::less<>>;

/// The graph as readable text, one node a line; docs/text-format.md describes it. Values are not part of it.
std::string print(const Dag& dag);
/// One node's line, without the newline.
std::string print_node(const Dag& dag, NodeId id);
/// What stands between the braces of a node's line; empty without an attribute.
std::string attribute_text(const Node& node);

/// Reads what `print` wrote, exactly: same_graph(parse(print(g)), g). Throws `Error` naming line and column
/// for anything else, also for a graph that could not have been built, and for a custom op that `customs`
/// does not hold.
Dag parse(std::string_view text, const CustomOps& customs = {});

/// Graphviz' language, for other people's tools.
std::string to_dot(const Dag& dag);
/// One self-contained page: the graph drawn in layers, with zoom, search, shapes, dtypes and source lines.
std::string to_html(const Dag& dag, std::string_view title = "luminal graph");

}  // namespace luminal
