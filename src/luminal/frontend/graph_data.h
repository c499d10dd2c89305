#pragma once
#include <functional>
#include <map>

#include "luminal/frontend/tensor.h"
#include "luminal/graph/interpreter.h"
#include "luminal/support/sink.h"

namespace luminal {

/// What the handles `Graph` and `Tensor` share. Internal to frontend/.
struct GraphData : std::enable_shared_from_this<GraphData> {
  /// An array, and the dims' values it was computed under.
  struct Stored {
    Array array;
    DimMap dims;
  };

  Dag dag;
  DimMap dims;
  std::map<OutputId, Stored> values;
  std::map<NodeId, std::function<Array()>> loaders;
  std::map<std::string, NodeId, std::less<>> state_names;
  Sink sink;

  Tensor tensor(const Value& value) { return {weak_from_this(), value, dag.type(value).dtype}; }
  Tensor tensor(NodeId node, std::uint32_t output = 0) { return tensor(dag.whole(node, output)); }
  /// Adds a node and gives its first output.
  Tensor add(NewNode node) { return tensor(dag.add(std::move(node))); }

  /// The graph of a tensor; `Error` if it is gone.
  static std::shared_ptr<GraphData> of(const Tensor& tensor, std::string_view operation, Location where);
  /// Whether the tensor is of this graph, be it alive or not.
  static bool is_of(const Tensor& tensor, const std::weak_ptr<GraphData>& graph) {
    return !tensor.data_.owner_before(graph) && !graph.owner_before(tensor.data_);
  }
  /// The value behind a tensor, after what passes did to it; `Error` if they removed it.
  Value live(const Tensor& tensor, std::string_view operation, Location where) const;
  /// `of`, checked to be this graph.
  void require_mine(const Tensor& tensor, std::string_view operation, Location where) const;
};

}  // namespace luminal
