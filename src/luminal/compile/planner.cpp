#include "luminal/compile/planner.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "luminal/compile/roll.h"
#include "luminal/graph/passes.h"
#include "luminal/graph/text.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

using runtime::BufferId;

namespace {

std::string dim_names(const Dag& dag) {
  std::vector<std::string> names;
  for (const auto& [name, variable] : dag.variables()) names.push_back(name);
  return names.empty() ? "none" : join(names, ", ");
}

/// One plan on its way: where the values of the graph are.
class Placement {
 public:
  Placement(const Dag& dag, const codegen::Dialect& dialect, const Sink& sink)
      : dag_(dag), assembler_(dag, dialect, sink) {}

  Assembler& assembler() { return assembler_; }

  std::vector<BufferId> outputs_of(NodeId boundary) {
    const auto found = host_outputs_.find(boundary);
    if (found != host_outputs_.end()) return found->second;
    return host_outputs_.emplace(boundary, assembler_.add_outputs(boundary)).first->second;
  }

  BufferId source_buffer(const OutputId& place) {
    const Op op = dag_.node(place.first).op;
    if (op == Op::input || op == Op::state) return assembler_.source(place.first);
    if (rewriting::is_boundary(op)) return outputs_of(place.first)[place.second];
    return buffer_of(dag_.whole(place.first, place.second));
  }

  BufferId buffer_of(const Value& value) const {
    for (const auto& [known, buffer] : buffers_)
      if (known == value) return buffer;
    throw InternalError(cat("pipeline: ", value.node, " was not computed"), print(dag_));
  }

  void place(const CompiledRegion& compiled, const rewriting::Region& region) {
    std::vector<BufferId> sources;
    for (const auto& source : region.sources) sources.push_back(source_buffer(source.place));
    const auto made = assembler_.add_region(compiled, sources);
    for (std::size_t k = 0; k < made.size(); ++k) buffers_.emplace_back(region.wanted[k], made[k]);
  }

 private:
  const Dag& dag_;
  Assembler assembler_;
  std::vector<std::pair<Value, BufferId>> buffers_;       // where wanted values are
  std::map<NodeId, std::vector<BufferId>> host_outputs_;  // of boundary ops
};

}  // namespace

