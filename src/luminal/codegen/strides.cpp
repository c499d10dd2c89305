#include "luminal/codegen/strides.h"

#include <map>

#include "luminal/kernel/structure.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::ValueId;
namespace value = kernel::value;

namespace {

Expr substituted(const kernel::Kernel& kernel, const Expr& offset, const std::vector<LoopId>& loops,
                 const Expr& flat) {
  std::map<std::string, Expr, std::less<>> places;
  Expr divisor(1);
  for (std::size_t k = loops.size(); k-- > 0;) {
    const Expr extent = kernel.loop(loops[k]).extent;
    const Expr quotient = flat / divisor;
    places.emplace(cat("i", loops[k].value()), k == 0 ? quotient : quotient % extent);
    divisor = divisor * extent;
  }
  return offset.substitute(places);
}

}  // namespace

Expr flat_index(const std::vector<Expr>& index, const Shape& shape) {
  const std::vector<Expr> strides = shape.contiguous_strides();
  Expr offset(0);
  for (std::size_t axis = 0; axis < index.size(); ++axis) offset = offset + index[axis] * strides[axis];
  return offset;
}

std::optional<Expr> step_along(const kernel::Kernel& kernel, const Expr& offset, LoopId loop, int lanes) {
  for (const auto position : kernel::positions_of(offset))
    if (kernel.value(position).free.test(loop.index())) return std::nullopt;
  const std::string name = cat("i", loop.value());
  Expr direct = offset.substitute({{name, kernel.variable(loop) + Expr(1)}}) - offset;
  if (!direct.depends_on(name)) return direct;
  if (lanes == 1) return std::nullopt;
  // With dims of unknown size a proof can take long, and seldom succeeds.
  for (const auto& variable : offset.variables())
    if (!variable.coordinate_axis()) return std::nullopt;
  // The loop goes in steps of whole vectors from 0: what is linear within each of them is enough.
  const Expr block = Expr::coordinate(999'998, Expr::ceil_div(kernel.loop(loop).extent, Expr(lanes)));
  const Expr lane = Expr::coordinate(999'999, Expr(lanes));
  const Expr first = offset.substitute({{name, block * Expr(lanes)}});
  const Expr any = offset.substitute({{name, block * Expr(lanes) + lane}}).simplify();
  for (const std::int64_t candidate : {1, 0})
    if (prove_eq(any, first + Expr(candidate) * lane)) return Expr(candidate);
  return std::nullopt;
}

std::optional<Lines> lines_of(const kernel::Kernel& kernel, const Expr& offset,
                              const std::vector<LoopId>& across, const std::vector<LoopId>& along) {
  if (!kernel::positions_of(offset).empty()) return std::nullopt;
  const auto flat = [&](std::size_t axis, const std::vector<LoopId>& loops) {
    Expr count(1);
    for (const auto loop : loops) count = count * kernel.loop(loop).extent;
    return Expr::coordinate(axis, count);
  };
  const Expr row = flat(999'996, across);
  const Expr column = flat(999'997, along);
  const Expr place = substituted(kernel, substituted(kernel, offset, across, row), along, column);
  const auto step = [&](const Expr& variable) -> Expr {
    return place.substitute({{std::string(variable.name()), variable + Expr(1)}}) - place;
  };
  const Expr stride = step(row);
  const Expr unit = step(column);
  if (unit != Expr(1) && !along.empty()) return std::nullopt;
  if (stride.depends_on(row.name()) || stride.depends_on(column.name())) return std::nullopt;
  const Expr offset_at_origin = place.substitute(std::map<std::string, Expr, std::less<>>{
      {std::string(row.name()), Expr(0)}, {std::string(column.name()), Expr(0)}});
  return Lines{offset_at_origin, stride};
}

int lanes_gain(const kernel::Kernel& kernel, LoopId loop, const std::vector<ValueId>& roots, int lanes) {
  int gain = 0;
  const kernel::ValueSet set = kernel::reachable(kernel, roots);
  kernel::ValueSet repeated(set.size());  // inside reductions: at many points for each of the roots'
  for (std::size_t k = 0; k < set.size(); ++k) {
    if (!set[k] || kernel.values()[k].try_get<value::Reduce>() == nullptr) continue;
    const kernel::ValueSet within = kernel::inside(kernel, ValueId(k));
    for (std::size_t v = 0; v < within.size(); ++v)
      if (within[v]) repeated[v] = true;
  }
  for (std::size_t k = 0; k < set.size(); ++k) {
    if (!set[k] || !kernel.values()[k].free.test(loop.index())) continue;
    if (kernel.values()[k].try_get<value::Random>() != nullptr) gain += 1;
    const auto* load = kernel.values()[k].try_get<value::Load>();
    if (load == nullptr) continue;
    const auto step =
        step_along(kernel, flat_index(load->index, kernel.inputs()[load->input].shape), loop, lanes);
    gain += (step && *step == Expr(1) ? 4 : step && *step == Expr(0) ? 1 : -3) * (repeated[k] ? 4 : 1);
  }
  return gain;
}

std::optional<LoopId> best_lanes(const kernel::Kernel& kernel, const std::vector<LoopId>& candidates,
                                 const std::vector<ValueId>& roots, int lanes) {
  std::optional<LoopId> best;
  int gained = 0;
  for (const auto loop : candidates) {
    const auto extent = kernel.loop(loop).extent.constant_value();
    if (extent && *extent < lanes) continue;
    const int gain = lanes_gain(kernel, loop, roots, lanes);
    if (gain > gained) {
      best = loop;
      gained = gain;
    }
  }
  return best;
}

}  // namespace luminal::codegen
