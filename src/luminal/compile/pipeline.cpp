// The driver: compiling, stage by stage.
#include <chrono>
#include <set>

#include "luminal/compile/assemble.h"
#include "luminal/compile/compile.h"
#include "luminal/compile/executable_data.h"
#include "luminal/compile/region.h"
#include "luminal/graph/passes.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

using runtime::BufferId;

class Pipeline {
 public:
  Pipeline(Dag dag, std::shared_ptr<runtime::Device> device, const CompileOptions& options, const DimMap& known,
           const Sink& sink)
      : dag_(std::move(dag)), device_(std::move(device)), options_(options), assembler_(dag_, sink) {
    choose_dims(known);
  }

  Assembled run() {
    stage("dead code", [&] { dead_code().run(dag_); });
    stage("checks", [&] { collect_checks(); });
    compile_regions();
    Assembled assembled = [&] {
      Assembled result;
      stage("order", [&] { result = assembler_.finish(); });
      return result;
    }();
    for (const auto& [name, variable] : dag_.variables()) assembled.plan.dims.push_back(name);
    stage("source", [&] { print_sources(assembled.plan); });
    if (options_.verify) runtime::verify(assembled.plan);
    return assembled;
  }
  std::vector<StageReport> take_reports() { return std::move(reports_); }
  const Dag& dag() const { return dag_; }

