#include <algorithm>

#include "luminal/codegen/emit.h"
#include "luminal/codegen/spell.h"
#include "luminal/codegen/strides.h"
#include "luminal/kernel/structure.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::LoopSet;
using kernel::Monoid;
using kernel::ValueId;
namespace value = kernel::value;

namespace {

/// Vectors that accumulate side by side along a sweep's vector loop, so that none waits for the one before.
constexpr int most_chains = 4;

/// One variable of the state of a reduction: one value, or an array over loops that are not bound yet.
struct Cell {
  std::string name;
  std::vector<LoopId> axes;
  DType held = DType::f32;
  /// Has a value a lane of a vector loop around the sweep.
  bool lanes = false;
  /// The same, one a lane of the sweep's own vector loop, until the sweep's end combines them.
  std::string partial;
  std::string initial;
};

/// What a reduction keeps while it sweeps. The maxima of soft_sums over one x are one cell.
struct State {
  ValueId id;
  const value::Reduce* reduce = nullptr;
  std::vector<LoopId> axes;
  Cell total;
  Cell count;
  Cell mean;
  std::size_t top = 0;  // soft_sum: index of its maximum
};

struct Top {
  ValueId x;
  std::vector<LoopId> axes;
  Cell cell;
  bool shared = true;
};

}  // namespace

/// Prints one sweep.
class SweepPrinter {
 public:
  SweepPrinter(Emitter& emitter, const std::vector<ValueId>& reductions)
      : e_(emitter), kernel_(emitter.kernel()), helpers_(emitter.helpers()), reductions_(reductions) {}

  void print();

 private:
  Emitter& e_;
  const kernel::Kernel& kernel_;
  Helpers& helpers_;
  const std::vector<ValueId>& reductions_;
  std::vector<LoopId> loops_;
  LoopSet bound_;
  std::vector<State> states_;
  std::vector<Top> tops_;
  bool in_vector_ = false;
  int chains_ = most_chains;
  /// Printing the body whose lanes are points of the sweep's own vector loop.
  bool partial_ = false;

  void make_states();
  Cell make_cell(std::string_view prefix, ValueId id, const std::vector<LoopId>& axes, const LoopSet& free,
                 const Scalar& initial);
  void declare(Cell& cell, bool with_partial);
  void loops(std::size_t depth, const std::optional<LoopId>& vector);
  void body();
  void along_axes(const std::vector<LoopId>& axes, const std::vector<std::size_t>& members);
  void axis_loops(const std::vector<LoopId>& axes, std::size_t depth, bool lanes,
                  const std::vector<std::size_t>& members);
  void update(State& state);
  void update_top(Top& top);
  void combine_partials();
  void combine_soft(State& state, const std::string& top);
  void combine_m2(State& state);
  void finish(State& state);

  Operand get(const Cell& cell);
  void set(const Cell& cell, const std::string& text, bool lanes);
  bool lanes_of(const Cell& cell) const;
  std::string place(const Cell& cell);
  DType held(const State& s) const { return s.total.held; }
};

Cell SweepPrinter::make_cell(std::string_view prefix, ValueId id, const std::vector<LoopId>& axes,
                             const LoopSet& free, const Scalar& initial) {
  Cell cell;
  cell.name = e_.fresh(cat(prefix, id.value(), "_"));
  cell.axes = axes;
  cell.held = register_dtype(initial.dtype);
  cell.lanes = e_.is_lanes(free);
  cell.initial = spell_constant(initial);
  return cell;
}

