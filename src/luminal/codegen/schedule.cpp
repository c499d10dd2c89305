#include "luminal/codegen/schedule.h"

#include <algorithm>
#include <cmath>

#include "luminal/codegen/attend.h"
#include "luminal/codegen/contract.h"
#include "luminal/codegen/nest.h"
#include "luminal/codegen/strides.h"
#include "luminal/kernel/merge_loops.h"
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

  NestSchedule choose(bool templates) {
    NestSchedule schedule;
    if (templates && choose_tiles(schedule)) return schedule;
    choose_retile(schedule);
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
      if (std::any_of(loops.covered.begin(), loops.covered.end(), [&](LoopId loop) {
            const auto extent = kernel_.loop(loop).extent.constant_value();
            return !extent || *extent >= lanes;
          }))
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

  double size_of_all(const std::vector<LoopId>& loops) const {
    return points(kernel_, kernel::set_of(loops), hints_);
  }

  /// Tiles for a contraction that is large enough to fill them.
  bool choose_tiles(NestSchedule& schedule) const {
    if (const auto attention = attention_of(kernel_, nest_)) return choose_attention(schedule, *attention);
    const auto shape = contractions_of(kernel_, nest_);
    if (!shape) return false;
    const double rows = size_of_all(shape->rows);
    const double columns = size_of_all(shape->columns);
    const double depth = size_of_all(shape->sums.front().depth);
    const int element = static_cast<int>(byte_size(kernel_.value(shape->sums.front().sum).dtype));
    const int lanes = std::max(1, machine_.vector_bytes / element);
    if (columns < lanes || rows * columns * depth < 4096) return false;
    if (rows < 2) {  // a vector times a matrix: worth it where the matrix is contiguous along the columns
      for (const auto& sum : shape->sums)
        if (!direct_read(kernel_, sum.right, sum.depth, shape->columns)) return false;
    }
    TileSchedule tiles;
    const int registers = machine_.vector_registers;
    const int widest = rows < 2 ? 8 : registers >= 32 ? 4 : 2;
    tiles.vectors =
        static_cast<int>(std::clamp(std::ceil(columns / lanes), 1.0, static_cast<double>(widest)));
    const int most = std::min((registers - tiles.vectors - 1) / tiles.vectors, 14);
    tiles.rows = static_cast<int>(std::min(static_cast<double>(most), std::max(1.0, rows)));
    const double tile = static_cast<double>(tiles.vectors) * lanes;
    const double pieces = std::max(1.0, std::ceil(depth / 512));  // of about equal depth
    tiles.depth = static_cast<std::int64_t>(std::max(1.0, std::ceil(depth / pieces)));
    double block_rows = std::ceil(std::min(rows, 192.0) / tiles.rows) * tiles.rows;
    double block_columns = std::ceil(std::min(columns, 512.0) / tile) * tile;
    const double batch = size_of_all(shape->batch);
    const double wanted = machine_.workers < 2
                              ? 1
                              : std::min(4.0 * machine_.workers, rows * columns * depth * batch / (1 << 20));
    const auto tasks = [&] {
      return batch * std::ceil(rows / block_rows) * std::ceil(columns / block_columns);
    };
    while (tasks() < wanted && block_columns > tile)
      block_columns = std::ceil(block_columns / tile / 2) * tile;
    // Every task packs what its rows are multiplied with: few rows are not worth that, if all workers have
    // some.
    const double few = 4.0 * tiles.rows;
    while (tasks() < wanted && block_rows > tiles.rows && (block_rows > few || tasks() < machine_.workers))
      block_rows = std::ceil(block_rows / tiles.rows / 2) * tiles.rows;
    tiles.block_rows = static_cast<std::int64_t>(block_rows);
    tiles.block_columns = static_cast<std::int64_t>(block_columns);
    schedule.lanes = lanes;
    schedule.tiles = tiles;
    return true;
  }

  bool choose_attention(NestSchedule& schedule, const Attention& shape) const {
    const auto columns = constant_points(shape.columns);
    const auto depth = constant_points(shape.depth);
    const double rows = size_of_all(shape.rows);
    const double keys = size_of_all({shape.keys});
    if (!columns || !depth || *columns > 512 || *depth > 512 || *columns < 1 || *depth < 1 || rows < 8)
      return false;
    const int lanes = std::max(1, machine_.vector_bytes / 4);
    TileSchedule tiles;
    const int widest = machine_.vector_registers >= 32 ? 4 : 2;
    tiles.vectors = std::clamp(static_cast<int>((*columns + lanes - 1) / lanes), 1, widest);
    tiles.rows = std::min((machine_.vector_registers - tiles.vectors - 1) / tiles.vectors, 14);
    const double tile = static_cast<double>(tiles.vectors) * lanes;
    tiles.block_columns = static_cast<std::int64_t>(std::ceil(std::clamp(keys, 1.0, 256.0) / tile) * tile);
    double block = std::ceil(std::min(rows, 96.0) / tiles.rows) * tiles.rows;
    const double batch = size_of_all(shape.batch);
    const double wanted =
        machine_.workers < 2
            ? 1
            : std::min(4.0 * machine_.workers, rows * keys * batch * static_cast<double>(*depth) / (1 << 20));
    while (batch * std::ceil(rows / block) < wanted && block > tiles.rows)
      block = std::ceil(block / tiles.rows / 2) * tiles.rows;
    tiles.block_rows = static_cast<std::int64_t>(block);
    schedule.lanes = lanes;
    schedule.tiles = tiles;
    return true;
  }

  std::optional<std::int64_t> constant_points(const std::vector<LoopId>& loops) const {
    Expr count(1);
    for (const auto loop : loops) count = count * kernel_.loop(loop).extent;
    return count.constant_value();
  }

  /// Few points in the grid, and little that lacks the covered loops: better computed by every task than by
  /// one alone.
  void choose_retile(NestSchedule& schedule) const {
    const NestLoops loops = loops_of(kernel_, nest_, schedule);
    if (nest_.sequential || loops.covered.empty() || machine_.workers < 2) return;
    std::vector<LoopId> grid = loops.outer;
    if (loops.inner) grid.push_back(*loops.inner);
    if (size_of_all(grid) >= 2.0 * machine_.workers) return;
    const LoopSet covered = kernel::set_of(loops.covered);
    const LoopSet domain = covered | kernel::set_of(grid);
    double again = 0;
    for (std::size_t k = 0; k < live_.size(); ++k) {
      const auto* reduce = kernel_.values()[k].try_get<value::Reduce>();
      if (!live_[k] || reduce == nullptr) continue;
      const LoopSet& free = kernel_.values()[k].free;
      const LoopSet loops_in = free | kernel::set_of(reduce->loops);
      if ((free & covered) == covered) continue;
      // What varies with a loop of the grid is made again at every point of the others.
      const double tasks = 4.0 * machine_.workers;
      const double times = (free & domain).any() ? points(kernel_, covered & ~free, hints_) : tasks;
      again += points(kernel_, loops_in, hints_) * times;
    }
    schedule.retile = again < 0.3 * work();
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
    constexpr double work_of_a_task = 1 << 18;  // tens of microseconds: waking a thread costs some
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

namespace {

Schedule scheduled(const kernel::Kernel& given, const Machine& machine, const DimMap& hints, bool templates) {
  const kernel::Kernel kernel = kernel::merge_loops(given);
  Schedule schedule;
  for (const auto& nest : nests_of(kernel))
    schedule.nests.push_back(NestScheduler(kernel, nest, machine, hints).choose(templates));
  return schedule;
}

}  // namespace

Schedule default_schedule(const kernel::Kernel& kernel, const Machine& machine, const DimMap& hints) {
  return scheduled(kernel, machine, hints, true);
}

Schedule plain_schedule(const kernel::Kernel& kernel, const Machine& machine, const DimMap& hints) {
  return scheduled(kernel, machine, hints, false);
}

}  // namespace luminal::codegen
