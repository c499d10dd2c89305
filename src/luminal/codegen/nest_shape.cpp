#include "luminal/codegen/nest_shape.h"

#include <algorithm>
#include <set>

#include "luminal/codegen/attend.h"
#include "luminal/codegen/contract.h"
#include "luminal/codegen/nest.h"
#include "luminal/kernel/merge_loops.h"
#include "luminal/kernel/structure.h"
#include "luminal/support/text.h"

namespace luminal::codegen {
namespace {

using kernel::LoopId;

class ShapeText {
 public:
  ShapeText(const kernel::Kernel& kernel, const DimMap& hints) : kernel_(kernel), hints_(hints) {}

  std::string extent(LoopId loop) const {
    const Expr& extent = kernel_.loop(loop).extent;
    const auto length = extent.try_eval(hints_);
    return length ? cat(*length) : extent.text();
  }
  /// Adds how many points the loops have.
  void add(std::string_view what, const std::vector<LoopId>& loops) {
    text_ += cat(" ", what, " ", points_of(kernel_, loops, hints_));
  }
  void add(std::string_view what) { text_ += cat(" ", what); }
  std::string take() { return std::move(text_); }

 private:
  const kernel::Kernel& kernel_;
  const DimMap& hints_;
  std::string text_;
};

NestShape shape_of(const kernel::Kernel& kernel, const Nest& nest, const DimMap& hints) {
  NestShape shape;
  shape.loops = kernel.stores()[nest.stores.front()].domain;
  ShapeText text(kernel, hints);
  if (nest.sequential) text.add("sequential");
  const auto roots = roots_of(kernel, nest);
  std::set<std::string_view> dtypes;
  for (const auto root : roots) dtypes.insert(name(kernel.value(root).dtype));
  for (const auto dtype : dtypes) text.add(dtype);
  for (const auto loop : shape.loops) shape.extents.push_back(text.extent(loop));
  text.add("for", shape.loops);
  for (const auto& sweep : kernel::sweeps_of(kernel, roots)) {
    text.add("over", sweep.loops);
    text.add(cat("of ", sweep.reductions.size()));
  }
  shape.points = points_of(kernel, shape.loops, hints);
  if (const auto attention = attention_of(kernel, nest)) {
    text.add("attends");
    shape.rows = points_of(kernel, attention->rows, hints);
    shape.columns = points_of(kernel, {attention->keys}, hints);
  } else if (const auto found = contractions_of(kernel, nest)) {
    text.add("rows", found->rows);
    text.add("columns", found->columns);
    shape.rows = points_of(kernel, found->rows, hints);
    shape.columns = points_of(kernel, found->columns, hints);
    shape.depth = points_of(kernel, found->sums.front().depth, hints);
  }
  shape.text = text.take();
  return shape;
}

}  // namespace

std::vector<NestShape> nest_shapes(const kernel::Kernel& given, const DimMap& hints) {
  const kernel::Kernel kernel = kernel::merge_loops(given);
  std::vector<NestShape> shapes;
  for (const auto& nest : nests_of(kernel)) shapes.push_back(shape_of(kernel, nest, hints));
  return shapes;
}

std::optional<NestSchedule> moved(const NestSchedule& schedule, const NestShape& from, const NestShape& to) {
  if ((schedule.vector_loop || !schedule.cover.empty()) && from.extents != to.extents) return std::nullopt;
  const auto there = [&](LoopId loop) {
    const auto found = std::find(from.loops.begin(), from.loops.end(), loop);
    return to.loops.at(static_cast<std::size_t>(found - from.loops.begin()));
  };
  NestSchedule result = schedule;
  for (auto& loop : result.cover) loop = there(loop);
  if (result.vector_loop) result.vector_loop = there(*result.vector_loop);
  return result;
}

}  // namespace luminal::codegen
