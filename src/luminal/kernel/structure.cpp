#include "luminal/kernel/structure.h"

#include <algorithm>

namespace luminal::kernel {
namespace {

/// Marks what is reached from `roots` through values for which `enter` holds, and not as what guards guard
/// where `guards` holds of it.
template <typename Enter, typename Guards>
ValueSet reached(const Kernel& kernel, std::span<const ValueId> roots, Enter enter, Guards guards) {
  ValueSet seen(kernel.values().size());
  std::vector<ValueId> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (seen[id.index()] || !enter(id)) continue;
    seen[id.index()] = true;
    const auto* guard = kernel.value(id).try_get<value::Guard>();
    for (const auto operand : operands(kernel, id))
      if (guard == nullptr || operand != guard->argument || !guards(operand)) open.push_back(operand);
  }
  return seen;
}

constexpr auto always = [](ValueId) { return true; };
constexpr auto never = [](ValueId) { return false; };

const value::Reduce* reduction_at(const Kernel& kernel, std::size_t index) {
  return kernel.values()[index].try_get<value::Reduce>();
}

std::vector<ValueId> reductions_in(const Kernel& kernel, const ValueSet& set) {
  std::vector<ValueId> found;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const auto* reduce = set[k] ? reduction_at(kernel, k) : nullptr;
    if (reduce != nullptr && !reduce->loops.empty()) found.emplace_back(k);
  }
  return found;
}

/// Those of `reductions` that lie inside no other of them.
std::vector<ValueId> outermost(const Kernel& kernel, const std::vector<ValueId>& reductions) {
  ValueSet nested(kernel.values().size());
  for (const auto id : reductions) {
    const ValueSet within = inside(kernel, id);
    for (std::size_t k = 0; k < within.size(); ++k)
      if (within[k]) nested[k] = true;
  }
  std::vector<ValueId> outer;
  for (const auto id : reductions)
    if (!nested[id.index()]) outer.push_back(id);
  return outer;
}

const std::vector<LoopId>& loops_of(const Kernel& kernel, ValueId reduction) {
  return reduction_at(kernel, reduction.index())->loops;
}

/// Groups reductions (in order of their ids, so operands come first) into sweeps.
std::vector<Sweep> in_order(const Kernel& kernel, std::vector<ValueId> left) {
  std::vector<ValueSet> needs(kernel.values().size());
  for (const auto id : left) needs[id.index()] = reachable(kernel, operands(kernel, id));
  std::vector<Sweep> sweeps;
  while (!left.empty()) {
    const auto is_ready = [&](ValueId id) {
      return std::none_of(left.begin(), left.end(),
                          [&](ValueId other) { return other != id && needs[id.index()][other.index()]; });
    };
    std::vector<ValueId> ready;
    std::copy_if(left.begin(), left.end(), std::back_inserter(ready), is_ready);
    const LoopSet loops = set_of(loops_of(kernel, ready.front()));
    Sweep sweep{loops_of(kernel, ready.front()), {}};
    for (const auto id : ready)
      if (set_of(loops_of(kernel, id)) == loops) sweep.reductions.push_back(id);
    std::erase_if(left, [&](ValueId id) {
      return std::find(sweep.reductions.begin(), sweep.reductions.end(), id) != sweep.reductions.end();
    });
    sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

}  // namespace

LoopSet set_of(std::span<const LoopId> loops) {
  LoopSet set;
  for (const auto loop : loops) set.set(loop.index());
  return set;
}

ValueSet reachable(const Kernel& kernel, std::span<const ValueId> roots) {
  return reached(kernel, roots, always, never);
}

ValueSet unguarded(const Kernel& kernel, std::span<const ValueId> roots) {
  return reached(kernel, roots, always, always);
}

ValueSet unguarded(const Kernel& kernel, std::span<const ValueId> roots, const ValueSet& guarded) {
  return reached(kernel, roots, always, [&](ValueId id) { return guarded[id.index()]; });
}

ValueSet inside(const Kernel& kernel, ValueId reduction) {
  const auto* reduce = reduction_at(kernel, reduction.index());
  const LoopSet loops = set_of(reduce->loops);
  return reached(
      kernel, reduce->arguments, [&](ValueId id) { return (kernel.value(id).free & loops).any(); }, never);
}

bool reads_outside(const Kernel& kernel, ValueId id) {
  if (kernel.value(id).try_get<value::Position>() != nullptr) return true;
  const auto* load = kernel.value(id).try_get<value::Load>();
  if (load == nullptr) return false;
  const Shape& shape = kernel.inputs()[load->input].shape;
  for (std::size_t axis = 0; axis < load->index.size(); ++axis)
    if (!prove_le(Expr(0), load->index[axis]) || !prove_lt(load->index[axis], shape[axis])) return true;
  return false;
}

bool leaves_arrays(const Kernel& kernel, ValueId id) {
  const ValueSet own = unguarded(kernel, std::span(&id, 1));
  for (std::size_t k = 0; k < own.size(); ++k)
    if (own[k] && reads_outside(kernel, ValueId(k))) return true;
  return false;
}

bool needs_guards(const Kernel& kernel, std::span<const ValueId> roots, ValueId id) {
  return !unguarded(kernel, roots)[id.index()] && leaves_arrays(kernel, id);
}

std::vector<Sweep> sweeps_of(const Kernel& kernel, std::span<const ValueId> roots, const LoopSet& within) {
  const ValueSet set = reached(
      kernel, roots, [&](ValueId id) { return within.none() || (kernel.value(id).free & within).any(); },
      never);
  return in_order(kernel, outermost(kernel, reductions_in(kernel, set)));
}

Structure analyse(const Kernel& kernel, std::span<const ValueId> roots, std::span<const LoopId> domain) {
  const std::vector<ValueId> all = reductions_in(kernel, reachable(kernel, roots));
  const std::vector<ValueId> outer = outermost(kernel, all);
  Structure structure;
  for (const auto loop : domain) {
    const bool common = std::all_of(outer.begin(), outer.end(),
                                    [&](ValueId id) { return kernel.value(id).free.test(loop.index()); });
    (common ? structure.grid : structure.covered).push_back(loop);
  }
  for (const auto id : all)
    if (std::find(outer.begin(), outer.end(), id) == outer.end()) structure.nested.push_back(id);
  structure.sweeps = in_order(kernel, outer);
  return structure;
}

}  // namespace luminal::kernel
