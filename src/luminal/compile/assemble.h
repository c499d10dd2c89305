#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "luminal/compile/region.h"
#include "luminal/graph/dag.h"
#include "luminal/graph/interpreter.h"
#include "luminal/runtime/device.h"
#include "luminal/runtime/plan.h"

namespace luminal {

/// A plan, and where the graph's values are in it.
struct Assembled {
  runtime::Plan plan;
  std::map<NodeId, runtime::BufferId> sources;  // inputs and states
  std::vector<std::pair<Value, runtime::BufferId>> outputs;
  std::map<NodeId, bool> written;  // states that runs change
};

/// Puts compiled regions, host steps and state updates together: decides what is written in place, and orders
/// the steps.
class Assembler {
 public:
  Assembler(const Dag& dag, const codegen::Dialect& dialect, const Sink& sink)
      : dag_(dag), dialect_(dialect), sink_(sink) {}

  /// The buffer of an input or state, made when first asked for.
  runtime::BufferId source(NodeId node);
  /// Adds a region's kernels, reading the given buffers; the buffers of what is wanted, in order.
  std::vector<runtime::BufferId> add_region(const CompiledRegion& region,
                                            const std::vector<runtime::BufferId>& sources);
  /// Buffers for the outputs of a node that the host computes.
  std::vector<runtime::BufferId> add_outputs(NodeId node);
  /// Adds a step for a node that no region has: a custom op, a sort, a barrier, a print or a diff. The host
  /// does it, but for custom ops that have a kernel for the device.
  void add_boundary(NodeId node, const std::vector<runtime::BufferId>& inputs,
                    const std::vector<runtime::BufferId>& outputs);

  void add_output(const Value& value, runtime::BufferId buffer);
  void assign(NodeId state, runtime::BufferId value);
  void add_check(runtime::Check check) { result_.plan.checks.push_back(std::move(check)); }

  /// The whole plan, in order.
  Assembled finish();

 private:
  using BufferId = runtime::BufferId;
  struct Draft {
    runtime::Step step;
    std::vector<std::optional<BufferId>> bases;  // by output: what it holds before the step
    bool is_static = false;
    std::vector<std::size_t> after;  // steps that come first, beyond those that it reads from
  };

  BufferId add_buffer(const kernel::ArrayType& type, runtime::BufferInfo::Role role, std::string name = {});
  std::size_t add_kernel(const CompiledRegion::RegionKernel& kernel);
  std::optional<std::size_t> add_given_kernel(const Node& node);
  std::size_t add_copy(BufferId from, BufferId to, const std::string& name);
  std::size_t producer(BufferId buffer) const;
  std::vector<std::size_t> readers(BufferId buffer) const;
  bool depends(std::size_t later, std::size_t earlier) const;
  bool overwrites_safely(std::size_t step, BufferId old_buffer, BufferId new_buffer) const;
  bool make_in_place(BufferId old_buffer, BufferId new_buffer);
  void protect_old_states();
  void update_states();
  void settle_bases();
  std::vector<std::size_t> ordered() const;

  const Dag& dag_;
  const codegen::Dialect& dialect_;
  Sink sink_;
  Assembled result_;
  std::vector<Draft> drafts_;
  std::map<std::string, std::size_t> kernel_numbers_;
  std::map<NodeId, BufferId> assigned_;
  std::map<NodeId, std::size_t> host_steps_;
};

}  // namespace luminal