void SweepPrinter::make_states() {
  const LoopSet sweep_loops = kernel::set_of(loops_);
  for (const auto id : reductions_) {
    const auto& v = kernel_.value(id);
    State state;
    state.id = id;
    state.reduce = v.try_get<value::Reduce>();
    state.axes = loops_in(v.free & ~bound_);
    const DType compute = is_boolean(v.dtype) ? v.dtype : compute_dtype(v.dtype);
    const Monoid monoid = state.reduce->monoid;
    state.total = make_cell("a", id, state.axes, v.free, neutral_of(monoid, v.dtype));
    if (monoid == Monoid::m2) {
      state.count = make_cell("n", id, {}, {}, make_scalar(compute, 0.0));
      state.mean = make_cell("u", id, state.axes, v.free, make_scalar(compute, 0.0));
    }
    if (monoid == Monoid::soft_sum) {
      const ValueId x = state.reduce->arguments[0];
      const LoopSet free = kernel_.value(x).free & ~sweep_loops;
      const auto axes = loops_in(free & ~bound_);
      const auto found =
          std::find_if(tops_.begin(), tops_.end(), [&](const Top& t) { return t.x == x && t.shared; });
      state.top = static_cast<std::size_t>(found - tops_.begin());
      if (found == tops_.end() || !axes.empty()) {
        state.top = tops_.size();
        Top top{x, axes.empty() ? axes : state.axes, {}, axes.empty()};
        top.cell =
            make_cell("x", x, top.axes, axes.empty() ? free : v.free, neutral_of(Monoid::max, compute));
        tops_.push_back(std::move(top));
      }
    }
    states_.push_back(std::move(state));
  }
}

void SweepPrinter::declare(Cell& cell, bool with_partial) {
  if (cell.name.empty()) return;
  const std::string type = helpers_.type(cell.held, e_.width(cell.lanes));
  const std::string initial = cell.lanes ? e_.splat({cell.initial, false}, cell.held) : cell.initial;
  if (cell.axes.empty()) {
    e_.line(cat(type, " ", cell.name, " = ", initial, ";"));
    if (with_partial) {
      cell.partial = cell.name + "p";
      e_.line(cat(helpers_.type(cell.held, e_.lanes()), " ", cell.partial, "[", chains_, "];"));
      e_.line(cat("for (int u = 0; u < ", chains_, "; ++u) ", cell.partial,
                  "[u] = ", e_.splat({cell.initial, false}, cell.held), ";"));
    }
    return;
  }
  Expr count(1);
  for (const auto axis : cell.axes) count = count * kernel_.loop(axis).extent;
  e_.allocate(cell.name, cell.held, cell.lanes, count);
  e_.line(cat("for (i64 z = 0; z < ", e_.text(count), "; ++z) ", cell.name, "[z] = ", initial, ";"));
}

std::string SweepPrinter::place(const Cell& cell) {
  std::vector<Expr> index;
  std::vector<Expr> dims;
  for (const auto axis : cell.axes) {
    index.push_back(kernel_.variable(axis));
    dims.push_back(kernel_.loop(axis).extent);
  }
  return e_.text(flat_index(index, Shape(dims)));
}

bool SweepPrinter::lanes_of(const Cell& cell) const {
  if (cell.axes.empty()) return partial_ ? !cell.partial.empty() : cell.lanes;
  return cell.lanes || e_.is_lanes(kernel::set_of(cell.axes));
}

Operand SweepPrinter::get(const Cell& cell) {
  if (cell.axes.empty())
    return partial_ && !cell.partial.empty() ? Operand{cell.partial + "[u]", true}
                                             : Operand{cell.name, cell.lanes};
  const std::string at = place(cell);
  if (!cell.lanes && lanes_of(cell))
    return {cat("(*(", helpers_.type(cell.held, e_.lanes()), "_u*)(", cell.name, " + ", at, "))"), true};
  return {cat(cell.name, "[", at, "]"), cell.lanes};
}

void SweepPrinter::set(const Cell& cell, const std::string& text, bool lanes) {
  const Operand target = get(cell);
  ensure(target.lanes || !lanes, "a reduction's state has lanes where its argument has");
  e_.line(cat(target.text, " = ", target.lanes ? e_.splat({text, lanes}, cell.held) : text, ";"));
}

