#include "luminal/kernel/merge_loops.h"

#include <algorithm>
#include <map>
#include <optional>

#include "luminal/support/text.h"

namespace luminal::kernel {
namespace {

/// Divisions and remainders in an expression.
int divisions(const Expr& e) {
  int count =
      e.kind() == Expr::Kind::div || e.kind() == Expr::Kind::mod || e.kind() == Expr::Kind::ceil_div ? 1 : 0;
  if (e.is_constant() || e.kind() == Expr::Kind::variable) return count;
  for (const auto& operand : e.operands()) count += divisions(operand);
  return count;
}

/// Where `outer` directly before `inner` stands, both are replaced by `merged`. Neither may stand without the
/// other.
bool replace(std::vector<LoopId>& loops, LoopId outer, LoopId inner, LoopId merged) {
  const auto first = std::find(loops.begin(), loops.end(), outer);
  const bool has_inner = std::find(loops.begin(), loops.end(), inner) != loops.end();
  if (first == loops.end()) return !has_inner;
  if (first + 1 == loops.end() || *(first + 1) != inner) return false;
  *first = merged;
  loops.erase(first + 1);
  return true;
}

/// One loop for the two; nullopt if a reduction or store has one alone, or an index would become more
/// complex.
std::optional<Kernel> merged(const Kernel& kernel, LoopId outer, LoopId inner) {
  Kernel result;
  for (const auto& loop : kernel.loops()) result.add_loop(loop.extent);
  for (const auto& input : kernel.inputs()) result.add_input(input);
  for (const auto& output : kernel.outputs()) result.add_output(output);
  const Expr width = kernel.loop(inner).extent;
  const LoopId both = result.add_loop(kernel.loop(outer).extent * width);
  const Expr flat = result.variable(both);
  const std::map<std::string, Expr, std::less<>> places = {{cat("i", outer.value()), flat / width},
                                                           {cat("i", inner.value()), flat % width}};
  bool simple = true;
  const auto at = [&](const Expr& e) {
    const Expr changed = e.is_constant() ? e : e.substitute(places);
    simple = simple && divisions(changed) <= divisions(e);
    return changed;
  };
  std::vector<ValueId> renamed;
  for (const auto& old : kernel.values()) {
    ValueKind kind = old.kind;
    const auto rename = [&](ValueId& id) { id = renamed[id.index()]; };
    if (auto* load = std::get_if<value::Load>(&kind)) {
      // What counts is the place in memory: a row's and a column's index may meet in it.
      for (auto& e : load->index) e = e.is_constant() ? e : e.substitute(places);
      const auto strides = kernel.inputs()[load->input].shape.contiguous_strides();
      Expr before(0);
      Expr after(0);
      for (std::size_t axis = 0; axis < strides.size(); ++axis) {
        before = before + std::get<value::Load>(old.kind).index[axis] * strides[axis];
        after = after + load->index[axis] * strides[axis];
      }
      simple = simple && divisions(after) <= divisions(before);
    } else if (auto* index = std::get_if<value::Index>(&kind)) {
      index->value = at(index->value);
    } else if (auto* map = std::get_if<value::Map>(&kind)) {
      for (auto& id : map->arguments) rename(id);
    } else if (auto* guard = std::get_if<value::Guard>(&kind)) {
      for (auto& condition : guard->conditions) condition.valid = at(condition.valid);
      rename(guard->argument);
    } else if (auto* reduce = std::get_if<value::Reduce>(&kind)) {
      if (!replace(reduce->loops, outer, inner, both)) return std::nullopt;
      for (auto& id : reduce->arguments) rename(id);
    } else if (auto* random = std::get_if<value::Random>(&kind)) {
      random->position = at(random->position);
      rename(random->key);
    } else if (std::get_if<value::Constant>(&kind) == nullptr) {
      return std::nullopt;  // scans and Positions
    }
    if (!simple) return std::nullopt;
    renamed.push_back(result.add(std::move(kind), old.dtype));
  }
  for (Store store : kernel.stores()) {
    if (!replace(store.domain, outer, inner, both)) return std::nullopt;
    const auto strides = kernel.outputs()[store.output].shape.contiguous_strides();
    Expr before(0);
    Expr after(0);
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
      before = before + store.index[axis] * strides[axis];
      store.index[axis] =
          store.index[axis].is_constant() ? store.index[axis] : store.index[axis].substitute(places);
      after = after + store.index[axis] * strides[axis];
    }
    if (divisions(after) > divisions(before)) return std::nullopt;
    store.value = renamed[store.value.index()];
    result.add_store(std::move(store));
  }
  return result;
}

std::optional<Kernel> step(const Kernel& kernel) {
  if (kernel.loops().size() + 1 > max_loops) return std::nullopt;
  std::vector<std::vector<LoopId>> orders;
  for (const auto& store : kernel.stores()) orders.push_back(store.domain);
  for (const auto& v : kernel.values())
    if (const auto* reduce = v.try_get<value::Reduce>()) orders.push_back(reduce->loops);
  for (const auto& loops : orders)
    for (std::size_t k = 0; k + 1 < loops.size(); ++k)
      if (auto result = merged(kernel, loops[k], loops[k + 1])) return result;
  return std::nullopt;
}

}  // namespace

Kernel merge_loops(const Kernel& kernel) {
  Kernel result = kernel;
  const bool has_places = std::any_of(kernel.values().begin(), kernel.values().end(), [](const Value& v) {
    return v.try_get<value::Position>() != nullptr || v.try_get<value::Scan>() != nullptr;
  });
  if (has_places) return result;
  while (auto next = step(result)) result = std::move(*next);
  return result;
}

}  // namespace luminal::kernel