template <typename F>
void Planner::stage(const std::string& name, F&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  report(reports_, name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (options_.verify) verify(dag_);
}

Planner::Planner(Dag dag, std::shared_ptr<runtime::Device> device, const CompileOptions& options,
                 const DimMap& known, const BucketChoice& buckets)
    : dag_(std::move(dag)), device_(std::move(device)), options_(options) {
  choose_dims(known, buckets);
  stage("dead code", [&] { dead_code().run(dag_); });
  stage("checks", [&] { collect_checks(); });
  find_regions();
}

/// Every dim's typical value: asked for, known, the end of its bucket, or a guess within its bounds. And a
/// large one, since one plan serves all: memory must not explode there.
void Planner::choose_dims(const DimMap& known, const BucketChoice& buckets) {
  for (const auto& [name, value] : options_.tune_dims) {
    const auto found = dag_.variables().find(name);
    if (found == dag_.variables().end())
      throw Error(cat("compile: a typical value of '", name, "', which is no dim of the graph; it has ",
                      dim_names(dag_)));
    const Interval bounds = found->second.declared_bounds();
    if ((bounds.low && value < *bounds.low) || (bounds.high && value > *bounds.high))
      throw Error(cat("compile: ", value, " is no value that the dim '", name, "' can have"));
  }
  for (const auto& [name, variable] : dag_.variables()) {
    const Interval bounds = variable.declared_bounds();
    const auto bucket = buckets.find(name);
    const auto fits = [&](const DimMap& dims) {
      const auto found = dims.find(name);
      return found != dims.end() && (bucket == buckets.end() || bucket->second.contains(found->second));
    };
    std::int64_t value = 128;
    if (fits(options_.tune_dims))
      value = options_.tune_dims.at(name);
    else if (fits(known))
      value = known.at(name);
    else if (bucket != buckets.end())
      value = bucket->second.high;
    if (bounds.low) value = std::max(value, *bounds.low);
    if (bounds.high) value = std::min(value, *bounds.high);
    dims_.emplace(name, value);
    const std::int64_t grown = std::max(value, std::min<std::int64_t>(bounds.high.value_or(8192), 8192));
    largest_dims_.emplace(name, bucket != buckets.end() ? bucket->second.high : grown);
  }
}

/// What nodes and views need of the dims is tested before runs.
void Planner::collect_checks() {
  std::set<std::string> seen;
  const auto add = [&](const Expr& holds, const std::string& problem, Location where) {
    if (holds != Expr(1) && seen.insert(holds.text() + problem).second)
      checks_.push_back({holds, problem, where});
  };
  const auto add_view = [&](const View& view, Location where) {
    for (const auto& check : view.checks()) add(check.holds, check.problem, where);
  };
  for (const auto id : dag_.nodes()) {
    const Node& node = dag_.node(id);
    for (const auto& check : node.checks) add(check.holds, check.problem, node.where);
    for (const auto& input : node.inputs) add_view(input.view, node.where);
    for (const auto& output : node.outputs)
      for (const auto& dim : output.shape)
        if (!prove_le(0, dim))
          add(Expr::less_equal(0, dim), cat(node.op, ": the dim ", dim, " is negative"), node.where);
  }
  for (const auto& value : dag_.outputs()) add_view(value.view, dag_.node(value.node).where);
  for (const auto& [state, value] : dag_.assignments()) add_view(value.view, dag_.node(state).where);
}

/// The graph in regions: repeated layers are regions of their own, equal ones compiled once. Values that
/// pass from one region to another exist in memory.
void Planner::find_regions() {
  std::vector<std::vector<NodeId>> parts;
  order_ = execution_order(dag_, dag_.roots());
  const auto& order = order_;
  stage("roll", [&] { parts = split_at_boundaries(roll_layers(dag_, order), order); });
  std::map<NodeId, std::size_t> part_of;
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (const auto id : parts[k])
      if (!rewriting::is_boundary(dag_.node(id).op)) part_of.emplace(id, k);

  // Who needs what from which part. A value outside of all parts (an input, a constant) is made by whoever
  // reads it.
  std::vector<std::vector<Value>> wanted(parts.size());
  const auto want = [&](const Value& value, std::size_t reader) {
    const auto found = part_of.find(value.node);
    const std::size_t part = found != part_of.end() ? found->second : reader;
    if (std::find(wanted[part].begin(), wanted[part].end(), value) == wanted[part].end())
      wanted[part].push_back(value);
    return part;
  };
  // A view of what no part computes, read by a boundary op or given out, is a part of its own: others may be
  // on the far side of that op.
  const auto want_apart = [&](const Value& value) {
    if (!part_of.contains(value.node)) {
      parts.emplace_back();
      wanted.emplace_back();
    }
    want(value, parts.size() - 1);
  };
  const auto is_step = [&](Op op) {
    return rewriting::is_boundary(op) && op != Op::input && op != Op::state;
  };
  const std::size_t last = parts.size() - 1;
  for (const auto id : order) {
    const Node& node = dag_.node(id);
    for (const auto& input : node.inputs) {
      if (is_step(node.op)) {
        want_apart(input);
      } else if (const auto from = part_of.find(input.node);
                 from != part_of.end() && part_of.contains(id) && from->second != part_of.at(id)) {
        want(dag_.whole(input.node, input.output), from->second);
      }
    }
  }
  auto& outputs = outputs_;
  outputs = dag_.outputs();
  for (const auto& [place, unused] : dag_.kept()) outputs.push_back(dag_.whole(place.first, place.second));
  const auto give = [&](const Value& value) {
    if (is_step(dag_.node(value.node).op))
      want_apart(value);
    else
      want(value, last);
  };
  for (const auto& value : outputs) give(value);
  for (const auto& [state, value] : dag_.assignments()) give(value);

  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (wanted[k].empty()) continue;
    rewriting::Region region = region_of(k, part_of, wanted[k]);
    std::string key = region_key(dag_, region);
    parts_.push_back({std::move(region), std::move(key)});
  }
}

/// What waits for a boundary op is another region than what the op waits for.
std::vector<std::vector<NodeId>> Planner::split_at_boundaries(const std::vector<std::vector<NodeId>>& parts,
                                                              const std::vector<NodeId>& order) const {
  std::map<NodeId, std::size_t> level;
  for (const auto id : order) {
    std::size_t mine = 0;
    for (const auto& input : dag_.node(id).inputs) {
      const Op op = dag_.node(input.node).op;
      const bool waits = rewriting::is_boundary(op) && op != Op::input && op != Op::state;
      mine = std::max(mine, level.at(input.node) + (waits ? 1 : 0));
    }
    level.emplace(id, mine);
  }
  std::map<std::pair<std::size_t, std::size_t>, std::vector<NodeId>> split;  // by level, then part
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (const auto id : parts[k]) split[{level.at(id), k}].push_back(id);
  std::vector<std::vector<NodeId>> result;
  for (auto& [at, nodes] : split) result.push_back(std::move(nodes));
  if (result.empty()) result.emplace_back();
  return result;
}