void SweepPrinter::print() {
  loops_ = kernel_.value(reductions_.front()).try_get<value::Reduce>()->loops;
  bool covers = false;
  for (const Scope* scope = &e_.scope(); scope != nullptr; scope = scope->parent) {
    bound_ |= scope->binds;
    in_vector_ = in_vector_ || scope->vector.has_value();
  }
  make_states();
  for (const auto& state : states_) covers = covers || !state.axes.empty();
  std::optional<LoopId> vector;
  if (!in_vector_ && !covers && e_.lanes() > 1) {
    std::vector<ValueId> roots;
    for (const auto& state : states_)
      roots.insert(roots.end(), state.reduce->arguments.begin(), state.reduce->arguments.end());
    vector = e_.best_vector_loop(loops_, roots);
  }
  if (vector)
    if (const auto extent = kernel_.loop(*vector).extent.constant_value())
      chains_ = static_cast<int>(std::clamp<std::int64_t>(*extent / e_.lanes(), 1, most_chains));
  for (auto& top : tops_) declare(top.cell, vector.has_value());
  for (auto& state : states_) {
    declare(state.total, vector.has_value());
    declare(state.count, vector.has_value());
    declare(state.mean, vector.has_value());
  }
  std::string nonempty;
  for (const auto loop : loops_)
    if (!prove_lt(Expr(0), kernel_.loop(loop).extent))
      nonempty += cat(nonempty.empty() ? "" : " && ", e_.extent(loop), " > 0");
  e_.open().guards =
      !nonempty.empty();  // what is not read if there is no point must not be read before the loops
  if (vector) {           // innermost
    std::erase(loops_, *vector);
    loops_.push_back(*vector);
  }
  loops(0, vector);
  e_.close(nonempty.empty() ? "" : cat("if (", nonempty, ")"));
  if (vector) combine_partials();
  for (auto& state : states_) finish(state);
}

void SweepPrinter::loops(std::size_t depth, const std::optional<LoopId>& vector) {
  if (depth == loops_.size()) return body();
  const LoopId loop = loops_[depth];
  const std::string end = e_.extent(loop);
  if (vector != loop) {
    e_.open_loop(loop);
    loops(depth + 1, vector);
    e_.close_loop(loop, "0", end);
    return;
  }
  const std::string i = cat("i", loop.value());
  const int lanes = e_.lanes();
  partial_ = true;
  e_.open();
  e_.open_loop(loop, lanes);
  e_.scope().text.clear();
  e_.line(cat("const i64 ", i, " = ", i, "_n + u * ", lanes, ", ", i, "_0 = ", i, ";"));
  e_.line(cat("if (", i, " + ", lanes, " > ", end, ") break;"));
  body();
  e_.close(cat("for (int u = 0; u < ", chains_, "; ++u)"));
  e_.close(cat("for (i64 ", i, "_n = 0; ", i, "_n + ", lanes, " <= ", end, "; ", i, "_n += ", chains_ * lanes,
               ")"));
  partial_ = false;
  if (prove_divides(Expr(e_.lanes()), kernel_.loop(loop).extent)) return;
  e_.open_loop(loop);
  body();
  e_.close_loop(loop, cat(end, " / ", e_.lanes(), " * ", e_.lanes()), end);
}

void SweepPrinter::body() {
  std::vector<ValueId> roots;
  for (const auto& state : states_)
    roots.insert(roots.end(), state.reduce->arguments.begin(), state.reduce->arguments.end());
  e_.sweeps_inside(roots, kernel::set_of(loops_));
  for (auto& top : tops_)
    if (top.shared) update_top(top);
  std::vector<std::vector<LoopId>> groups;
  for (const auto& state : states_)
    if (std::find(groups.begin(), groups.end(), state.axes) == groups.end()) groups.push_back(state.axes);
  for (const auto& axes : groups) {
    std::vector<std::size_t> members;
    for (std::size_t k = 0; k < states_.size(); ++k)
      if (states_[k].axes == axes) members.push_back(k);
    along_axes(axes, members);
  }
}

