#include "luminal/kernel/kernel.h"

#include <algorithm>
#include <set>

#include "luminal/support/cases.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal::kernel {
namespace {

std::uint64_t hash_of(const ValueKind& kind, DType dtype) {
  Hash hash(kind.index());
  hash.add(static_cast<std::uint64_t>(dtype));
  const auto ids = [&](const std::vector<ValueId>& values) {
    for (const auto id : values) hash.add(id.value());
  };
  std::visit(
      Cases{
          [&](const value::Load& v) {
            hash.add(v.input);
            for (const auto& e : v.index) hash.add(e.hash());
          },
          [&](const value::Constant& v) { hash.add(v.value.bits); },
          [&](const value::Index& v) { hash.add(v.value.hash()); },
          [&](const value::Map& v) {
            hash.add(static_cast<std::uint64_t>(v.op));
            ids(v.arguments);
          },
          [&](const value::Guard& v) {
            for (const auto& c : v.conditions) hash.add(c.valid.hash()).add(c.fill.bits);
            hash.add(v.argument.value());
          },
          [&](const value::Reduce& v) {
            hash.add(static_cast<std::uint64_t>(v.monoid));
            for (const auto loop : v.loops) hash.add(loop.value());
            ids(v.arguments);
          },
          [&](const value::Position& v) { hash.add(v.argument.value()).add(v.length.hash()); },
          [&](const value::Random& v) { hash.add(v.position.hash()).add(v.key.value()).add(v.stream); },
          [&](const value::Scan& v) {
            hash.add(static_cast<std::uint64_t>(v.monoid)).add(v.loop.value()).add(v.argument.value());
          },
      },
      kind);
  return hash.value();
}

/// Calls `visit` on every index expression of a value.
template <typename F>
void each_expression(const ValueKind& kind, F&& visit) {
  std::visit(Cases{
                 [&](const value::Load& v) {
                   for (const auto& e : v.index) visit(e);
                 },
                 [&](const value::Index& v) { visit(v.value); },
                 [&](const value::Guard& v) {
                   for (const auto& c : v.conditions) visit(c.valid);
                 },
                 [&](const value::Random& v) { visit(v.position); },
                 [&](const auto&) {},
             },
             kind);
}

/// The operands that a value names directly.
std::vector<ValueId> direct_operands(const ValueKind& kind) {
  return std::visit(Cases{
                        [](const value::Map& v) { return v.arguments; },
                        [](const value::Guard& v) { return std::vector{v.argument}; },
                        [](const value::Reduce& v) { return v.arguments; },
                        [](const value::Position& v) { return std::vector{v.argument}; },
                        [](const value::Random& v) { return std::vector{v.key}; },
                        [](const value::Scan& v) { return std::vector{v.argument}; },
                        [](const auto&) { return std::vector<ValueId>{}; },
                    },
                    kind);
}

}  // namespace

std::string_view name(Monoid monoid) {
  constexpr std::string_view names[] = {"sum", "max", "prod", "soft_sum", "m2"};
  return names[static_cast<std::size_t>(monoid)];
}

LoopId Kernel::add_loop(const Expr& extent) {
  if (loops_.size() == max_loops) throw InternalError(cat("a kernel has more than ", max_loops, " loops"));
  loops_.push_back({extent});
  return LoopId(loops_.size() - 1);
}

std::uint32_t Kernel::add_input(ArrayType type) {
  inputs_.push_back(std::move(type));
  return static_cast<std::uint32_t>(inputs_.size() - 1);
}

std::uint32_t Kernel::add_output(ArrayType type) {
  outputs_.push_back(std::move(type));
  return static_cast<std::uint32_t>(outputs_.size() - 1);
}

ValueId Kernel::add(ValueKind kind, DType dtype) {
  const std::uint64_t hash = hash_of(kind, dtype);
  const auto [first, last] = index_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (value(it->second).dtype == dtype && value(it->second).kind == kind) return it->second;
  const LoopSet free = free_of(kind);
  values_.push_back({std::move(kind), dtype, free});
  const ValueId id(values_.size() - 1);
  index_.emplace(hash, id);
  return id;
}

