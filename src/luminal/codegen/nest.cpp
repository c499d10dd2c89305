#include "luminal/codegen/nest.h"

#include <algorithm>

#include "luminal/codegen/attend.h"
#include "luminal/codegen/contract.h"
#include "luminal/codegen/spell.h"
#include "luminal/codegen/strides.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::LoopSet;
using kernel::ValueId;
namespace value = kernel::value;

namespace {

bool contains(const std::vector<LoopId>& loops, LoopId loop) {
  return std::find(loops.begin(), loops.end(), loop) != loops.end();
}

const value::Scan* scan_of(const kernel::Kernel& kernel, const Nest& nest) {
  return kernel.value(kernel.stores()[nest.stores.front()].value).try_get<value::Scan>();
}

class NestPrinter {
 public:
  NestPrinter(Emitter& emitter, const Nest& nest, const NestSchedule& schedule)
      : e_(emitter),
        kernel_(emitter.kernel()),
        nest_(nest),
        schedule_(schedule),
        loops_(loops_of(kernel_, nest, schedule)),
        roots_(roots_of(kernel_, nest)) {}

  void print();

 private:
  Emitter& e_;
  const kernel::Kernel& kernel_;
  const Nest& nest_;
  const NestSchedule& schedule_;
  NestLoops loops_;
  std::vector<ValueId> roots_;