void SweepPrinter::along_axes(const std::vector<LoopId>& axes, const std::vector<std::size_t>& members) {
  // Arrays are row-major over the axes, so only the last can be the lanes.
  const bool may = !in_vector_ && !partial_ && e_.lanes() > 1 && !axes.empty();
  std::vector<ValueId> roots;
  for (const auto k : members)
    roots.insert(roots.end(), states_[k].reduce->arguments.begin(), states_[k].reduce->arguments.end());
  const bool lanes = may && e_.best_vector_loop({axes.back()}, roots).has_value();
  axis_loops(axes, 0, lanes, members);
}

void SweepPrinter::axis_loops(const std::vector<LoopId>& axes, std::size_t depth, bool lanes,
                              const std::vector<std::size_t>& members) {
  if (depth == axes.size()) {
    for (const auto k : members) {
      State& state = states_[k];
      if (state.reduce->monoid == Monoid::soft_sum && !tops_[state.top].shared) update_top(tops_[state.top]);
      update(state);
    }
    return;
  }
  const LoopId loop = axes[depth];
  const std::string end = e_.extent(loop);
  std::string begin = "0";
  if (lanes && depth + 1 == axes.size()) {
    e_.open_loop(loop, e_.lanes());
    axis_loops(axes, depth + 1, false, members);
    e_.close_loop(loop, begin, end, e_.lanes());
    if (prove_divides(Expr(e_.lanes()), kernel_.loop(loop).extent)) return;
    begin = cat(end, " / ", e_.lanes(), " * ", e_.lanes());
  }
  e_.open_loop(loop);
  axis_loops(axes, depth + 1, lanes, members);
  e_.close_loop(loop, begin, end);
}

/// m' = max(m, x), and what that means for sums so far (by c) and for this term (p).
void SweepPrinter::update_top(Top& top) {
  const bool lanes = lanes_of(top.cell);
  const int wide = e_.width(lanes);
  const DType held = top.cell.held;
  const std::string type = helpers_.type(held, wide);
  const Operand x = e_.value(top.x);
  const std::string old = e_.fresh("t");
  const std::string next = e_.fresh("t");
  e_.line(cat("const ", type, " ", old, " = ", get(top.cell).text, ", ", next, " = ",
              spell_combine(helpers_, Monoid::max, held, old, lanes ? e_.splat(x, held) : x.text, wide),
              ";"));
  const std::string scale = helpers_.use("scale", held, wide);
  const std::string tag = cat(top.cell.name);
  e_.line(cat("const ", type, " ", tag, "c = ", scale, "(", old, ", ", next, "), ", tag, "q = ", scale, "(",
              lanes ? e_.splat(x, held) : x.text, ", ", next, ");"));
  set(top.cell, next, lanes);
}

