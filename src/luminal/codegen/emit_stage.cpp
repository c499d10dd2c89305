#include <algorithm>

#include "luminal/codegen/emit.h"
#include "luminal/codegen/strides.h"
#include "luminal/kernel/structure.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::LoopSet;
using kernel::Monoid;
using kernel::ValueId;
namespace value = kernel::value;

std::vector<LoopId> loops_in(const LoopSet& set) {
  std::vector<LoopId> loops;
  for (std::size_t loop = 0; loop < set.size(); ++loop)
    if (set.test(loop)) loops.emplace_back(loop);
  return loops;
}

void Emitter::sweep(const std::vector<ValueId>& reductions) {
  const auto* first = kernel_.value(reductions.front()).try_get<value::Reduce>();
  const bool plain =
      first->monoid == Monoid::sum || first->monoid == Monoid::max || first->monoid == Monoid::prod;
  if (reductions.size() == 1 && first->loops.empty() && plain) {  // over nothing: the argument itself
    scope_->values.insert_or_assign(reductions.front(), value(first->arguments[0]));
    return;
  }
  print_sweep(*this, reductions);
}

void Emitter::sweeps_inside(const std::vector<ValueId>& roots, const LoopSet& within) {
  const kernel::ValueSet open = exposed(roots);
  for (const auto& sweep_ : kernel::sweeps_of(kernel_, roots, within)) {
    std::vector<ValueId> here;
    for (const auto id : sweep_.reductions)
      if (open[id.index()] && !available(id) && home(kernel_.value(id).free, is_unsafe(id)) == scope_)
        here.push_back(id);
    if (!here.empty()) sweep(here);
  }
}

std::string Emitter::allocate(const std::string& name, DType held, bool lanes, const Expr& count) {
  const std::string type = helpers_.type(held, width(lanes));
  const auto bytes = static_cast<std::int64_t>(byte_size(held)) * width(lanes);
  constexpr std::int64_t on_stack = 4096;
  if (const auto fixed = count.constant_value(); fixed && *fixed * bytes <= on_stack) {
    line(cat(type, " ", name, "[", std::max<std::int64_t>(*fixed, 1), "] __attribute__((aligned(64)));"));
    return name;
  }
  line(cat(dialect_.scratch_space, type, "* ", name, " = (", dialect_.scratch_space, type, "*)((",
           dialect_.scratch_space, "char*)scratch + ", text(scratch_), ");"));
  scratch_ = scratch_ + Expr::ceil_div(count * Expr(bytes), Expr(64)) * Expr(64);
  return name;
}

void Emitter::stage(ValueId id) {
  LoopSet bound;
  bool in_vector = false;
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    bound |= scope->binds;
    in_vector = in_vector || scope->vector.has_value();
  }
  const DType held = register_dtype(kernel_.value(id).dtype);
  Array array{fresh(cat("s", id.value(), "_")), loops_in(kernel_.value(id).free & ~bound), is_lanes(id)};
  std::vector<Expr> index;
  std::vector<Expr> dims;
  for (const auto axis : array.axes) {
    index.push_back(kernel_.variable(axis));
    dims.push_back(kernel_.loop(axis).extent);
  }
  allocate(array.name, held, array.lanes, Shape(dims).element_count());
  const Expr offset = flat_index(index, Shape(dims));
  const LoopId last = array.axes.back();
  const bool lanes = !in_vector && lanes_ > 1 && best_vector_loop({last}, {id}).has_value();
  std::string nonempty;
  for (const auto axis : array.axes)
    if (!prove_lt(Expr(0), kernel_.loop(axis).extent))
      nonempty += cat(nonempty.empty() ? "" : " && ", extent(axis), " > 0");
  open().guards = !nonempty.empty();
  for (const auto axis : array.axes)
    if (axis != last) open_loop(axis);
  const auto body = [&](int wide) {
    open_loop(last, wide);
    sweeps_inside({id}, scope_->binds);
    const std::string result = value(id, wide > 1 || array.lanes);
    line(wide > 1 ? cat("*(", helpers_.type(held, wide), "_u*)(", array.name, " + ", text(offset),
                        ") = ", result, ";")
                  : cat(array.name, "[", text(offset), "] = ", result, ";"));
  };
  std::string begin = "0";
  if (lanes) {
    body(lanes_);
    close_loop(last, begin, extent(last), lanes_);
    begin = cat(extent(last), " / ", lanes_, " * ", lanes_);
  }
  if (!lanes || !prove_divides(Expr(lanes_), kernel_.loop(last).extent)) {
    body(1);
    close_loop(last, begin, extent(last));
  }
  for (std::size_t k = array.axes.size() - 1; k-- > 0;) close_loop(array.axes[k], "0", extent(array.axes[k]));
  close(nonempty.empty() ? "" : cat("if (", nonempty, ")"));
  scope_->arrays.insert_or_assign(id, array);
}

std::optional<LoopId> Emitter::best_vector_loop(const std::vector<LoopId>& candidates,
                                                const std::vector<ValueId>& roots) const {
  return best_lanes(kernel_, candidates, roots, lanes_);
}

}  // namespace luminal::codegen
