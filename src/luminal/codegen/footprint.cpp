#include "luminal/codegen/footprint.h"

#include <map>

#include "luminal/codegen/attend.h"
#include "luminal/codegen/contract.h"
#include "luminal/codegen/nest.h"
#include "luminal/codegen/strides.h"
#include "luminal/kernel/merge_loops.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::ValueId;
namespace value = kernel::value;

namespace {

using Spans = std::map<std::size_t, Touched>;  // by loop; the others run whole

Expr choose(const Expr& condition, const Expr& yes, const Expr& no) {
  return condition * yes + (Expr(1) - condition) * no;
}

/// The remainders of first … last.
Touched wrapped(const Touched& span, const Expr& modulus) {
  if (span.first == span.last) return {span.first % modulus, span.first % modulus};
  const Expr together = Expr::equal(span.first / modulus, span.last / modulus);
  return {choose(together, span.first % modulus, Expr(0)),
          choose(together, span.last % modulus, modulus - Expr(1))};
}

/// How the tasks of a nest divide its loops.
class Division {
 public:
  Division(const kernel::Kernel& kernel, const Nest& nest, const NestSchedule& schedule) : kernel_(kernel) {
    if (!schedule.tiles)
      plain(nest, schedule);
    else if (const auto attention = attention_of(kernel, nest))
      attend(*attention, *schedule.tiles);
    else if (const auto shape = contractions_of(kernel, nest))
      contract(*shape, *schedule.tiles);
    else
      throw InternalError("footprint: tiles for a nest that no template takes", kernel::print(kernel));
  }

  Expr tasks = Expr(1);
  Spans spans;

 private:
  const kernel::Kernel& kernel_;

  Expr points(const std::vector<LoopId>& loops) const {
    Expr count(1);
    for (const auto loop : loops) count = count * kernel_.loop(loop).extent;
    return count;
  }
  /// The task's number; all of them must be counted by then.
  Expr number() const { return Expr::coordinate(task_axis, tasks); }

  static Touched block(const Expr& index, std::int64_t size, const Expr& extent) {
    const Expr first = index * Expr(size);
    return {first, Expr::min(first + Expr(size), extent) - Expr(1)};
  }

  /// The loops' places where their flattened place is in a span.
  void divide(const std::vector<LoopId>& loops, const Touched& flat) {
    Expr stride(1);
    for (std::size_t k = loops.size(); k-- > 0;) {
      const Expr extent = kernel_.loop(loops[k]).extent;
      const Touched quotient{flat.first / stride, flat.last / stride};
      spans.emplace(loops[k].index(), k == 0 ? quotient : wrapped(quotient, extent));
      stride = stride * extent;
    }
  }

  void plain(const Nest& nest, const NestSchedule& schedule) {
    const NestLoops loops = loops_of(kernel_, nest, schedule);
    for (const auto loop : nest.sequential ? kernel_.stores()[nest.stores.front()].domain : loops.covered)
      if (!prove_lt(Expr(0), kernel_.loop(loop).extent))
        tasks = tasks * Expr::min(Expr(1), kernel_.loop(loop).extent);
    if (nest.sequential) return;
    const Expr blocks = Expr::ceil_div(points(loops.outer), Expr(schedule.grain));
    Expr chunks(1);
    if (loops.inner) chunks = Expr::ceil_div(kernel_.loop(*loops.inner).extent, Expr(schedule.chunk));
    tasks = tasks * blocks * chunks;
    if (loops.inner)
      spans.emplace(loops.inner->index(),
                    block(number() % chunks, schedule.chunk, kernel_.loop(*loops.inner).extent));
    if (!loops.outer.empty())
      divide(loops.outer, block(number() / chunks, schedule.grain, points(loops.outer)));
  }

  void contract(const Contractions& shape, const TileSchedule& tiles) {
    const Expr row_blocks = Expr::ceil_div(points(shape.rows), Expr(tiles.block_rows));
    const Expr column_blocks = Expr::ceil_div(points(shape.columns), Expr(tiles.block_columns));
    tasks = points(shape.batch) * row_blocks * column_blocks;
    divide(shape.columns, block(number() % column_blocks, tiles.block_columns, points(shape.columns)));
    divide(shape.rows, block(number() / column_blocks % row_blocks, tiles.block_rows, points(shape.rows)));
    const Expr batch = number() / column_blocks / row_blocks;
    divide(shape.batch, {batch, batch});
  }

