#include "luminal/codegen/variants.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "luminal/codegen/attend.h"
#include "luminal/codegen/contract.h"
#include "luminal/codegen/library.h"
#include "luminal/codegen/nest.h"
#include "luminal/codegen/schedule_text.h"
#include "luminal/kernel/merge_loops.h"
#include "luminal/kernel/structure.h"

namespace luminal::codegen {
namespace {

using kernel::LoopId;

std::int64_t rounded_up(double value, std::int64_t unit) {
  const auto pieces = static_cast<std::int64_t>(value + static_cast<double>(unit) - 1) / unit;
  return std::max<std::int64_t>(1, pieces) * unit;
}

/// Collects schedules, each once.
class Collection {
 public:
  explicit Collection(const Schedule& known) : known_(known) { seen_.insert(text(known)); }
  void add(std::size_t nest, const NestSchedule& changed) {
    Schedule schedule = known_;
    schedule.nests[nest] = changed;
    if (seen_.insert(text(schedule)).second) schedules_.push_back(std::move(schedule));
  }
  std::vector<Schedule> take() { return std::move(schedules_); }

 private:
  const Schedule& known_;
  std::set<std::string> seen_;
  std::vector<Schedule> schedules_;
};

/// One nest and what its knobs can be.
class Knobs {
 public:
  Knobs(const kernel::Kernel& kernel, const Nest& nest, const Machine& machine, const DimMap& hints)
      : kernel_(kernel), nest_(nest), machine_(machine), hints_(hints) {
    for (const auto& loop : kernel.loops())
      work_ *= static_cast<double>(std::max<std::int64_t>(1, loop.extent.try_eval(hints).value_or(256)));
    if (const auto attention = attention_of(kernel, nest)) {
      attends_ = true;
      rows_ = points_of(kernel, attention->rows, hints);
      columns_ = points_of(kernel, {attention->keys}, hints);
    } else if (const auto shape = contractions_of(kernel, nest)) {
      rows_ = points_of(kernel, shape->rows, hints);
      columns_ = points_of(kernel, shape->columns, hints);
      depth_ = points_of(kernel, shape->sums.front().depth, hints);
      batch_ = points_of(kernel, shape->batch, hints);
    }
  }

  /// A library's call for each block: of rows, of columns, or all of them; a worker has one of them at least.
  void library(std::size_t number, Collection& found) const {
    if (!machine_.blas || !library_call(kernel_, nest_)) return;
    const auto add = [&](double rows, double columns) {
      NestSchedule next;
      next.tiles = TileSchedule{.rows = 1,
                                .vectors = 1,
                                .block_rows = rounded_up(rows, 1),
                                .block_columns = rounded_up(columns, 1),
                                .depth = 1,
                                .library = true};
      found.add(number, next);
    };
    const double pieces = std::max(1.0, std::ceil(machine_.workers / std::max(1.0, batch_)));
    if (rows_ >= pieces) add(std::ceil(rows_ / pieces), columns_);
    if (columns_ >= pieces) add(rows_, std::ceil(columns_ / pieces));
    add(rows_, columns_);
  }

  /// Other shapes of register tiles, with blocks of about the size that `from` has.
  void tile_shapes(const NestSchedule& from, std::size_t number, Collection& found) const {
    if (!from.tiles || from.tiles->library) return;
    constexpr std::pair<int, int> shapes[] = {{14, 2}, {12, 2}, {8, 3}, {9, 3},  {6, 4}, {4, 4},
                                              {8, 2},  {4, 6},  {3, 8}, {14, 1}, {7, 1}, {6, 2},
                                              {1, 8},  {1, 4},  {2, 8}, {2, 4},  {5, 5}};
    const int registers = machine_.vector_registers;
    for (const auto& [rows, vectors] : shapes) {
      if (rows * vectors + vectors + 1 > registers) continue;
      if (rows > rows_ * 1.5 || (vectors - 1) * from.lanes >= columns_) continue;
      found.add(number, with_tile(from, rows, vectors));
    }
  }

