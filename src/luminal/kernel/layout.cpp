#include "luminal/kernel/layout.h"

#include "luminal/kernel/structure.h"
#include "luminal/support/error.h"

namespace luminal::kernel {
namespace {

template <typename T>
std::vector<T> in_order(const std::vector<T>& axes, const AxisOrder& order) {
  std::vector<T> result;
  for (const auto axis : order) result.push_back(axes[axis]);
  return result;
}

Shape in_order(const Shape& shape, const AxisOrder& order) {
  return Shape(in_order(std::vector<Expr>(shape.begin(), shape.end()), order));
}

/// The axis that should come last for one load.
std::optional<std::size_t> better_last(const Kernel& kernel, const value::Load& load,
                                       const LoopSet& domains) {
  if (load.index.size() < 2) return std::nullopt;
  const LoopSet last = kernel.free_of(load.index.back());
  if (last.none() || (last & domains).any()) return std::nullopt;
  for (std::size_t axis = load.index.size() - 1; axis-- > 0;) {
    const LoopSet free = kernel.free_of(load.index[axis]);
    if (free.any() && (free & ~domains).none()) return axis;
  }
  return std::nullopt;
}

}  // namespace

std::optional<AxisOrder> better_order(const Kernel& kernel, std::uint32_t input) {
  LoopSet domains;
  for (const auto& store : kernel.stores()) domains |= set_of(store.domain);
  std::optional<std::size_t> last;
  for (const auto& v : kernel.values()) {
    const auto* load = v.try_get<value::Load>();
    if (load == nullptr || load->input != input) continue;
    const auto wanted = better_last(kernel, *load, domains);
    if (!wanted || (last && last != wanted)) return std::nullopt;
    last = wanted;
  }
  if (!last) return std::nullopt;
  AxisOrder order;
  for (std::size_t axis = 0; axis < kernel.inputs()[input].shape.rank(); ++axis)
    if (axis != *last) order.push_back(axis);
  order.push_back(*last);
  return order;
}

Kernel reordered(const Kernel& kernel, std::uint32_t input, const AxisOrder& order) {
  Kernel made;
  for (const auto& loop : kernel.loops()) made.add_loop(loop.extent);
  for (std::uint32_t k = 0; k < kernel.inputs().size(); ++k) {
    ArrayType type = kernel.inputs()[k];
    if (k == input) type.shape = in_order(type.shape, order);
    made.add_input(std::move(type));
  }
  for (const auto& type : kernel.outputs()) made.add_output(type);
  for (std::size_t k = 0; k < kernel.values().size(); ++k) {
    const Value& v = kernel.values()[k];
    ValueKind kind = v.kind;
    if (auto* load = std::get_if<value::Load>(&kind); load != nullptr && load->input == input)
      load->index = in_order(load->index, order);
    ensure(made.add(std::move(kind), v.dtype).index() == k, "a kernel in another layout has the same values");
  }
  for (const auto& store : kernel.stores()) made.add_store(store);
  return made;
}

Kernel reordering(const ArrayType& array, const AxisOrder& order) {
  Kernel made;
  made.add_input(array);
  made.add_output({in_order(array.shape, order), array.dtype});
  Store store;
  std::vector<Expr> from(array.shape.rank(), Expr(0));
  for (const auto axis : order) {
    store.domain.push_back(made.add_loop(array.shape[axis]));
    store.index.push_back(made.variable(store.domain.back()));
    from[axis] = store.index.back();
  }
  store.value = made.add(value::Load{0, from}, array.dtype);
  made.add_store(std::move(store));
  return made;
}

}  // namespace luminal::kernel
