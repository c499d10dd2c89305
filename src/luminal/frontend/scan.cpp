#include "luminal/frontend/scan.h"

#include "luminal/frontend/formula.h"
#include "luminal/frontend/graph.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::size_t axis_of(const Tensor& x, int axis, std::string_view operation, Location where) {
  return resolve_axis(axis, x.rank() == 0 ? 1 : x.rank(), operation, where);
}

/// Along an axis, by a node that works on the last one.
template <typename F>
Tensor along(const Tensor& x, std::size_t axis, Location where, F&& last) {
  if (x.rank() == 0) return last(x.unsqueeze(0, where)).reshape({}, where);
  return axis_back(last(axis_last(x, axis, where)), axis, where);
}

Tensor scanned(Op op, const Tensor& x, int axis, std::string_view operation, Location where) {
  const std::size_t at = axis_of(x, axis, operation, where);
  return along(x.cast(accumulated(x.dtype()), where), at, where,
               [&](const Tensor& moved) { return node(op, {moved}, {}, operation, where); });
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis, Location where) {
  return scanned(Op::scan_sum, x, axis, "cumsum", where);
}
Tensor cumprod(const Tensor& x, int axis, Location where) {
  return scanned(Op::scan_prod, x, axis, "cumprod", where);
}

Ranked cummax(const Tensor& x, int axis, Location where) {
  const std::size_t at = axis_of(x, axis, "cummax", where);
  const auto values = [&](const Tensor& moved) { return node(Op::scan_max, {moved}, {}, "cummax", where); };
  const auto indices = [&](const Tensor& moved) -> Tensor {
    const Term term(moved, where);
    const Term equal = term == Term(values(moved), where);
    const Term counts = is_floating(moved.dtype()) ? equal | is_nan(term) : equal;
    const std::size_t last = moved.rank() - 1;
    const Term place(positions(moved, moved.rank(), last, moved.shape()[last], where), where);
    return node(Op::scan_max, {select(counts, place, 0)}, {}, "cummax", where);
  };
  return {along(x, at, where, values), along(x, at, where, indices)};
}

Ranked sort(const Tensor& x, int axis, bool descending, Location where) {
  const std::size_t at = axis_of(x, axis, "sort", where);
  Graph graph = x.graph(where);
  const auto output = [&](std::size_t k) {
    return along(x, at, where, [&](const Tensor& moved) {
      return graph.add_op(Op::sort, where)
          .attribute(attribute::Sort{descending})
          .input(moved)
          .finish_all()[k];
    });
  };
  return {output(0), output(1)};
}

Tensor argsort(const Tensor& x, int axis, bool descending, Location where) {
  return sort(x, axis, descending, where).indices;
}

Ranked topk(const Tensor& x, const Expr& count, int axis, bool largest, Location where) {
  const std::size_t at = axis_of(x, axis, "topk", where);
  const Expr length = x.rank() == 0 ? Expr(1) : x.shape()[at];
  if (prove_lt(count, 0) || prove_lt(length, count))
    throw Error(
        cat("topk: takes ", count, " elements of axis ", at, " of ", x.shape(), ", which has ", length),
        where);
  Ranked sorted = sort(x, axis, largest, where);
  if (x.rank() == 0) return sorted;
  const movement::Slice first{at, 0, count, 1};
  return {sorted.values.move(first, where), sorted.indices.move(first, where)};
}

}  // namespace luminal