  void tile_blocks(const NestSchedule& from, std::size_t number, Collection& found) const {
    const TileSchedule& tiles = *from.tiles;
    const std::int64_t wide = std::int64_t{tiles.vectors} * from.lanes;
    for (const double factor : {0.5, 2.0, 4.0, 0.25}) {
      NestSchedule next = from;
      next.tiles->block_rows =
          rounded_up(std::min(static_cast<double>(tiles.block_rows) * factor, rows_), tiles.rows);
      found.add(number, next);
      next = from;
      next.tiles->block_columns =
          rounded_up(std::min(static_cast<double>(tiles.block_columns) * factor, columns_), wide);
      found.add(number, next);
      if (attends_ || tiles.library) continue;
      next = from;
      next.tiles->depth = std::max<std::int64_t>(
          16, static_cast<std::int64_t>(std::min(static_cast<double>(tiles.depth) * factor, depth_)));
      found.add(number, next);
    }
    NestSchedule next = from;
    next.tiles->block_rows =
        rounded_up(std::min(static_cast<double>(tiles.block_rows) * 2, rows_), tiles.rows);
    next.tiles->block_columns = rounded_up(static_cast<double>(tiles.block_columns) / 2, wide);
    found.add(number, next);
  }

  /// As many blocks as tasks may be wanted, of whole rows or of whole columns, in one step from wherever, if
  /// they stay close; and all terms at once, or as few as there may be.
  void tile_tasks(const NestSchedule& from, std::size_t number, Collection& found) const {
    const TileSchedule& tiles = *from.tiles;
    const std::int64_t wide = std::int64_t{tiles.vectors} * from.lanes;
    const auto add = [&](double rows, double columns) {
      constexpr double element = 4;
      constexpr double close = 4;  // a shared cache holds some times what a worker's does
      if (element * rows * columns > close * static_cast<double>(machine_.l2_bytes)) return;
      NestSchedule next = from;
      next.tiles->block_rows = rounded_up(std::ceil(rows), tiles.rows);
      next.tiles->block_columns = rounded_up(std::ceil(columns), wide);
      found.add(number, next);
    };
    for (const double each : {1.0, 2.0, 4.0, 16.0}) {
      const double tasks = std::max(1.0, std::ceil(each * machine_.workers / std::max(1.0, batch_)));
      add(rows_, columns_ / tasks);
      add(rows_ / tasks, columns_);
    }
    if (attends_ || tiles.library) return;
    for (const double depth : {16.0, depth_}) {
      NestSchedule next = from;
      next.tiles->depth = std::max<std::int64_t>(16, static_cast<std::int64_t>(depth));
      found.add(number, next);
    }
  }

  /// Other loops as lanes, other numbers of lanes.
  void vectors(const NestSchedule& from, std::size_t number, Collection& found) const {
    if (from.tiles || machine_.vector_bytes == 0) return;
    const int widest = machine_.vector_bytes / 4;
    for (const int lanes : {widest, widest * 2, widest / 2, 1}) {
      // Scalars are worth a try where there is little to do.
      if (lanes < 1 || (lanes == 1 && work_ > 1e6)) continue;
      NestSchedule next = from;
      next.lanes = lanes;
      if (lanes == 1) {
        next.vector_loop.reset();
        found.add(number, next);
        continue;
      }
      if (nest_.sequential && !from.vector_loop) continue;
      if (!nest_.sequential) {
        NestSchedule within = next;
        within.vector_loop.reset();
        found.add(number, within);
      }
      for (const auto loop : grid_of(from)) {
        if (nest_.sequential && loop != *from.vector_loop) continue;
        const auto extent = kernel_.loop(loop).extent.constant_value();
        if (extent && *extent < lanes) continue;
        next.vector_loop = loop;
        next.chunk = rounded_up(static_cast<double>(std::min(from.chunk, whole)), lanes);
        found.add(number, next);
      }
    }
  }

