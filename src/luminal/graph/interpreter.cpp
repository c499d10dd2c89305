#include "luminal/graph/interpreter.h"

#include <chrono>
#include <set>

#include "luminal/graph/custom.h"
#include "luminal/graph/effects.h"
#include "luminal/graph/evaluate.h"
#include "luminal/graph/text.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// One run: the arrays that exist, and how many readers each still has.
class Run {
 public:
  Run(const Dag& dag, const Environment& environment) : dag_(dag), environment_(environment) {}

  std::map<OutputId, Array> go(const std::vector<OutputId>& wanted, bool effects) {
    const auto order = execution_order(dag_, starting_points(wanted, effects));
    const std::set<OutputId> stay(wanted.begin(), wanted.end());
    for (const auto id : order)
      for (const auto& input : dag_.node(id).inputs) ++readers_[{input.node, input.output}];
    for (const auto id : order) {
      step(id);
      for (const auto& input : dag_.node(id).inputs) release({input.node, input.output}, stay);
      for (std::uint32_t k = 0; k < dag_.node(id).outputs.size(); ++k)
        if (readers_[{id, k}] == 0 && !stay.contains({id, k})) arrays_.erase({id, k});
    }
    return std::move(arrays_);
  }

 private:
  std::vector<NodeId> starting_points(const std::vector<OutputId>& wanted, bool effects) const {
    std::vector<NodeId> roots;
    for (const auto& [node, output] : wanted) roots.push_back(node);
    if (effects)
      for (const auto id : dag_.nodes())
        if (has_effect(dag_.node(id).op)) roots.push_back(id);
    return roots;
  }

  void release(const OutputId& place, const std::set<OutputId>& stay) {
    if (--readers_[place] == 0 && !stay.contains(place)) arrays_.erase(place);
  }

  void step(NodeId id) {
    const Node& node = dag_.node(id);
    const auto start = std::chrono::steady_clock::now();
    for (const auto& check : node.checks)
      if (check.holds.eval(environment_.dims) == 0) throw Error(cat(check.problem, dims_text()), node.where);
    std::vector<Array> results;
    try {
      results = compute(id, node);
    } catch (const Error& error) {
      if (error.where().known()) throw;
      throw Error(error.problem(), node.where);
    }
    if (environment_.trace) trace(id, results, start);
    for (std::uint32_t k = 0; k < results.size(); ++k) arrays_[{id, k}] = std::move(results[k]);
  }

  std::string dims_text() const {
    std::string text;
    for (const auto& [name, value] : environment_.dims)
      text += cat(text.empty() ? " (with " : ", ", name, " = ", value);
    return text.empty() ? "" : text + ")";
  }

  std::vector<Array> compute(NodeId id, const Node& node) {
    if (node.op == Op::input || node.op == Op::state) return {loaded(id, node)};
    std::vector<BoundInput> operands;
    operands.reserve(node.inputs.size());
    for (const auto& input : node.inputs) {
      const Array& array = arrays_.at({input.node, input.output});
      operands.push_back({array, BoundView(input.view, environment_.dims, array.dtype())});
    }
    if (node.op == Op::custom) return custom(node);
    if (has_effect(node.op)) {
      run_effect(node, materialise(operands[0].array, node.inputs[0].view, environment_.dims),
                 environment_.sink);
      return {};
    }
    return evaluate(node, operands, environment_.dims);
  }

  Array loaded(NodeId id, const Node& node) const {
    const Array array = environment_.load(id).contiguous();
    const auto dims = node.outputs[0].shape.eval(environment_.dims);
    if (array.dtype() != node.outputs[0].dtype || array.dims() != dims)
      throw Error(cat(node.op, " '", node.name, "' holds ", array.dtype(), "[", join(array.dims()),
                      "], expected ", node.outputs[0].dtype, "[", join(dims), "]", dims_text()),
                  node.where);
    return array;
  }

  std::vector<Array> custom(const Node& node) const {
    std::vector<Array> inputs;
    for (const auto& input : node.inputs)
      inputs.push_back(materialise(arrays_.at({input.node, input.output}), input.view, environment_.dims));
    return run_custom(node, inputs, environment_.dims);
  }

  void trace(NodeId id, const std::vector<Array>& results,
             std::chrono::steady_clock::time_point start) const {
    if (!environment_.sink) return;
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    std::string shapes;
    for (const auto& array : results)
      shapes += cat(shapes.empty() ? "" : ", ", array.dtype(), "[", join(array.dims()), "]");
    environment_.sink(cat(print_node(dag_, id), "  => ", shapes.empty() ? "()" : shapes, "  ",
                          static_cast<std::int64_t>(took.count()), " us"));
  }

  const Dag& dag_;
  const Environment& environment_;
  std::map<OutputId, Array> arrays_;
  std::map<OutputId, std::size_t> readers_;
};

}  // namespace

std::map<OutputId, Array> interpret(const Dag& dag, const Environment& environment,
                                    const std::vector<OutputId>& wanted, bool effects) {
  return Run(dag, environment).go(wanted, effects);
}

Array materialise(const Array& array, const View& view, const DimMap& dims) {
  Array source = array.contiguous();
  if (view.movements().empty()) return source;
  const BoundInput operand{source, BoundView(view, dims, array.dtype())};
  Array result(array.dtype(), operand.view.dims());
  Odometer place(result.dims());
  for (std::int64_t i = 0; i < result.size(); ++i, place.step())
    result.set(i, operand.at(place.coordinates()));
  return result;
}

}  // namespace luminal
