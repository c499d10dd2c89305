#include "luminal/compile/traits.h"

#include <algorithm>
#include <cmath>

#include "luminal/codegen/nest.h"
#include "luminal/kernel/structure.h"

namespace luminal {
namespace {

using kernel::Kernel;
using kernel::LoopId;
using kernel::ValueId;

/// What its stores are computed from.
struct Contents {
  std::size_t maps = 0;
  std::vector<const kernel::value::Load*> loads;
  std::vector<ValueId> reductions;
};

Contents contents_of(const Kernel& kernel) {
  std::vector<ValueId> roots;
  for (const auto& store : kernel.stores()) roots.push_back(store.value);
  const auto reached = kernel::reachable(kernel, roots);
  Contents result;
  for (std::size_t k = 0; k < reached.size(); ++k) {
    if (!reached[k]) continue;
    const auto& value = kernel.values()[k];
    if (const auto* load = value.try_get<kernel::value::Load>()) result.loads.push_back(load);
    if (value.try_get<kernel::value::Map>() != nullptr) ++result.maps;
    if (value.try_get<kernel::value::Reduce>() != nullptr) result.reductions.emplace_back(k);
  }
  return result;
}

/// Whether it is more than a sum of multiples of coordinates.
bool is_bent(const Expr& e) {
  switch (e.kind()) {
    case Expr::Kind::constant:
    case Expr::Kind::variable:
      return false;
    case Expr::Kind::add:
    case Expr::Kind::mul: {
      const auto operands = e.operands();
      return std::any_of(operands.begin(), operands.end(), is_bent);
    }
    default:
      return true;
  }
}

/// Whether points that follow each other along the loop read elements that do, or one.
bool follows(const Kernel& kernel, const kernel::value::Load& load, LoopId loop) {
  const Expr variable = kernel.variable(loop);
  for (std::size_t axis = 0; axis < load.index.size(); ++axis) {
    const Expr& place = load.index[axis];
    if (!kernel.free_of(place)[loop.index()]) continue;
    if (axis + 1 != load.index.size()) return false;
    const auto terms = place.kind() == Expr::Kind::add ? place.operands() : std::vector<Expr>{place};
    for (const auto& term : terms)
      if (term != variable && kernel.free_of(term)[loop.index()]) return false;
  }
  return true;
}

}  // namespace

Traits traits_of(const Kernel& kernel, const search::Estimate& prior, const search::MachineModel& machine,
                 const DimMap& dims) {
  const auto points = [&](const std::vector<LoopId>& loops) {
    return codegen::points_of(kernel, loops, dims);
  };
  const Contents contents = contents_of(kernel);
  bool nested = false;
  double reduced = 1;
  for (const auto id : contents.reductions) {
    reduced = std::max(reduced, points(kernel.value(id).try_get<kernel::value::Reduce>()->loops));
    if (nested) continue;
    const auto inside = kernel::inside(kernel, id);
    nested = std::any_of(contents.reductions.begin(), contents.reductions.end(),
                         [&](ValueId other) { return inside[other.index()]; });
  }
  constexpr double widest = 32;  // rows that are longer use all lanes anyway
  double row = widest;
  double stored = 1;
  bool scattered = false;
  for (const auto& store : kernel.stores()) {
    stored = std::max(stored, points(store.domain));
    const auto last = std::find_if(store.domain.rbegin(), store.domain.rend(),
                                   [&](LoopId loop) { return points({loop}) > 1; });
    if (last == store.domain.rend()) continue;
    row = std::min(row, points({*last}));
    for (const auto* load : contents.loads) scattered = scattered || !follows(kernel, *load, *last);
  }
  const bool bent = std::any_of(contents.loads.begin(), contents.loads.end(), [](const auto* load) {
    return std::any_of(load->index.begin(), load->index.end(), is_bent);
  });
  Traits traits = {std::log(std::max(prior.seconds / machine.launch, 1e-3)),
                   std::log(stored),
                   std::log(reduced),
                   std::log1p(static_cast<double>(contents.reductions.size())),
                   0.5 * std::log(std::max(1e-3, prior.operations / std::max(1.0, prior.bytes))),
                   std::log2(row),
                   std::log1p(static_cast<double>(contents.maps)),
                   std::log1p(static_cast<double>(contents.loads.size())),
                   nested ? 1.0 : 0.0,
                   bent ? 1.0 : 0.0,
                   scattered ? 1.0 : 0.0,
                   kernel.stores().size() > 1 ? 1.0 : 0.0};
  for (std::size_t family = 0; family < search::family_count; ++family)
    traits.push_back(family == static_cast<std::size_t>(prior.family) ? 1 : 0);
  return traits;
}

}  // namespace luminal
