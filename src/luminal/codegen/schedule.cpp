#include "luminal/codegen/schedule.h"

#include <algorithm>
#include <cmath>

#include "luminal/codegen/nest.h"
#include "luminal/codegen/strides.h"
#include "luminal/kernel/structure.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::LoopSet;
using kernel::ValueId;
namespace value = kernel::value;

namespace {

constexpr std::int64_t everything = std::int64_t{1} << 40;

/// Places may be written twice, or are read before they are written.
bool is_ordered(const kernel::Store& store) {
  if (store.mode == kernel::Store::Mode::add) return true;
  return std::any_of(store.index.begin(), store.index.end(),
                     [](const Expr& e) { return !kernel::positions_of(e).empty(); });
}

bool same_loops(const std::vector<LoopId>& a, const std::vector<LoopId>& b) {
  return kernel::set_of(a) == kernel::set_of(b);
}

/// Sizes for decisions: a dim that no hint names counts as this much.
double size_of(const Expr& extent, const DimMap& hints) {
  DimMap known = hints;
  for (const auto& variable : extent.variables())
    if (!variable.coordinate_axis()) known.try_emplace(std::string(variable.name()), 256);
  return static_cast<double>(extent.try_eval(known).value_or(256));
}

double points(const kernel::Kernel& kernel, const LoopSet& loops, const DimMap& hints) {
  double count = 1;
  for (std::size_t k = 0; k < kernel.loops().size(); ++k)
    if (loops.test(k)) count *= size_of(kernel.loops()[k].extent, hints);
  return count;
}

class NestScheduler {
 public:
  NestScheduler(const kernel::Kernel& kernel, const Nest& nest, const Machine& machine, const DimMap& hints)
      : kernel_(kernel),
        nest_(nest),
        machine_(machine),
        hints_(hints),
        roots_(roots_of(kernel, nest)),
        live_(kernel::reachable(kernel, roots_)) {}

  NestSchedule choose() {
    NestSchedule schedule;
    choose_lanes(schedule);
    choose_grain(schedule);
    return schedule;
  }

 private:
  const kernel::Kernel& kernel_;
  const Nest& nest_;
  const Machine& machine_;
  const DimMap& hints_;
  std::vector<ValueId> roots_;
  kernel::ValueSet live_;

  /// Lanes of the widest elements that are computed with: vectors of others are shorter.
  int widest_lanes() const {
    std::size_t bytes = 4;
    for (std::size_t k = 0; k < live_.size(); ++k)
      if (live_[k] && kernel_.values()[k].free.any() && kernel_.values()[k].dtype == DType::f64) bytes = 8;
    return std::max(1, machine_.vector_bytes / static_cast<int>(bytes));
  }

  int store_gain(LoopId loop, int lanes) const {
    int gain = 0;
    for (const auto index : nest_.stores) {
      const kernel::Store& store = kernel_.stores()[index];
      const auto step =
          step_along(kernel_, flat_index(store.index, kernel_.outputs()[store.output].shape), loop, lanes);
      gain += step && *step == Expr(1) ? 4 : -4;
    }
    return gain;
  }

  /// Neighbouring points of this loop write neighbouring places, none of them twice.
  bool may_be_lanes(LoopId loop, int lanes) const {
    if (!nest_.sequential) return true;
    if (loop != kernel_.stores()[nest_.stores.front()].domain.back()) return false;
    for (const auto index : nest_.stores) {
      const kernel::Store& store = kernel_.stores()[index];
      const auto step =
          step_along(kernel_, flat_index(store.index, kernel_.outputs()[store.output].shape), loop, lanes);
      if (!step || *step != Expr(1)) return false;
    }
    return true;
  }

  /// What the sweeps gain by lanes along loops of their own.
  int gain_within(int lanes) const {
    int gain = 0;
    const auto& domain = kernel_.stores()[nest_.stores.front()].domain;
    for (const auto& sweep : kernel::analyse(kernel_, roots_, domain).sweeps) {
      int best = 0;
      for (const auto loop : sweep.loops) {
        const auto extent = kernel_.loop(loop).extent.constant_value();
        if (extent && *extent < lanes) continue;
        best = std::max(best, lanes_gain(kernel_, loop, sweep.reductions, lanes));
      }
      gain += best;
    }
    return gain;
  }