void SweepPrinter::update(State& state) {
  const value::Reduce& reduce = *state.reduce;
  const DType dtype = kernel_.value(state.id).dtype;
  const bool lanes = lanes_of(state.total);
  const int wide = e_.width(lanes);
  const Operand total = get(state.total);
  const DType held = state.total.held;
  if (reduce.monoid == Monoid::soft_sum) {
    const Top& top = tops_[state.top];
    const bool top_lanes = lanes_of(top.cell);
    const auto spread = [&](const std::string& text) {
      return lanes ? e_.splat({text, top_lanes}, held) : text;
    };
    const std::string w = e_.value(reduce.arguments[1], lanes);
    set(state.total,
        cat(helpers_.use("fma", held, wide), "(", total.text, ", ", spread(top.cell.name + "c"), ", ",
            spread(top.cell.name + "q"), " * ", w, ")"),
        lanes);
    return;
  }
  if (reduce.monoid == Monoid::m2) {
    const std::string x = e_.value(reduce.arguments[0], lanes);
    const std::string d = e_.fresh("t");
    const std::string n = e_.fresh("t");
    const std::string type = helpers_.type(held, wide);
    if (state.axes.empty()) {
      const Operand count = get(state.count);
      e_.line(
          cat(count.text, " = ", count.text, " + ", count.lanes ? e_.splat({"1", false}, held) : "1", ";"));
      e_.line(cat("const ", type, " ", n, " = ", lanes ? e_.splat(count, held) : count.text, ";"));
    } else {  // the number of the sweep's points so far, the same along all axes
      Expr number(0);
      for (const auto loop : loops_) number = number * kernel_.loop(loop).extent + kernel_.variable(loop);
      const std::string scalar = cat("((", type_name(held), ")", e_.text(number + Expr(1)), ")");
      e_.line(cat("const ", type, " ", n, " = ", lanes ? e_.splat({scalar, false}, held) : scalar, ";"));
    }
    const std::string mean = get(state.mean).text;
    const std::string next = e_.fresh("t");
    e_.line(
        cat("const ", type, " ", d, " = ", x, " - ", mean, ", ", next, " = ", mean, " + ", d, " / ", n, ";"));
    set(state.total, cat(total.text, " + ", d, " * (", x, " - ", next, ")"), lanes);
    set(state.mean, next, lanes);
    return;
  }
  const auto* product = kernel_.value(reduce.arguments[0]).try_get<value::Map>();
  if (reduce.monoid == Monoid::sum && product != nullptr && product->op == Op::mul &&
      (dtype == DType::f32 || dtype == DType::f64) && !e_.available(reduce.arguments[0])) {
    const std::string a = e_.value(product->arguments[0], lanes);
    const std::string b = e_.value(product->arguments[1], lanes);
    set(state.total, cat(helpers_.use("fma", held, wide), "(", a, ", ", b, ", ", total.text, ")"), lanes);
    return;
  }
  const std::string x = e_.value(reduce.arguments[0], lanes);
  set(state.total, spell_combine(helpers_, reduce.monoid, dtype, total.text, x, wide), lanes);
}

/// Chains into the first one, vector by vector; then its lanes into the value.
void SweepPrinter::combine_partials() {
  const int lanes = e_.lanes();
  const std::string chain = cat("for (int u = 1; u < ", chains_, "; ++u) ");
  const std::string lane = cat("for (int l = 0; l < ", lanes, "; ++l) ");
  for (auto& top : tops_) {
    const std::string all = top.cell.name + "t";
    const std::string wide = top.cell.name + "w";
    const DType held = top.cell.held;
    const auto larger = [&](const std::string& a, const std::string& b, int width) {
      return cat(a, " = ", spell_combine(helpers_, Monoid::max, held, a, b, width), ";");
    };
    e_.line(cat(helpers_.type(held, lanes), " ", wide, " = ", top.cell.partial, "[0];"));
    e_.line(cat(chain, larger(wide, top.cell.partial + "[u]", lanes)));
    e_.line(cat(held, " ", all, " = ", top.cell.name, ";"));
    e_.line(cat(lane, larger(all, wide + "[l]", 1)));
  }
  for (auto& state : states_) {
    if (state.reduce->monoid == Monoid::soft_sum) {
      combine_soft(state, tops_[state.top].cell.name + "t");
    } else if (state.reduce->monoid == Monoid::m2) {
      combine_m2(state);
    } else {
      const std::string& partial = state.total.partial;
      const auto joined = [&](const std::string& a, const std::string& b, int width) {
        return cat(a, " = ",
                   spell_combine(helpers_, state.reduce->monoid, kernel_.value(state.id).dtype, a, b, width),
                   ";");
      };
      e_.line(cat(chain, joined(partial + "[0]", partial + "[u]", lanes)));
      e_.line(cat(lane, joined(state.total.name, partial + "[0][l]", 1)));
    }
  }
  for (auto& top : tops_) e_.line(cat(top.cell.name, " = ", top.cell.name, "t;"));
}

void SweepPrinter::combine_soft(State& state, const std::string& top) {
  const Cell& total = state.total;
  const Cell& m = tops_[state.top].cell;
  const std::string scale = helpers_.use("scale", total.held, 1);
  const std::string scales = helpers_.use("scale", total.held, e_.lanes());
  const std::string& p = total.partial;
  const std::string tops = e_.splat({top, false}, total.held);
  e_.line(cat(p, "[0] = ", p, "[0] * ", scales, "(", m.partial, "[0], ", tops, ");"));
  e_.line(cat("for (int u = 1; u < ", chains_, "; ++u) ", p, "[0] = ", p, "[0] + ", p, "[u] * ", scales, "(",
              m.partial, "[u], ", tops, ");"));
  e_.line(cat(total.name, " = ", total.name, " * ", scale, "(", m.name, ", ", top, ");"));
  e_.line(
      cat("for (int l = 0; l < ", e_.lanes(), "; ++l) ", total.name, " = ", total.name, " + ", p, "[0][l];"));
}

