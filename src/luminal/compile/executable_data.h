#pragma once
// What Executable's handle points to. Internal to compile/.
#include <map>
#include <memory>
#include <vector>

#include "luminal/compile/buckets.h"
#include "luminal/compile/options.h"
#include "luminal/compile/search_report.h"
#include "luminal/frontend/graph.h"
#include "luminal/frontend/graph_data.h"
#include "luminal/runtime/runner.h"

namespace luminal {

/// A plan with its programs and memory, for one choice of buckets.
struct Compiled {
  std::map<NodeId, runtime::BufferId> sources;
  std::vector<std::pair<Value, runtime::BufferId>> outputs;
  std::map<NodeId, bool> written;
  std::unique_ptr<runtime::Runner> runner;
  std::shared_ptr<const SearchReport> search;  // null: it was not searched for
};

struct ExecutableData {
  /// Takes over the graph's nodes and the values that it has now.
  explicit ExecutableData(const Graph& graph);

  Sink sink() const;

  /// `Error` unless the tensor is of the graph that was compiled.
  void require_own(const Tensor& tensor, std::string_view operation, Location where) const;

  std::weak_ptr<GraphData> origin;  // the graph that was compiled
  /// The graph's values, as `Tensor::set` checks and keeps them; same node ids.
  std::shared_ptr<GraphData> values;
  std::vector<BucketChoice> choices;  // by plan
  std::vector<Compiled> plans;
  std::size_t chosen = 0;                            // the plan that has the sources' values
  std::size_t ran = 0;                               // the plan of the last run, which has its outputs
  std::map<NodeId, bool> current;                    // of sources: whether the device has the value
  std::map<NodeId, std::vector<std::int64_t>> held;  // of current ones: the shape that the device has
  DimMap held_for;                                   // the dims that all of them fit
  bool has_run = false;
  DimMap ran_with;
  std::vector<StageReport> reports;
  std::shared_ptr<const SearchReport> search;  // of the plan that is being made

  Compiled& now() { return plans[chosen]; }
  const Compiled& now() const { return plans[chosen]; }
  /// Turns to the plan for the current dims; it takes over what the last one has.
  void choose(Location where);
};

}  // namespace luminal