  Expr product(const std::vector<LoopId>& loops) const;
  void task_range();
  void inner_loop();
  void point();
  void run_sweeps();
  bool covers(ValueId reduction) const;
  std::vector<ValueId> staged_values(const std::vector<kernel::Sweep>& sweeps) const;
  void epilogue();
  void covered_loops(const std::vector<LoopId>& loops, std::size_t depth, bool lanes);
  void stores();
  void scan(const value::Scan& scan);
};

Expr NestPrinter::product(const std::vector<LoopId>& loops) const {
  Expr count(1);
  for (const auto loop : loops) count = count * kernel_.loop(loop).extent;
  return count;
}

void NestPrinter::print() {
  e_.set_lanes(schedule_.lanes);
  if (nest_.sequential) {
    for (const auto loop : loops_.outer) e_.open_loop(loop);
    if (loops_.inner) e_.line("const i64 begin = 0, end = " + e_.extent(*loops_.inner) + ";");
    inner_loop();
    for (std::size_t k = loops_.outer.size(); k-- > 0;)
      e_.close_loop(loops_.outer[k], "0", e_.extent(loops_.outer[k]));
    return;
  }
  task_range();
  if (loops_.outer.empty()) return inner_loop();
  Scope& scope = e_.open();
  std::string divisor;
  std::vector<std::string> lines;
  for (std::size_t k = loops_.outer.size(); k-- > 0;) {
    const LoopId loop = loops_.outer[k];
    scope.binds.set(loop.index());
    const std::string quotient = divisor.empty() ? "g" : cat("g / (", divisor, ")");
    const std::string extent = e_.extent(loop);
    lines.push_back(cat("const i64 i", loop.value(), " = ", quotient, k == 0 ? "" : cat(" % ", extent), ";"));
    divisor += cat(divisor.empty() ? "" : " * ", extent);
  }
  for (const auto& text : lines) e_.line(text);
  inner_loop();
  e_.close("for (i64 g = first; g < last; ++g)");
}

void NestPrinter::task_range() {
  if (loops_.inner) {
    const std::string extent = e_.extent(*loops_.inner);
    const std::string chunk = std::to_string(schedule_.chunk);
    e_.line(cat("const i64 chunks = (", extent, " + (", chunk, " - 1)) / ", chunk, ";"));
    e_.line(cat("const i64 begin = task % chunks * ", chunk, ";"));
    e_.line(cat("const i64 end = begin + ", chunk, " < ", extent, " ? begin + ", chunk, " : ", extent, ";"));
  } else {
    e_.line("const i64 chunks = 1;");
  }
  if (loops_.outer.empty()) return;
  const std::string total = e_.text(product(loops_.outer));
  const std::string grain = std::to_string(schedule_.grain);
  e_.line(cat("const i64 first = task / chunks * ", grain, ";"));
  e_.line(cat("const i64 last = first + ", grain, " < ", total, " ? first + ", grain, " : ", total, ";"));
}

void NestPrinter::inner_loop() {
  if (!loops_.inner) return point();
  const LoopId loop = *loops_.inner;
  std::string begin = "begin";
  const int lanes = schedule_.vector_loop == loop ? schedule_.lanes : 1;
  if (lanes > 1) {
    e_.open_loop(loop, lanes);
    point();
    e_.close_loop(loop, begin, "end", lanes);
    begin = cat("begin + (end - begin) / ", lanes, " * ", lanes);
    const bool whole = prove_divides(Expr(lanes), kernel_.loop(loop).extent) && schedule_.chunk % lanes == 0;
    if (whole) return;
  }
  e_.open_loop(loop);
  point();
  e_.close_loop(loop, begin, "end");
}

void NestPrinter::point() {
  if (const auto* found = scan_of(kernel_, nest_)) return scan(*found);
  if (!nest_.sequential) run_sweeps();
  epilogue();
}

/// Whether a reduction that varies with covered loops should be swept with accumulators over them: where its
/// points share something that is costly to compute.
bool NestPrinter::covers(ValueId reduction) const {
  const LoopSet axes = kernel_.value(reduction).free & kernel::set_of(loops_.covered);
  if (axes.none()) return true;
  const kernel::ValueSet within = kernel::inside(kernel_, reduction);
  for (std::size_t k = 0; k < within.size(); ++k)
    if (within[k] && (kernel_.values()[k].free & axes).none() && is_expensive(kernel_, ValueId(k)))
      return true;
  return false;
}

void NestPrinter::run_sweeps() {
  const kernel::Structure structure =
      kernel::analyse(kernel_, roots_, kernel_.stores()[nest_.stores.front()].domain);
  const kernel::ValueSet open = e_.exposed(roots_);
  std::vector<kernel::Sweep> sweeps;
  for (auto sweep : structure.sweeps) {
    std::erase_if(sweep.reductions, [&](ValueId id) { return !covers(id) || !open[id.index()]; });
    if (!sweep.reductions.empty()) sweeps.push_back(std::move(sweep));
  }
  const std::vector<ValueId> staged = staged_values(sweeps);
  const auto stage_for = [&](const std::vector<ValueId>& roots) {
    const kernel::ValueSet needed = e_.exposed(roots);
    for (const auto id : staged)
      if (needed[id.index()] && !e_.available(id)) e_.stage(id);
  };
  for (const auto& sweep : sweeps) {
    std::vector<ValueId> missing;
    for (const auto id : sweep.reductions)
      if (!e_.available(id) && (!schedule_.retile || e_.belongs_here(id))) missing.push_back(id);
    if (missing.empty()) continue;  // those that belong outside are computed there when they are asked for
    stage_for(missing);
    e_.sweep(missing);
  }
}

/// Values that two sweeps, or one and the stores, compute at equal points, if they are expensive.
std::vector<ValueId> NestPrinter::staged_values(const std::vector<kernel::Sweep>& sweeps) const {
  const std::size_t count = kernel_.values().size();
  kernel::ValueSet is_swept(count);
  for (const auto& sweep : sweeps)
    for (const auto id : sweep.reductions) is_swept[id.index()] = true;
  std::vector<int> uses(count);
  const auto visit = [&](std::vector<ValueId> open) {
    kernel::ValueSet seen(count);
    while (!open.empty()) {
      const ValueId id = open.back();
      open.pop_back();
      if (seen[id.index()]) continue;
      seen[id.index()] = true;
      ++uses[id.index()];
      if (is_swept[id.index()]) continue;
      for (const auto operand : operands(kernel_, id)) open.push_back(operand);
    }
  };
  for (const auto& sweep : sweeps) {
    std::vector<ValueId> arguments;
    for (const auto id : sweep.reductions)
      for (const auto operand : operands(kernel_, id)) arguments.push_back(operand);
    visit(arguments);
  }
  visit(roots_);
  LoopSet bound = kernel::set_of(loops_.outer);
  if (loops_.inner) bound.set(loops_.inner->index());
  const auto candidate = [&](ValueId id) {
    const auto& v = kernel_.value(id);
    return uses[id.index()] > 1 && !is_swept[id.index()] && (v.free & ~bound).any() && !e_.is_unsafe(id) &&
           is_expensive(kernel_, id);
  };
  kernel::ValueSet only_inner(count, true);  // every use is by another candidate
  for (std::size_t k = 0; k < count; ++k)
    if (uses[k] > 0 && !candidate(ValueId(k)))
      for (const auto operand : operands(kernel_, ValueId(k))) only_inner[operand.index()] = false;
  for (const auto id : roots_) only_inner[id.index()] = false;
  std::vector<ValueId> result;
  for (std::size_t k = 0; k < count; ++k)
    if (candidate(ValueId(k)) && !only_inner[k]) result.emplace_back(k);
  return result;
}

void NestPrinter::epilogue() {
  std::vector<LoopId> loops = loops_.covered;
  bool in_vector = false;
  for (const Scope* scope = &e_.scope(); scope != nullptr; scope = scope->parent)
    in_vector = in_vector || scope->vector.has_value();
  bool lanes = false;
  if (!in_vector && schedule_.lanes > 1 && !loops.empty()) {
    LoopId best = loops.back();
    int gained = 0;
    for (const auto loop : loops) {
      const auto extent = kernel_.loop(loop).extent.constant_value();
      if (extent && *extent < schedule_.lanes) continue;
      int gain = lanes_gain(kernel_, loop, roots_, schedule_.lanes);
      for (const auto index : nest_.stores) {
        const kernel::Store& store = kernel_.stores()[index];
        const auto step = step_along(kernel_, flat_index(store.index, kernel_.outputs()[store.output].shape),
                                     loop, schedule_.lanes);
        gain += step && *step == Expr(1) ? 4 : -3;
      }
      if (gain > gained) {
        best = loop;
        gained = gain;
        lanes = true;
      }
    }
    std::erase(loops, best);
    loops.push_back(best);
  }
  covered_loops(loops, 0, lanes);
}

void NestPrinter::covered_loops(const std::vector<LoopId>& loops, std::size_t depth, bool lanes) {
  if (depth == loops.size()) return stores();
  const LoopId loop = loops[depth];
  const std::string end = e_.extent(loop);
  std::string begin = "0";
  if (lanes && depth + 1 == loops.size()) {
    e_.open_loop(loop, schedule_.lanes);
    covered_loops(loops, depth + 1, false);
    e_.close_loop(loop, begin, end, schedule_.lanes);
    if (prove_divides(Expr(schedule_.lanes), kernel_.loop(loop).extent)) return;
    begin = cat(end, " / ", schedule_.lanes, " * ", schedule_.lanes);
  }
  e_.open_loop(loop);
  covered_loops(loops, depth + 1, lanes);
  e_.close_loop(loop, begin, end);
}

void NestPrinter::stores() {
  if (!loops_.covered.empty()) e_.sweeps_inside(roots_, kernel::set_of(loops_.covered));
  // All values before any store: an output may be an input's memory, element by element.
  for (const auto id : roots_) e_.value(id);
  for (const auto index : nest_.stores) e_.store(kernel_.stores()[index]);
}

void NestPrinter::scan(const value::Scan& scan) {
  const kernel::Store& store = kernel_.stores()[nest_.stores.front()];
  const DType dtype = kernel_.value(store.value).dtype;
  const Scalar neutral = neutral_of(scan.monoid, dtype);
  const DType held = register_dtype(neutral.dtype);
  LoopSet free = kernel_.value(store.value).free;
  free.reset(scan.loop.index());
  const bool lanes = e_.is_lanes(free);
  const int wide = e_.width(lanes);
  const std::string name = e_.fresh("scan");
  const Operand initial{spell_constant(neutral), false};
  e_.line(cat(e_.helpers().type(held, wide), " ", name, " = ", lanes ? e_.splat(initial, held) : initial.text,
              ";"));
  e_.open_loop(scan.loop);
  const std::string x = e_.value(scan.argument, lanes);
  e_.line(cat(name, " = ", spell_combine(e_.helpers(), scan.monoid, dtype, name, x, wide), ";"));
  e_.scope().values.insert_or_assign(store.value,
                                     Operand{spell_round(e_.helpers(), dtype, name, wide), lanes});
  e_.store(store);
  e_.close_loop(scan.loop, "0", e_.extent(scan.loop));
}

}  // namespace

