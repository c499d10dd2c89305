#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/compile/assemble.h"
#include "luminal/compile/buckets.h"
#include "luminal/compile/region.h"

namespace luminal {

/// All that compiling decides about a graph: what its different regions become, and the schedules of kernels
/// that do not take the default one.
struct Decisions {
  std::map<std::string, CompiledRegion> regions;            // by region key
  std::map<std::string, codegen::Schedule> schedules = {};  // by kernel key
  std::map<std::string, codegen::Source> sources = {};      // by kernel key: printed already
};

/// Goes from a graph to plans: once through the stages that depend on the graph alone, then any number of
/// times from decisions to a plan.
class Planner {
 public:
  /// Drops dead code, collects checks, and cuts the graph into regions. `buckets`: the ranges of dims that
  /// this plan is for.
  Planner(Dag dag, std::shared_ptr<runtime::Device> device, const CompileOptions& options,
          const DimMap& known, const BucketChoice& buckets);

  /// Saturates regions that have not been yet, and maps all with the oracle; `from` decisions of this
  /// planner, if there are some.
  Decisions decide(search::CostOracle& oracle, bool weigh_others = false, const Decisions* from = nullptr);
  /// The kernels of a plan, and how often a run launches each: by kernel key. Those that only setting weights
  /// launches count 0.
  std::map<std::string, std::pair<const kernel::Kernel*, std::size_t>> launches(
      const Decisions& decisions) const;
  /// Puts the plan together, with its sources.
  Assembled assemble(const Decisions& decisions, const Sink& sink);

  /// All that decisions depend on, but how they are sought: the graph's regions, the dims, the device, the
  /// options. With equal texts they are equal.
  std::string text() const;
  const std::vector<runtime::Check>& checks() const { return checks_; }
  const DimMap& dims() const { return dims_; }
  const Dag& dag() const { return dag_; }
  runtime::Device& device() const { return *device_; }
  const std::shared_ptr<runtime::Device>& shared_device() const { return device_; }
  std::vector<StageReport>& reports() { return reports_; }

 private:
  struct Part {
    rewriting::Region region;
    std::string key;
  };

  template <typename F>
  void stage(const std::string& name, F&& work);
  void choose_dims(const DimMap& known, const BucketChoice& buckets);
  void collect_checks();
  void find_regions();
  std::vector<std::vector<NodeId>> split_at_boundaries(const std::vector<std::vector<NodeId>>& parts,
                                                       const std::vector<NodeId>& order) const;
  rewriting::Region region_of(std::size_t part, const std::map<NodeId, std::size_t>& part_of,
                              const std::vector<Value>& wanted) const;
  void print_sources(runtime::Plan& plan, const Decisions& decisions) const;

  Dag dag_;
  std::shared_ptr<runtime::Device> device_;
  const CompileOptions& options_;
  DimMap dims_;
  DimMap largest_dims_;
  std::vector<runtime::Check> checks_;
  std::vector<NodeId> order_;
  std::vector<Value> outputs_;
  std::vector<Part> parts_;
  std::map<std::string, std::unique_ptr<SaturatedRegion>> saturated_;
  std::vector<StageReport> reports_;
};

}  // namespace luminal