 private:
  template <typename F>
  void stage(const std::string& name, F&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    report(reports_, name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (options_.verify) verify(dag_);
  }

  /// Every dim's typical value: asked for, known, in the middle of its bucket, or a guess within its bounds.
  void choose_dims(const DimMap& known) {
    for (const auto& [name, bucket] : options_.buckets) {
      const auto found = dag_.variables().find(name);
      if (found == dag_.variables().end()) throw Error(cat("compile: a bucket for '", name, "', which is no dim of the graph"));
      const Interval bounds = found->second.declared_bounds();
      if (bucket.low > bucket.high || (bounds.low && bucket.high < *bounds.low) || (bounds.high && bucket.low > *bounds.high))
        throw Error(cat("compile: the bucket [", bucket.low, ", ", bucket.high, "] of '", name, "' holds no value it can have"));
    }
    for (const auto& [name, variable] : dag_.variables()) {
      const Interval bounds = variable.declared_bounds();
      std::int64_t value = 128;
      if (const auto asked = options_.tune_dims.find(name); asked != options_.tune_dims.end())
        value = asked->second;
      else if (const auto found = known.find(name); found != known.end())
        value = found->second;
      else if (const auto bucket = options_.buckets.find(name); bucket != options_.buckets.end())
        value = bucket->second.high;
      if (bounds.low) value = std::max(value, *bounds.low);
      if (bounds.high) value = std::min(value, *bounds.high);
      dims_.emplace(name, value);
    }
  }

  /// What nodes and views need of the dims is tested before runs.
  void collect_checks() {
    std::set<std::string> seen;
    const auto add = [&](const Expr& holds, const std::string& problem, Location where) {
      if (holds != Expr(1) && seen.insert(holds.text() + problem).second) assembler_.add_check({holds, problem, where});
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
    for (const auto& [name, bucket] : options_.buckets) {
      const Expr& dim = dag_.variables().find(name)->second;
      add(Expr::logical_and(Expr::less_equal(bucket.low, dim), Expr::less_equal(dim, bucket.high)),
          cat("run: '", name, "' is outside of the bucket [", bucket.low, ", ", bucket.high, "] it was compiled for"), {});
    }
  }

  /// Everything that is wanted of the algebraic part of the graph, as one region.
  void compile_regions() {
    rewriting::Region region;
    std::vector<BufferId> sources;
    std::vector<NodeId> boundaries;
    std::map<OutputId, std::size_t> number;
    const auto order = execution_order(dag_, dag_.roots());
    for (const auto id : order) {
      const Node& node = dag_.node(id);
      if (!rewriting::is_boundary(node.op)) continue;
      const bool is_source = node.op == Op::input || node.op == Op::state;
      if (!is_source) boundaries.push_back(id);
      for (std::uint32_t k = 0; k < node.outputs.size(); ++k) {
        number.emplace(OutputId{id, k}, region.sources.size());
        region.sources.push_back({{id, k}, node.op == Op::state && !dag_.assignments().contains(id)});
      }
    }
    // What boundary ops read, then what the user wants.
    std::vector<std::pair<NodeId, std::size_t>> reads;  // boundary op, its first value among `wanted`
    for (const auto id : boundaries) {
      reads.emplace_back(id, region.wanted.size());
      for (const auto& input : dag_.node(id).inputs) region.wanted.push_back(input);
    }
    const std::size_t first_output = region.wanted.size();
    std::vector<Value> outputs = dag_.outputs();
    for (const auto& [place, unused] : dag_.kept()) outputs.push_back(dag_.whole(place.first, place.second));
    for (const auto& value : outputs) region.wanted.push_back(value);
    const std::size_t first_state = region.wanted.size();
    for (const auto& [state, value] : dag_.assignments()) region.wanted.push_back(value);

    search::Roofline oracle;
    const CompiledRegion compiled = compile_region(dag_, region, options_, oracle, dims_, reports_);
    const auto buffers = assemble(compiled, region, reads);
    for (std::size_t k = 0; k < outputs.size(); ++k) assembler_.add_output(outputs[k], buffers[first_output + k]);
    std::size_t at = first_state;
    for (const auto& [state, value] : dag_.assignments()) assembler_.assign(state, buffers[at++]);
  }

  /// Boundary ops and kernels, in one list of steps. A boundary op's outputs get their buffers first, since kernels
  /// read them; its inputs are known when the kernels are.
  std::vector<BufferId> assemble(const CompiledRegion& compiled, const rewriting::Region& region,
                                 const std::vector<std::pair<NodeId, std::size_t>>& reads) {
    std::map<NodeId, std::vector<BufferId>> made;
    std::vector<BufferId> sources;
    for (const auto& source : region.sources) {
      const NodeId id = source.place.first;
      const Op op = dag_.node(id).op;
      if (op == Op::input || op == Op::state) {
        sources.push_back(assembler_.source(id));
        continue;
      }
      auto found = made.find(id);
      if (found == made.end()) found = made.emplace(id, assembler_.add_outputs(id)).first;
      sources.push_back(found->second[source.place.second]);
    }
    auto buffers = assembler_.add_region(compiled, sources);
    for (const auto& [id, first] : reads) {
      const std::size_t count = dag_.node(id).inputs.size();
      const std::vector<BufferId> inputs(buffers.begin() + static_cast<std::ptrdiff_t>(first),
                                         buffers.begin() + static_cast<std::ptrdiff_t>(first + count));
      assembler_.add_host(id, inputs, made.contains(id) ? made.at(id) : std::vector<BufferId>{});
    }
    return buffers;
  }

  void print_sources(runtime::Plan& plan) {
    const auto machine = device_->machine();
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
      auto& kernel = plan.kernels[k];
      kernel.schedule = codegen::default_schedule(kernel.kernel, machine, dims_);
      kernel.source = codegen::print_kernel(kernel.kernel, device_->dialect(), kernel.schedule, cat("luminal_kernel_", k));
    }
  }

  Dag dag_;
  std::shared_ptr<runtime::Device> device_;
  const CompileOptions& options_;
  Assembler assembler_;
  DimMap dims_;
  std::vector<StageReport> reports_;
};

}  // namespace

Executable compile(const Graph& graph, std::shared_ptr<runtime::Device> device, const CompileOptions& options,
                   Location where) {
  if (!device) throw Error("compile: no device", where);
  auto data = std::make_shared<ExecutableData>(graph);
  Pipeline pipeline(graph.dag(), device, options, graph.dims(), data->sink());
  Assembled assembled = pipeline.run();
  data->reports = pipeline.take_reports();
  const auto start = std::chrono::steady_clock::now();
  data->sources = std::move(assembled.sources);
  data->outputs = std::move(assembled.outputs);
  data->written = std::move(assembled.written);
  data->runner = std::make_unique<runtime::Runner>(
      std::move(device), std::make_shared<const runtime::Plan>(std::move(assembled.plan)));
  report(data->reports, "load", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (options.sink)
    for (const auto& stage : data->reports)
      options.sink(cat(stage.name, ": ", static_cast<std::int64_t>(stage.seconds * 1e6), " us",
                       stage.detail.empty() ? "" : " (" + stage.detail + ")"));
  return Executable(std::move(data));
}

}  // namespace luminal