double points_of(const kernel::Kernel& kernel, const std::vector<LoopId>& loops, const DimMap& hints) {
  double count = 1;
  for (const auto loop : loops)
    count *= static_cast<double>(kernel.loop(loop).extent.try_eval(hints).value_or(256));
  return count;
}

std::vector<ValueId> roots_of(const kernel::Kernel& kernel, const Nest& nest) {
  std::vector<ValueId> roots;
  for (const auto index : nest.stores) {
    roots.push_back(kernel.stores()[index].value);
    for (const auto& e : kernel.stores()[index].index)
      for (const auto position : kernel::positions_of(e)) roots.push_back(position);
  }
  return roots;
}

NestLoops loops_of(const kernel::Kernel& kernel, const Nest& nest, const NestSchedule& schedule) {
  const std::vector<LoopId>& domain = kernel.stores()[nest.stores.front()].domain;
  NestLoops result;
  std::vector<LoopId> grid = domain;
  if (const auto* scan = scan_of(kernel, nest)) {
    std::erase(grid, scan->loop);
  } else if (!nest.sequential) {
    const kernel::Structure structure = kernel::analyse(kernel, roots_of(kernel, nest), domain);
    std::erase_if(grid, [&](LoopId l) {
      return (!schedule.retile && !contains(structure.grid, l)) || contains(schedule.cover, l);
    });
    for (const auto loop : domain)
      if (!contains(grid, loop)) result.covered.push_back(loop);
  }
  if (grid.empty()) return result;
  result.inner = grid.back();
  if (schedule.vector_loop) {
    if (!contains(grid, *schedule.vector_loop))
      throw InternalError("schedule: the vector loop is not one of the nest's grid", kernel::print(kernel));
    result.inner = schedule.vector_loop;
  }
  for (const auto loop : grid)
    if (loop != *result.inner) result.outer.push_back(loop);
  return result;
}

bool is_expensive(const kernel::Kernel& kernel, ValueId id) {
  const kernel::ValueSet set = kernel::reachable(kernel, std::vector{id});
  for (std::size_t k = 0; k < set.size(); ++k) {
    if (!set[k] || kernel.values()[k].free.none()) continue;
    // What varies with less than the value is not computed again with it.
    if (kernel.values()[k].free != kernel.value(id).free) continue;
    if (kernel.values()[k].try_get<value::Reduce>() != nullptr) return true;
    if (const auto* map = kernel.values()[k].try_get<value::Map>())
      if (kind(map->op) == OpKind::unary && map->op != Op::recip && map->op != Op::sqrt &&
          map->op != Op::floor && map->op != Op::round)
        return true;
  }
  return false;
}

void print_nest(Emitter& emitter, const Nest& nest, const NestSchedule& schedule) {
  if (!schedule.tiles) return NestPrinter(emitter, nest, schedule).print();
  if (!schedule.tiles->library && attention_of(emitter.kernel(), nest))
    return print_attention(emitter, nest, schedule);
  print_contractions(emitter, nest, schedule);
}

}  // namespace luminal::codegen
