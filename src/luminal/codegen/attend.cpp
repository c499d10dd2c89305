#include "luminal/codegen/attend.h"

#include <algorithm>

#include "luminal/codegen/nest.h"
#include "luminal/codegen/strides.h"
#include "luminal/kernel/structure.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::LoopSet;
using kernel::Monoid;
using kernel::ValueId;
namespace value = kernel::value;

namespace {

/// The value if it is a constant where `assumed` (a bool) is true.
std::optional<Scalar> constant_where(const kernel::Kernel& kernel, ValueId id, ValueId assumed) {
  if (id == assumed) return make_scalar(DType::boolean, true);
  const kernel::Value& v = kernel.value(id);
  if (const auto* constant = v.try_get<value::Constant>()) return constant->value;
  const auto* map = v.try_get<value::Map>();
  if (map == nullptr) return std::nullopt;
  if (map->op == Op::select) {
    const auto condition = constant_where(kernel, map->arguments[0], assumed);
    if (!condition) return std::nullopt;
    return constant_where(kernel, map->arguments[condition->bits != 0 ? 1 : 2], assumed);
  }
  std::vector<std::optional<Scalar>> known;
  for (const auto argument : map->arguments) known.push_back(constant_where(kernel, argument, assumed));
  if (is_boolean(v.dtype) && (map->op == Op::add || map->op == Op::max || map->op == Op::bit_or))
    for (const auto& one : known)
      if (one && one->dtype == DType::boolean && one->bits != 0) return one;
  for (const auto& one : known)
    if (!one) return std::nullopt;
  if (map->op == Op::cast) return convert(*known[0], v.dtype);
  if (map->op == Op::bitcast) return std::nullopt;
  return known.size() == 1 ? apply(map->op, *known[0]) : apply(map->op, *known[0], *known[1]);
}

/// The two index expressions that a comparison compares.
std::optional<std::pair<Expr, Expr>> compared(const kernel::Kernel& kernel, const value::Map& less) {
  std::vector<Expr> sides;
  for (const auto id : less.arguments) {
    const auto* index = kernel.value(id).try_get<value::Index>();
    const DType dtype = kernel.value(id).dtype;
    if (index == nullptr || !(is_integer(dtype) || dtype == DType::f32 || dtype == DType::f64))
      return std::nullopt;
    // Rounding to the dtype must not change the comparison.
    const Interval bounds = index->value.bounds();
    constexpr std::int64_t exact = 1 << 24;
    const bool wide = dtype == DType::i64 || dtype == DType::i32;
    if (!wide && (!bounds.low || !bounds.high || *bounds.low < -100 ||
                  *bounds.high > (byte_size(dtype) < 4 ? 100 : exact)))
      return std::nullopt;
    sides.push_back(index->value);
  }
  return std::pair{sides[0], sides[1]};
}

}  // namespace

std::optional<Attention> attention_of(const kernel::Kernel& kernel, const Nest& nest) {
  const kernel::Store& store = kernel.stores()[nest.stores.front()];
  if (nest.sequential || kernel.value(store.value).try_get<value::Scan>() != nullptr) return std::nullopt;
  const auto roots = roots_of(kernel, nest);
  const kernel::Structure structure = kernel::analyse(kernel, roots, store.domain);
  if (structure.sweeps.size() != 1 || structure.sweeps.front().loops.size() != 1) return std::nullopt;
  const kernel::Sweep& sweep = structure.sweeps.front();
  Attention found;
  found.keys = sweep.loops.front();
  found.exponent = kernel.value(sweep.reductions.front()).try_get<value::Reduce>()->arguments[0];
  const kernel::ValueSet within = kernel::inside(kernel, sweep.reductions.front());
  std::vector<ValueId> nested;
  for (std::size_t k = 0; k < within.size(); ++k)
    if (within[k] && kernel.values()[k].try_get<value::Reduce>() != nullptr) nested.emplace_back(k);
  if (nested.size() != 1 || structure.nested != nested) return std::nullopt;
  found.score = nested.front();
  const auto* score = kernel.value(found.score).try_get<value::Reduce>();
  const auto* product = kernel.value(score->arguments[0]).try_get<value::Map>();
  if (kernel::needs_guards(kernel, roots, found.score)) return std::nullopt;  // tiles are computed whole
  if (score->monoid != Monoid::sum || kernel.value(found.score).dtype != DType::f32 || product == nullptr ||
      product->op != Op::mul || kernel.value(found.exponent).dtype != DType::f32)
    return std::nullopt;
  found.depth = score->loops;
  found.query = product->arguments[0];
  found.key = product->arguments[1];
  if (kernel.value(found.query).free.test(found.keys.index())) std::swap(found.query, found.key);
  const LoopSet query = kernel.value(found.query).free;
  const LoopSet key = kernel.value(found.key).free;
  const LoopSet depth = kernel::set_of(found.depth);
  if (query.test(found.keys.index()) || !key.test(found.keys.index()) || (query & depth) != depth ||
      (key & depth) != depth)
    return std::nullopt;
  const LoopSet domain = kernel::set_of(store.domain);
  LoopSet columns;
  for (const auto id : sweep.reductions) {
    const auto* reduce = kernel.value(id).try_get<value::Reduce>();
    if (reduce->monoid != Monoid::soft_sum || reduce->arguments[0] != found.exponent ||
        kernel.value(id).dtype != DType::f32)
      return std::nullopt;
    if (kernel::needs_guards(kernel, roots, id)) return std::nullopt;
    const LoopSet own = kernel.value(id).free & ~kernel.value(found.exponent).free;
    (own.none() ? found.totals : found.mixtures).push_back(id);
    if (own.any() && columns.any() && own != columns) return std::nullopt;
    if (own.any()) columns = own;
  }
  const LoopSet rows = query & ~key & domain & ~columns;
  if (found.mixtures.empty() || rows.none() || (kernel.value(found.exponent).free & columns).any())
    return std::nullopt;
  for (const auto id : found.mixtures) {
    const LoopSet weighed = kernel.value(kernel.value(id).try_get<value::Reduce>()->arguments[1]).free;
    if ((weighed & rows).any() || !weighed.test(found.keys.index())) return std::nullopt;
  }
  for (const auto loop : store.domain) {
    const std::size_t index = loop.index();
    (columns.test(index) ? found.columns : rows.test(index) ? found.rows : found.batch).push_back(loop);
  }
  return found;
}

std::vector<Masking> maskings_of(const kernel::Kernel& kernel, const Attention& attention) {
  std::vector<Masking> maskings;
  if (attention.rows.size() != 1) return maskings;
  const kernel::ValueSet set = kernel::reachable(kernel, std::vector{attention.exponent});
  for (std::size_t k = 0; k < set.size(); ++k) {
    const auto* map = kernel.values()[k].try_get<value::Map>();
    if (!set[k] || map == nullptr || map->op != Op::less) continue;
    const auto sides = compared(kernel, *map);
    const auto exponent = constant_where(kernel, attention.exponent, ValueId(k));
    if (!sides || !exponent) continue;
    const Expr margin = sides->second - sides->first;
    const auto by_row = step_along(kernel, margin, attention.rows.front(), 1);
    const auto by_key = step_along(kernel, margin, attention.keys, 1);
    if (by_row && by_row->is_constant() && by_key && by_key->is_constant())
      maskings.push_back({margin, to_double(*exponent)});
  }
  return maskings;
}

}  // namespace luminal::codegen
