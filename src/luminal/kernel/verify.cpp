#include <set>

#include "luminal/kernel/kernel.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::kernel {
namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  void run() {
    for (std::size_t k = 0; k < kernel_.values().size(); ++k) check_value(ValueId(k));
    std::set<std::uint32_t> written;
    for (const auto& store : kernel_.stores()) {
      check_store(store);
      written.insert(store.output);
    }
    require(written.size() == kernel_.outputs().size(), "every output is written");
  }

 private:
  void require(bool holds, const std::string& promise) const {
    if (!holds) throw InternalError("kernel: " + promise, print(kernel_));
  }

  void check_value(ValueId id) const {
    const Value& v = kernel_.value(id);
    for (const auto operand : operands(kernel_, id))
      require(operand < id, cat("v", id.value(), " reads v", operand.value(), ", which is not before it"));
    if (const auto* load = v.try_get<value::Load>()) {
      require(load->input < kernel_.inputs().size(),
              cat("v", id.value(), " loads an input that is not there"));
      const ArrayType& array = kernel_.inputs()[load->input];
      require(array.dtype == v.dtype, cat("v", id.value(), " loads ", array.dtype, " as ", v.dtype));
      check_rank(id, load->index, array.shape);
    }
    if (const auto* map = v.try_get<value::Map>()) check_map(id, v, *map);
    if (const auto* guard = v.try_get<value::Guard>()) {
      require(kernel_.value(guard->argument).dtype == v.dtype, cat("v", id.value(), " guards another dtype"));
      for (const auto& condition : guard->conditions)
        require(condition.fill.dtype == v.dtype, cat("v", id.value(), " fills with another dtype"));
    }
    if (const auto* reduce = v.try_get<value::Reduce>()) check_reduce(id, v, *reduce);
    if (const auto* position = v.try_get<value::Position>())
      require(is_integer(kernel_.value(position->argument).dtype), cat("v", id.value(), " is no integer"));
  }

  void check_map(ValueId id, const Value& v, const value::Map& map) const {
    const OpRow& r = row(map.op);
    require(static_cast<std::size_t>(r.arity) == map.arguments.size(),
            cat("v", id.value(), ": ", map.op, " has ", map.arguments.size(), " operands"));
    const std::size_t first = map.op == Op::select ? 1 : 0;
    const DType operand = kernel_.value(map.arguments[first]).dtype;
    for (std::size_t k = first; k < map.arguments.size(); ++k)
      require(kernel_.value(map.arguments[k]).dtype == operand, cat("v", id.value(), " mixes dtypes"));
    if (r.kind == OpKind::convert) return;
    require(v.dtype == (r.boolean_result ? DType::boolean : operand),
            cat("v", id.value(), " has a wrong dtype"));
  }

  void check_reduce(ValueId id, const Value& v, const value::Reduce& reduce) const {
    require(reduce.arguments.size() == (reduce.monoid == Monoid::soft_sum ? 2U : 1U),
            cat("v", id.value(), " has a wrong number of operands"));
    for (const auto argument : reduce.arguments)
      require(kernel_.value(argument).dtype == v.dtype, cat("v", id.value(), " reduces another dtype"));
    std::set<LoopId> distinct(reduce.loops.begin(), reduce.loops.end());
    require(distinct.size() == reduce.loops.size(), cat("v", id.value(), " reduces a loop twice"));
    for (const auto loop : reduce.loops)
      require(loop.index() < kernel_.loops().size(), cat("v", id.value(), " reduces no loop"));
  }

  void check_rank(ValueId id, const std::vector<Expr>& index, const Shape& shape) const {
    require(index.size() == shape.rank(),
            cat("v", id.value(), " has ", index.size(), " indices for ", shape));
  }

  void check_store(const Store& store) const {
    require(store.output < kernel_.outputs().size(), "a store has no output");
    const ArrayType& array = kernel_.outputs()[store.output];
    require(kernel_.value(store.value).dtype == array.dtype, "a store writes another dtype");
    require(store.index.size() == array.shape.rank(), "a store has as many indices as its array has axes");
    LoopSet domain;
    for (const auto loop : store.domain) domain.set(loop.index());
    LoopSet used = kernel_.value(store.value).free;
    for (const auto& e : store.index) used |= kernel_.free_of(e);
    require((used & ~domain).none(), "a store's value varies only with the loops of its domain");
  }

  const Kernel& kernel_;
};

}  // namespace

void verify(const Kernel& kernel) {
  Verifier(kernel).run();
}

}  // namespace luminal::kernel