  void grains(const NestSchedule& from, std::size_t number, Collection& found) const {
    if (from.tiles || nest_.sequential) return;
    const auto grid = grid_of(from);
    if (grid.empty()) return;
    const NestLoops loops = loops_of(kernel_, nest_, from);
    const double outer = points_of(kernel_, loops.outer, hints_);
    const double inner = points_of(kernel_, {*loops.inner}, hints_);
    const int unit = from.vector_loop ? from.lanes : 1;
    const auto split = [&](double tasks) {
      NestSchedule next = from;
      if (tasks <= 1) {
        next.grain = next.chunk = whole;
      } else if (outer >= tasks) {
        next.grain = static_cast<std::int64_t>(outer / tasks + 0.999);
        next.chunk = whole;
      } else {
        next.grain = 1;
        next.chunk = rounded_up(inner * outer / tasks, unit);
      }
      found.add(number, next);
    };
    for (const double tasks : {1.0, 1.0 * machine_.workers, 2.0 * machine_.workers, 4.0 * machine_.workers,
                               8.0 * machine_.workers, 32.0 * machine_.workers, 128.0 * machine_.workers})
      split(tasks);
    if (!nest_.sequential) {
      NestSchedule next = from;
      next.retile = !next.retile;
      found.add(number, next);
    }
  }

 private:
  static constexpr std::int64_t whole = std::int64_t{1} << 40;
  const kernel::Kernel& kernel_;
  const Nest& nest_;
  const Machine& machine_;
  const DimMap& hints_;
  bool attends_ = false;
  double rows_ = 1;
  double columns_ = 1;
  double depth_ = 1;
  double batch_ = 1;
  double work_ = 1;

  std::vector<LoopId> grid_of(const NestSchedule& schedule) const {
    const NestLoops loops = loops_of(kernel_, nest_, schedule);
    std::vector<LoopId> grid = loops.outer;
    if (loops.inner) grid.push_back(*loops.inner);
    return grid;
  }

  NestSchedule with_tile(const NestSchedule& from, int rows, int vectors) const {
    NestSchedule next = from;
    next.tiles->rows = rows;
    next.tiles->vectors = vectors;
    const std::int64_t wide = std::int64_t{vectors} * from.lanes;
    next.tiles->block_rows = rounded_up(std::min(static_cast<double>(from.tiles->block_rows), rows_), rows);
    next.tiles->block_columns =
        rounded_up(std::min(static_cast<double>(from.tiles->block_columns), columns_), wide);
    return next;
  }
};

template <typename F>
std::vector<Schedule> collected(const kernel::Kernel& given, const Schedule& from, const Machine& machine,
                                const DimMap& hints, F&& visit) {
  const kernel::Kernel kernel = kernel::merge_loops(given);
  const auto nests = nests_of(kernel);
  Collection found(from);
  for (std::size_t k = 0; k < nests.size(); ++k)
    visit(Knobs(kernel, nests[k], machine, hints), from.nests[k], k, found);
  return found.take();
}

}  // namespace

std::vector<Schedule> schedule_variants(const kernel::Kernel& kernel, const Machine& machine,
                                        const DimMap& hints) {
  const Schedule usual = default_schedule(kernel, machine, hints);
  const Schedule plain = plain_schedule(kernel, machine, hints);
  return collected(kernel, usual, machine, hints,
                   [&](const Knobs& knobs, const NestSchedule& from, std::size_t k, Collection& found) {
                     knobs.library(k, found);
                     knobs.tile_shapes(from, k, found);
                     found.add(k, plain.nests[k]);
                     knobs.vectors(plain.nests[k], k, found);
                   });
}

std::vector<Schedule> schedule_neighbours(const kernel::Kernel& kernel, const Schedule& from,
                                          const Machine& machine, const DimMap& hints) {
  return collected(kernel, from, machine, hints,
                   [&](const Knobs& knobs, const NestSchedule& nest, std::size_t k, Collection& found) {
                     if (nest.tiles) {
                       knobs.tile_blocks(nest, k, found);
                       knobs.tile_tasks(nest, k, found);
                       knobs.tile_shapes(nest, k, found);
                     } else {
                       knobs.grains(nest, k, found);
                       knobs.vectors(nest, k, found);
                     }
                   });
}

}  // namespace luminal::codegen
