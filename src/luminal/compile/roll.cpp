#include "luminal/compile/roll.h"

#include <algorithm>
#include <map>

#include "luminal/graph/text.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

bool is_free(Op op) {
  return op == Op::input || op == Op::state || op == Op::constant || op == Op::iota;
}

/// What a node is, but for which nodes it reads.
std::uint64_t signature(const Dag& dag, NodeId id) {
  const Node& node = dag.node(id);
  Hash hash(static_cast<std::uint64_t>(node.op));
  hash.add(node.attribute.index());
  if (const auto* reduce = node.try_get<attribute::Reduce>()) hash.add(reduce->axes);
  if (const auto* axis = node.try_get<attribute::Axis>()) hash.add(axis->axis);
  for (const auto& type : node.outputs)
    hash.add(static_cast<std::uint64_t>(type.dtype)).add(type.shape.hash());
  for (const auto& input : node.inputs) {
    hash.add(input.output).add(input.view.hash());
    hash.add(static_cast<std::uint64_t>(dag.node(input.node).op));
  }
  return hash.value();
}

struct Run {
  std::size_t start = 0;
  std::size_t period = 0;
  std::size_t length = 0;  // positions from `start` on that repeat with the period
};

/// The run that covers most, of at least three periods; of equal ones the shortest period.
Run longest_run(const std::vector<std::uint64_t>& signs) {
  const std::size_t count = signs.size();
  std::map<std::uint64_t, std::vector<std::size_t>> places;
  for (std::size_t k = 0; k < count; ++k) places[signs[k]].push_back(k);
  std::map<std::size_t, std::size_t> distances;
  for (const auto& [sign, at] : places)
    for (std::size_t k = 1; k < at.size(); ++k) ++distances[at[k] - at[k - 1]];
  Run best;
  for (const auto& [period, times] : distances) {
    if (period < 8 || period * 3 > count || times < period / 4) continue;
    std::size_t same = 0;
    for (std::size_t k = period; k <= count; ++k) {
      if (k < count && signs[k] == signs[k - period]) {
        ++same;
        continue;
      }
      if (same >= 2 * period && same + period > best.length)
        best = {k - same - period, period, same + period};
      same = 0;
    }
  }
  return best;
}

double bytes_of(const TensorType& type) {
  double result = static_cast<double>(byte_size(type.dtype));
  for (const auto& dim : type.shape) result *= static_cast<double>(dim.constant_value().value_or(128));
  return result;
}

/// The shift of the cuts, within one period, across which the fewest bytes live.
std::size_t best_shift(const Dag& dag, const std::vector<NodeId>& nodes, const Run& run) {
  std::map<NodeId, std::size_t> position;
  for (std::size_t k = 0; k < nodes.size(); ++k) position.emplace(nodes[k], k);
  // Live across a cut before position k: made before it, read at it or later. Counted for the second period.
  std::vector<double> change(nodes.size() + 1, 0);
  std::map<NodeId, std::size_t> last;
  for (std::size_t k = 0; k < nodes.size(); ++k)
    for (const auto& input : dag.node(nodes[k]).inputs)
      if (position.contains(input.node)) last[input.node] = k;
  for (const auto& [node, end] : last) {
    double bytes = 0;
    for (const auto& type : dag.node(node).outputs) bytes += bytes_of(type);
    change[position.at(node) + 1] += bytes;
    change[end + 1] -= bytes;
  }
  double live = 0;
  double best = -1;
  std::size_t shift = 0;
  for (std::size_t k = 0; k <= nodes.size(); ++k) {
    live += change[k];
    if (k < run.start + run.period || k >= run.start + 2 * run.period) continue;
    if (best < 0 || live < best) {
      best = live;
      shift = k - run.start - run.period;
    }
  }
  return shift;
}

}  // namespace

std::vector<std::vector<NodeId>> roll_layers(const Dag& dag, const std::vector<NodeId>& order) {
  std::vector<NodeId> nodes;
  for (const auto id : order)
    if (!is_free(dag.node(id).op)) nodes.push_back(id);
  std::vector<std::uint64_t> signs;
  for (const auto id : nodes) signs.push_back(signature(dag, id));
  std::vector<std::size_t> cuts = {0};
  // Forward, backward and updates repeat each in their own way: look again in what is left.
  std::vector<std::pair<std::size_t, std::size_t>> open = {{0, nodes.size()}};
  // Layers have sums in them. What is element-wise throughout (an optimiser's updates) is better kept
  // together: it shares kernels.
  const auto sums_in = [&](std::size_t from, std::size_t to) {
    return std::any_of(nodes.begin() + static_cast<std::ptrdiff_t>(from),
                       nodes.begin() + static_cast<std::ptrdiff_t>(to),
                       [&](NodeId id) { return dag.node(id).op == Op::reduce_sum; });
  };
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    const std::vector<std::uint64_t> part(signs.begin() + static_cast<std::ptrdiff_t>(begin),
                                          signs.begin() + static_cast<std::ptrdiff_t>(end));
    Run run = longest_run(part);
    if (run.length == 0) continue;
    run.start += begin;
    if (!sums_in(run.start, run.start + run.period)) {
      open.emplace_back(begin, run.start);
      open.emplace_back(run.start + run.length, end);
      continue;
    }
    const std::size_t first = run.start + best_shift(dag, nodes, run);
    std::size_t at = first;
    for (; at + run.period <= run.start + run.length; at += run.period) cuts.push_back(at);
    cuts.push_back(at);
    open.emplace_back(begin, first);
    open.emplace_back(at, end);
  }
  cuts.push_back(nodes.size());
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<std::vector<NodeId>> parts;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k)
    parts.emplace_back(nodes.begin() + static_cast<std::ptrdiff_t>(cuts[k]),
                       nodes.begin() + static_cast<std::ptrdiff_t>(cuts[k + 1]));
  if (parts.empty()) parts.emplace_back();
  return parts;
}

}  // namespace luminal
