#include "luminal/codegen/contract.h"

#include <algorithm>

#include "luminal/codegen/nest.h"
#include "luminal/codegen/strides.h"
#include "luminal/kernel/structure.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::LoopSet;
using kernel::ValueId;
namespace value = kernel::value;

namespace {

std::vector<LoopId> in_order(const std::vector<LoopId>& domain, const LoopSet& set) {
  std::vector<LoopId> loops;
  for (const auto loop : domain)
    if (set.test(loop.index())) loops.push_back(loop);
  return loops;
}

/// The loop along which the store's places are neighbours.
std::optional<LoopId> contiguous_loop(const kernel::Kernel& kernel, const kernel::Store& store) {
  const Expr offset = flat_index(store.index, kernel.outputs()[store.output].shape);
  for (const auto loop : store.domain)
    if (const auto step = step_along(kernel, offset, loop, 1); step && *step == Expr(1)) return loop;
  return std::nullopt;
}

bool is_one(const kernel::Kernel& kernel, LoopId loop) {
  return kernel.loop(loop).extent == Expr(1);
}

/// The product that a reduction sums, if it is one of f32 or f64.
const value::Map* summed_product(const kernel::Kernel& kernel, ValueId id) {
  const kernel::Value& v = kernel.value(id);
  const auto* reduce = v.try_get<value::Reduce>();
  if (reduce->monoid != kernel::Monoid::sum || (v.dtype != DType::f32 && v.dtype != DType::f64))
    return nullptr;
  const auto* map = kernel.value(reduce->arguments[0]).try_get<value::Map>();
  return map != nullptr && map->op == Op::mul ? map : nullptr;
}

}  // namespace

std::optional<Contractions> contractions_of(const kernel::Kernel& kernel, const Nest& nest) {
  const kernel::Store& store = kernel.stores()[nest.stores.front()];
  if (nest.sequential || kernel.value(store.value).try_get<value::Scan>() != nullptr) return std::nullopt;
  LoopSet domain;
  for (const auto loop : store.domain)
    if (!is_one(kernel, loop)) domain.set(loop.index());
  const auto roots = roots_of(kernel, nest);
  const kernel::Structure structure = kernel::analyse(kernel, roots, store.domain);
  Contractions result;
  LoopSet left_only;
  LoopSet right_only;
  for (const auto& sweep : structure.sweeps) {
    for (const auto id : sweep.reductions) {
      const auto* product = summed_product(kernel, id);
      if (product == nullptr || (kernel.value(id).free & domain) != domain) continue;
      LoopSet depth = kernel::set_of(sweep.loops);
      const LoopSet a = kernel.value(product->arguments[0]).free;
      const LoopSet b = kernel.value(product->arguments[1]).free;
      if ((a & depth) != depth || (b & depth) != depth) continue;
      if (kernel::needs_guards(kernel, roots, id)) continue;  // tiles are computed whole
      Contraction found{id, product->arguments[0], product->arguments[1], sweep.loops};
      LoopSet only_a = a & ~b & domain;
      LoopSet only_b = b & ~a & domain;
      const auto contiguous = contiguous_loop(kernel, store);
      const bool first = result.sums.empty();
      if ((first && contiguous && only_a.test(contiguous->index())) || (!first && only_a == right_only)) {
        std::swap(found.left, found.right);
        std::swap(only_a, only_b);
      }
      if (only_b.none()) continue;
      if (first) {
        left_only = only_a;
        right_only = only_b;
      } else if (only_a != left_only || only_b != right_only) {
        continue;
      }
      result.sums.push_back(found);
    }
  }
  if (result.sums.empty()) return std::nullopt;
  // Few columns leave lanes empty: then the rows are the lanes.
  const auto points = [&](const LoopSet& loops) {
    Expr count(1);
    for (const auto loop : in_order(store.domain, loops)) count = count * kernel.loop(loop).extent;
    return count.constant_value();
  };
  const auto across = points(right_only);
  const auto down = points(left_only);
  if (across && *across < 16 && down && *down >= 2 * *across) {
    for (auto& sum : result.sums) std::swap(sum.left, sum.right);
    std::swap(left_only, right_only);
  }
  result.rows = in_order(store.domain, left_only);
  result.columns = in_order(store.domain, right_only);
  for (const auto loop : store.domain)
    if (!left_only.test(loop.index()) && !right_only.test(loop.index())) result.batch.push_back(loop);
  // Neighbouring places of the store are neighbouring lanes.
  if (const auto last = contiguous_loop(kernel, store); last && right_only.test(last->index())) {
    std::erase(result.columns, *last);
    result.columns.push_back(*last);
  }
  return result;
}

std::optional<Direct> direct_read(const kernel::Kernel& kernel, ValueId factor,
                                  const std::vector<LoopId>& across, const std::vector<LoopId>& along) {
  const auto* load = kernel.value(factor).try_get<value::Load>();
  if (load == nullptr) return std::nullopt;
  const Expr offset = flat_index(load->index, kernel.inputs()[load->input].shape);
  const auto lines = lines_of(kernel, offset, across, along);
  if (!lines) return std::nullopt;
  return Direct{load->input, lines->offset, lines->stride};
}

}  // namespace luminal::codegen
