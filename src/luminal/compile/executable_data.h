#pragma once
// What Executable's handle points to. Internal to compile/.
#include <map>
#include <memory>
#include <vector>

#include "luminal/compile/options.h"
#include "luminal/compile/search_report.h"
#include "luminal/frontend/graph.h"
#include "luminal/frontend/graph_data.h"
#include "luminal/runtime/runner.h"

namespace luminal {

struct ExecutableData {
  /// Takes over the graph's nodes and the values that it has now.
  explicit ExecutableData(const Graph& graph);

  Sink sink() const;

  /// The graph's values, as `Tensor::set` checks and keeps them; same node ids.
  std::shared_ptr<GraphData> values;
  std::map<NodeId, runtime::BufferId> sources;
  std::vector<std::pair<Value, runtime::BufferId>> outputs;
  std::map<NodeId, bool> written;
  std::unique_ptr<runtime::Runner> runner;
  std::map<NodeId, bool> current;  // of sources: whether the device has the value
  bool has_run = false;
  DimMap ran_with;
  std::vector<StageReport> reports;
  std::shared_ptr<const SearchReport> search;  // null: it was not searched for
};

}  // namespace luminal