/// Two sets' counts, means and sums of squared differences give those of both.
void SweepPrinter::combine_m2(State& state) {
  const std::string& a = state.total.name;
  const std::string& n = state.count.name;
  const std::string& u = state.mean.name;
  const std::string& squares = state.total.partial;
  const std::string& counts = state.count.partial;
  const std::string& means = state.mean.partial;
  const std::string one = e_.splat({spell_constant(make_scalar(held(state), 1.0)), false}, held(state));
  e_.line(cat("for (int u = 1; u < ", chains_, "; ++u) {"));
  e_.line(cat("  const ", helpers_.type(held(state), e_.lanes()), " both = ", counts, "[0] + ", counts,
              "[u], d = ", means, "[u] - ", means, "[0], share = ", counts, "[u] / ",
              spell_combine(helpers_, Monoid::max, held(state), "both", one, e_.lanes()), ";"));
  e_.line(cat("  ", squares, "[0] = ", squares, "[0] + ", squares, "[u] + d * d * (", counts,
              "[0] * share); ", means, "[0] = ", means, "[0] + d * share; ", counts, "[0] = both;"));
  e_.line("}");
  e_.line(cat("for (int l = 0; l < ", e_.lanes(), "; ++l) {"));
  e_.line(cat("  const ", held(state), " k = ", counts, "[0][l], d = ", means, "[0][l] - ", u, ", both = ", n,
              " + k;"));
  e_.line(cat("  if (k > 0) { ", a, " = ", a, " + ", squares, "[0][l] + d * d * (", n, " * k / both); ", u,
              " = ", u, " + d * (k / both); ", n, " = both; }"));
  e_.line("}");
}

void SweepPrinter::finish(State& state) {
  const DType dtype = kernel_.value(state.id).dtype;
  const bool soft = state.reduce->monoid == Monoid::soft_sum;
  const bool rounds = register_dtype(dtype) != dtype && is_floating(dtype);
  Scope& scope = e_.scope();
  const Cell& total = state.total;
  const int wide = e_.width(total.lanes);
  const auto finished = [&](const std::string& text, const std::string& top) {
    std::string result = text;
    if (soft) result = cat(helpers_.use("unless_empty", total.held, wide), "(", result, ", ", top, ")");
    return rounds ? spell_round(helpers_, dtype, result, wide) : result;
  };
  const auto top_text = [&](const std::string& suffix) -> std::string {
    if (!soft) return "";
    const Cell& cell = tops_[state.top].cell;
    const Operand top{cell.name + (cell.axes.empty() ? "" : suffix), cell.lanes};
    return total.lanes ? e_.splat(top, cell.held) : top.text;
  };
  if (state.axes.empty()) {
    if (soft || rounds) e_.line(cat(total.name, " = ", finished(total.name, top_text("")), ";"));
    scope.values.insert_or_assign(state.id, Operand{total.name, total.lanes});
    return;
  }
  if (soft || rounds) {
    Expr count(1);
    for (const auto axis : state.axes) count = count * kernel_.loop(axis).extent;
    e_.line(cat("for (i64 z = 0; z < ", e_.text(count), "; ++z) ", total.name,
                "[z] = ", finished(total.name + "[z]", top_text("[z]")), ";"));
  }
  scope.arrays.insert_or_assign(state.id, Array{total.name, state.axes, total.lanes});
}

void print_sweep(Emitter& emitter, const std::vector<ValueId>& reductions) {
  SweepPrinter(emitter, reductions).print();
}

}  // namespace luminal::codegen