Expr Kernel::variable(LoopId loop) const {
  return Expr::coordinate(loop.index(), loops_[loop.index()].extent);
}

Expr Kernel::variable(ValueId position) const {
  const auto* found = value(position).try_get<value::Position>();
  ensure(found != nullptr, "only a Position is a variable of index expressions");
  return Expr::coordinate(position_base + position.index(), found->length);
}

std::vector<ValueId> positions_of(const Expr& expression) {
  std::vector<ValueId> result;
  for (const auto& variable : expression.variables())
    if (const auto axis = variable.coordinate_axis(); axis && *axis >= position_base)
      result.emplace_back(*axis - position_base);
  return result;
}

LoopSet Kernel::free_of(const Expr& expression) const {
  LoopSet free;
  if (expression.is_constant()) return free;
  for (const auto& variable : expression.variables()) {
    const auto axis = variable.coordinate_axis();
    if (!axis) continue;
    if (*axis >= position_base)
      free |= values_[*axis - position_base].free;
    else
      free.set(*axis);
  }
  return free;
}

LoopSet Kernel::free_of(const ValueKind& kind) const {
  LoopSet free;
  each_expression(kind, [&](const Expr& e) { free |= free_of(e); });
  for (const auto id : direct_operands(kind)) free |= value(id).free;
  if (const auto* reduce = std::get_if<value::Reduce>(&kind))
    for (const auto loop : reduce->loops) free.reset(loop.index());
  if (const auto* scan = std::get_if<value::Scan>(&kind)) free.set(scan->loop.index());
  return free;
}

std::uint64_t hash(const Kernel& kernel) {
  Hash hash(kernel.values().size());
  for (const auto& loop : kernel.loops()) hash.add(loop.extent.hash());
  for (const auto* arrays : {&kernel.inputs(), &kernel.outputs()})
    for (const auto& array : *arrays) {
      hash.add(static_cast<std::uint64_t>(array.dtype)).add(array.shape.rank());
      for (const auto& dim : array.shape) hash.add(dim.hash());
    }
  for (const auto& v : kernel.values()) hash.add(hash_of(v.kind, v.dtype));
  for (const auto& store : kernel.stores()) {
    hash.add(store.output).add(store.value.value()).add(static_cast<std::uint64_t>(store.mode));
    for (const auto loop : store.domain) hash.add(loop.value());
    for (const auto& e : store.index) hash.add(e.hash());
  }
  return hash.value();
}

std::vector<ValueId> operands(const Kernel& kernel, ValueId id) {
  const ValueKind& kind = kernel.value(id).kind;
  std::vector<ValueId> result = direct_operands(kind);
  each_expression(kind, [&](const Expr& e) {
    for (const auto position : positions_of(e)) result.push_back(position);
  });
  return result;
}

std::vector<Expr> Kernel::dims() const {
  std::set<Expr> found;
  const auto visit = [&](const Expr& e) {
    if (e.is_constant()) return;
    for (const auto& variable : e.variables())
      if (!variable.coordinate_axis()) found.insert(variable);
  };
  for (const auto& loop : loops_) visit(loop.extent);
  for (const auto* arrays : {&inputs_, &outputs_})
    for (const auto& array : *arrays)
      for (const auto& dim : array.shape) visit(dim);
  for (const auto& v : values_) {
    each_expression(v.kind, visit);
    if (const auto* position = v.try_get<value::Position>()) visit(position->length);
  }
  for (const auto& store : stores_)
    for (const auto& e : store.index) visit(e);
  std::vector<Expr> result(found.begin(), found.end());
  std::sort(result.begin(), result.end(), [](const Expr& a, const Expr& b) { return a.name() < b.name(); });
  return result;
}

}  // namespace luminal::kernel