/// What a part reads from outside of it, in the order of its nodes, and what is wanted of it.
rewriting::Region Planner::region_of(std::size_t part, const std::map<NodeId, std::size_t>& part_of,
                                     const std::vector<Value>& wanted) const {
  rewriting::Region region;
  region.wanted = wanted;
  std::set<OutputId> seen;
  std::set<NodeId> visited;
  std::vector<std::pair<NodeId, std::size_t>> stack;  // node, next input
  const auto visit = [&](const Value& value) {
    const Node& node = dag_.node(value.node);
    const auto found = part_of.find(value.node);
    const bool outside = rewriting::is_boundary(node.op) || (found != part_of.end() && found->second != part);
    if (outside) {
      if (seen.insert({value.node, value.output}).second)
        region.sources.push_back(
            {{value.node, value.output}, node.op == Op::state && !dag_.assignments().contains(value.node)});
    } else if (visited.insert(value.node).second) {
      stack.emplace_back(value.node, 0);
    }
  };
  for (const auto& value : region.wanted) {
    visit(value);
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const auto& inputs = dag_.node(id).inputs;
      if (next == inputs.size()) {
        stack.pop_back();
        continue;
      }
      const Value& input = inputs[next++];
      visit(input);
    }
  }
  return region;
}

std::string Planner::text() const {
  std::string text = cat(device_->fingerprint(), "\n", options_.exact, " ", options_.memory_budget, " ",
                         options_.random_seed, "\n", options_.rules, "\n");
  for (const auto& [name, value] : dims_) text += cat(name, "=", value, " ", largest_dims_.at(name), "\n");
  for (const auto& [name, variable] : dag_.variables()) text += variable.rpn() + "\n";
  std::set<std::string> seen;
  for (const auto& part : parts_)
    if (seen.insert(part.key).second) text += part.key + "\n";
  return text;
}

Decisions Planner::decide(search::CostOracle& oracle, bool weigh_others, const Decisions* from) {
  Decisions decisions;
  const bool first = saturated_.empty();
  for (const auto& [region, key] : parts_) {
    if (decisions.regions.contains(key)) continue;
    auto& saturated = saturated_[key];
    if (!saturated) saturated = std::make_unique<SaturatedRegion>(dag_, region, options_, reports_);
    decisions.regions.emplace(key,
                              saturated->map(options_, oracle, dims_, largest_dims_, reports_, weigh_others,
                                             from != nullptr ? &from->regions.at(key) : nullptr));
  }
  if (first)
    report(reports_, "regions", 0, cat(parts_.size(), " regions, ", decisions.regions.size(), " different"));
  return decisions;
}

std::map<std::string, std::pair<const kernel::Kernel*, std::size_t>> Planner::launches(
    const Decisions& decisions) const {
  std::map<std::string, std::pair<const kernel::Kernel*, std::size_t>> result;
  for (const auto& part : parts_)
    for (const auto& kernel : decisions.regions.at(part.key).kernels) {
      auto& [found, count] = result[kernel::key(kernel.lowered.kernel)];
      found = &kernel.lowered.kernel;
      if (!kernel.is_static) ++count;
    }
  return result;
}

Assembled Planner::assemble(const Decisions& decisions, const Sink& sink) {
  Assembled assembled;
  stage("order", [&] {
    Placement placement(dag_, device_->dialect(), sink);
    Assembler& assembler = placement.assembler();
    for (const auto& check : checks_) assembler.add_check(check);
    for (const auto& [region, key] : parts_) placement.place(decisions.regions.at(key), region);
    for (const auto id : order_) {
      const Node& node = dag_.node(id);
      if (!rewriting::is_boundary(node.op) || node.op == Op::input || node.op == Op::state) continue;
      std::vector<BufferId> inputs;
      for (const auto& input : node.inputs) inputs.push_back(placement.buffer_of(input));
      assembler.add_boundary(id, inputs, placement.outputs_of(id));
    }
    for (const auto& value : outputs_) assembler.add_output(value, placement.buffer_of(value));
    for (const auto& [state, value] : dag_.assignments()) assembler.assign(state, placement.buffer_of(value));
    assembled = assembler.finish();
  });
  for (const auto& [name, variable] : dag_.variables()) assembled.plan.dims.push_back(name);
  stage("source", [&] { print_sources(assembled.plan, decisions); });
  if (options_.verify) runtime::verify(assembled.plan);
  return assembled;
}

void Planner::print_sources(runtime::Plan& plan, const Decisions& decisions) const {
  const auto machine = device_->machine();
  for (auto& kernel : plan.kernels) {
    if (kernel.is_given) continue;
    const std::string key = kernel::key(kernel.kernel);
    const auto schedule = decisions.schedules.find(key);
    kernel.schedule = schedule != decisions.schedules.end()
                          ? schedule->second
                          : codegen::default_schedule(kernel.kernel, machine, dims_);
    const auto source = decisions.sources.find(key);
    kernel.source = source != decisions.sources.end()
                        ? source->second
                        : codegen::print_kernel(kernel.kernel, device_->dialect(), kernel.schedule);
  }
}

}  // namespace luminal