  void attend(const Attention& shape, const TileSchedule& tiles) {
    const Expr row_blocks = Expr::ceil_div(points(shape.rows), Expr(tiles.block_rows));
    tasks = points(shape.batch) * row_blocks;
    divide(shape.rows, block(number() % row_blocks, tiles.block_rows, points(shape.rows)));
    const Expr batch = number() / row_blocks;
    divide(shape.batch, {batch, batch});
  }
};

/// The least and the largest value of an index expression; nullopt where that is not known.
std::optional<Touched> extremes(const Expr& e, const Spans& spans);

std::optional<Touched> extremes_of_product(const Touched& a, const Touched& b) {
  if (a.first == a.last && b.first != b.last) return extremes_of_product(b, a);
  if (b.first == b.last) {
    if (prove_le(Expr(0), b.first)) return Touched{a.first * b.first, a.last * b.first};
    if (prove_le(b.first, Expr(0))) return Touched{a.last * b.first, a.first * b.first};
    return std::nullopt;
  }
  if (!prove_le(Expr(0), a.first) || !prove_le(Expr(0), b.first)) return std::nullopt;
  return Touched{a.first * b.first, a.last * b.last};
}

std::optional<Touched> combined(Expr::Kind kind, const Touched& a, const Touched& b) {
  const bool by_one_positive = b.first == b.last && prove_lt(Expr(0), b.first);
  switch (kind) {
    case Expr::Kind::add:
      return Touched{a.first + b.first, a.last + b.last};
    case Expr::Kind::mul:
      return extremes_of_product(a, b);
    case Expr::Kind::div:
      if (!by_one_positive) return std::nullopt;
      return Touched{a.first / b.first, a.last / b.first};
    case Expr::Kind::ceil_div:
      if (!by_one_positive) return std::nullopt;
      return Touched{Expr::ceil_div(a.first, b.first), Expr::ceil_div(a.last, b.first)};
    case Expr::Kind::mod:
      if (!by_one_positive) return std::nullopt;
      return wrapped(a, b.first);
    case Expr::Kind::min:
      return Touched{Expr::min(a.first, b.first), Expr::min(a.last, b.last)};
    case Expr::Kind::max:
      return Touched{Expr::max(a.first, b.first), Expr::max(a.last, b.last)};
    default:
      return Touched{Expr(0), Expr(1)};  // a truth
  }
}

std::optional<Touched> extremes(const Expr& e, const Spans& spans) {
  if (e.is_constant()) return Touched{e, e};
  if (e.kind() == Expr::Kind::variable) {
    const auto axis = e.coordinate_axis();
    if (!axis) return Touched{e, e};
    if (const auto found = spans.find(*axis); found != spans.end()) return found->second;
    return Touched{Expr(0), e.coordinate_extent() - Expr(1)};
  }
  std::optional<Touched> result;
  for (const auto& operand : e.operands()) {
    const auto next = extremes(operand, spans);
    if (!next) return std::nullopt;
    result = result ? combined(e.kind(), *result, *next) : next;
    if (!result) return std::nullopt;
  }
  return result;
}

/// Collects what one nest's tasks touch.
class Collector {
 public:
  Collector(const kernel::Kernel& kernel, const Nest& nest, Spans spans)
      : spans_(std::move(spans)), buffers_(kernel.inputs().size() + kernel.outputs().size()) {
    const kernel::ValueSet used = kernel::reachable(kernel, roots_of(kernel, nest));
    // A loop that a reduction goes through is whole there, even if it is one of the domain's.
    for (std::size_t k = 0; k < used.size(); ++k) {
      if (!used[k]) continue;
      if (const auto* reduce = kernel.values()[k].try_get<value::Reduce>())
        for (const auto loop : reduce->loops) spans_.erase(loop.index());
    }
    for (std::size_t k = 0; k < used.size(); ++k)
      if (const auto* load = kernel.values()[k].try_get<value::Load>(); load != nullptr && used[k])
        add(load->input, kernel.inputs()[load->input].shape, load->index);
    for (const auto index : nest.stores) {
      const kernel::Store& store = kernel.stores()[index];
      add(kernel.inputs().size() + store.output, kernel.outputs()[store.output].shape, store.index);
    }
  }

  std::vector<std::optional<Touched>> take() { return std::move(buffers_); }

 private:
  Spans spans_;
  std::vector<std::optional<Touched>> buffers_;

  void add(std::size_t buffer, const Shape& shape, const std::vector<Expr>& index) {
    const Expr end = shape.element_count() - Expr(1);
    Touched touched{Expr(0), end};
    if (const auto found = extremes(flat_index(index, shape), spans_))
      touched = {Expr::max(Expr(0), found->first), Expr::min(found->last, end)};
    auto& all = buffers_[buffer];
    all = all ? Touched{Expr::min(all->first, touched.first), Expr::max(all->last, touched.last)} : touched;
  }
};

}  // namespace

Expr task_count(const kernel::Kernel& kernel, const Nest& nest, const NestSchedule& schedule) {
  return Division(kernel, nest, schedule).tasks;
}

std::vector<TaskGroup> footprint(const kernel::Kernel& given, const Schedule& schedule) {
  const kernel::Kernel kernel = kernel::merge_loops(given);
  const std::vector<Nest> nests = nests_of(kernel);
  ensure(schedule.nests.size() == nests.size(), "a schedule has an entry for each nest");
  std::vector<TaskGroup> groups;
  for (std::size_t k = 0; k < nests.size(); ++k) {
    Division division(kernel, nests[k], schedule.nests[k]);
    groups.push_back({division.tasks, Collector(kernel, nests[k], division.spans).take()});
  }
  return groups;
}

std::string print(const std::vector<TaskGroup>& groups, std::size_t inputs) {
  std::string text;
  for (const auto& group : groups) {
    const std::map<std::string, Expr, std::less<>> named{
        {std::string(Expr::coordinate(task_axis, group.tasks).name()), Expr::variable("t")}};
    text += cat("; tasks t < ", group.tasks);
    for (std::size_t k = 0; k < group.buffers.size(); ++k) {
      if (!group.buffers[k]) continue;
      const auto& [first, last] = *group.buffers[k];
      text += cat(", ", k < inputs ? cat("%", k) : cat("out", k - inputs), "[", first.substitute(named),
                  " … ", last.substitute(named), "]");
    }
    text += '\n';
  }
  return text;
}

}  // namespace luminal::codegen