  void choose_lanes(NestSchedule& schedule) const {
    if (machine_.vector_bytes == 0) return;
    for (int lanes = widest_lanes(); lanes >= 2; lanes /= 2) {
      const NestLoops loops = loops_of(kernel_, nest_, schedule);
      std::vector<LoopId> grid = loops.outer;
      if (loops.inner) grid.push_back(*loops.inner);
      int best = gain_within(lanes);
      if (!loops.covered.empty())
        best = std::max(best, 1);  // the loops after the sweeps have lanes of their own
      bool found = best > 0;
      for (const auto loop : grid) {
        const auto extent = kernel_.loop(loop).extent.constant_value();
        if ((extent && *extent < lanes) || !may_be_lanes(loop, lanes)) continue;
        const int gain = lanes_gain(kernel_, loop, roots_, lanes) + store_gain(loop, lanes);
        if (gain >= best && gain > 0) {
          best = gain;
          schedule.vector_loop = loop;
          found = true;
        }
      }
      if (found) {
        schedule.lanes = lanes;
        return;
      }
    }
  }

  /// About as many element operations as the nest computes.
  double work() const {
    double total = 0;
    for (std::size_t k = 0; k < live_.size(); ++k) {
      if (!live_[k]) continue;
      LoopSet loops = kernel_.values()[k].free;
      if (const auto* reduce = kernel_.values()[k].try_get<value::Reduce>())
        loops |= kernel::set_of(reduce->loops);
      total += points(kernel_, loops, hints_);
    }
    return total;
  }

  void choose_grain(NestSchedule& schedule) const {
    schedule.grain = schedule.chunk = everything;
    constexpr double work_of_a_task = 65536;
    const double tasks = std::min(std::floor(work() / work_of_a_task), 8.0 * machine_.workers);
    if (tasks < 2 || machine_.workers < 2) return;
    const NestLoops loops = loops_of(kernel_, nest_, schedule);
    const double outer = points(kernel_, kernel::set_of(loops.outer), hints_);
    if (outer >= tasks) {
      schedule.grain = static_cast<std::int64_t>(std::ceil(outer / tasks));
      return;
    }
    schedule.grain = 1;
    if (!loops.inner) return;
    const double inner = size_of(kernel_.loop(*loops.inner).extent, hints_);
    const double each = std::max(1.0, std::ceil(inner * outer / tasks));
    const int unit = schedule.vector_loop ? schedule.lanes : 1;
    schedule.chunk = (static_cast<std::int64_t>(each) + unit - 1) / unit * unit;
  }
};

}  // namespace

std::vector<Nest> nests_of(const kernel::Kernel& kernel) {
  std::vector<Nest> nests;
  for (std::uint32_t k = 0; k < kernel.stores().size(); ++k) {
    const kernel::Store& store = kernel.stores()[k];
    const bool ordered = is_ordered(store);
    const bool scans = kernel.value(store.value).try_get<value::Scan>() != nullptr;
    Nest* joined = nullptr;
    for (auto& nest : nests) {
      const kernel::Store& first = kernel.stores()[nest.stores.front()];
      const bool first_scans = kernel.value(first.value).try_get<value::Scan>() != nullptr;
      if (!ordered && !scans && !first_scans && !nest.sequential && same_loops(first.domain, store.domain))
        joined = &nest;
    }
    if (joined != nullptr) {
      joined->stores.push_back(k);
    } else {
      nests.push_back({{k}, ordered});
    }
  }
  return nests;
}

Schedule default_schedule(const kernel::Kernel& kernel, const Machine& machine, const DimMap& hints) {
  Schedule schedule;
  for (const auto& nest : nests_of(kernel))
    schedule.nests.push_back(NestScheduler(kernel, nest, machine, hints).choose());
  return schedule;
}

}  // namespace luminal::codegen
