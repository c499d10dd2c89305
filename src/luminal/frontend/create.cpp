#include "luminal/frontend/create.h"

#include <cmath>

#include "luminal/frontend/formula.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// i64 numbers as `dtype`: iota itself gives integers only.
Tensor counted(Graph& graph, const Expr& value, const Shape& shape, DType dtype, Location where) {
  return graph.iota(value, shape, DType::i64, where).cast(dtype, where);
}

}  // namespace

Tensor arange(Graph& graph, const Expr& end, DType dtype, Location where) {
  return arange(graph, 0, end, 1, dtype, where);
}

Tensor arange(Graph& graph, const Expr& start, const Expr& end, const Expr& step, DType dtype,
              Location where) {
  if (prove_eq(step, 0)) throw Error("arange: the step is 0", where);
  const bool down = prove_lt(step, 0);
  const Expr size = down ? Expr::ceil_div(start - end, -step) : Expr::ceil_div(end - start, step);
  if (prove_lt(size, 0))
    throw Error(cat("arange: ", end, " is not reached from ", start, " in steps of ", step), where);
  const Expr length = Expr::max(size, 0);
  return counted(graph, start + step * Expr::coordinate(0, length), {length}, dtype, where);
}

// In f64 and rounded once, as PyTorch does.
Tensor arange_real(Graph& graph, double start, double end, double step, DType dtype, Location where) {
  if (!std::isfinite(start) || !std::isfinite(end) || !std::isfinite(step) || step == 0)
    throw Error(cat("arange: from ", shortest(start), " to ", shortest(end), " in steps of ", shortest(step)),
                where);
  const double size = std::ceil((end - start) / step);
  if (size < 0 || size > 0x1p53)
    throw Error(cat("arange: ", shortest(end), " is not reached from ", shortest(start), " in steps of ",
                    shortest(step)),
                where);
  const Expr length(static_cast<std::int64_t>(size));
  const Term place(counted(graph, Expr::coordinate(0, length), {length}, DType::f64, where), where);
  return (place * step + start).cast(dtype);
}

// From the nearer end, so that both ends are exact.
Tensor linspace(Graph& graph, double start, double end, const Expr& count, DType dtype, Location where) {
  if (prove_lt(count, 0)) throw Error(cat("linspace: the count is ", count, ", expected at least 0"), where);
  const Expr place = Expr::coordinate(0, count);
  const Term from_start(counted(graph, place, {count}, DType::f64, where), where);
  const Term from_end(counted(graph, count - 1 - place, {count}, DType::f64, where), where);
  const Term steps(counted(graph, Expr::max(count - 1, 1), {}, DType::f64, where), where);
  const Term step = (end - start) / steps;
  const Term near_start(graph.iota(place * 2, {count}, DType::i64, where), where);
  return select(near_start < Term(count), from_start * step + start, end - from_end * step).cast(dtype);
}

Tensor eye(Graph& graph, const Expr& rows, const Expr& columns, DType dtype, Location where) {
  for (const auto& size : {rows, columns})
    if (prove_lt(size, 0)) throw Error(cat("eye: a size is ", size, ", expected at least 0"), where);
  const Expr equal = Expr::equal(Expr::coordinate(0, rows), Expr::coordinate(1, columns));
  return counted(graph, equal, {rows, columns}, dtype, where);
}

Tensor eye(Graph& graph, const Expr& size, DType dtype, Location where) {
  return eye(graph, size, size, dtype, where);
}

Tensor full(Graph& graph, const Shape& shape, const Number& value, std::optional<DType> dtype,
            Location where) {
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (prove_lt(shape[i], 0)) throw Error(cat("full: dim ", i, " of ", shape, " is negative"), where);
  return stretched(graph.constant(value, dtype, where), shape, where);
}

Tensor zeros(Graph& graph, const Shape& shape, DType dtype, Location where) {
  return full(graph, shape, Number(0), dtype, where);
}

Tensor ones(Graph& graph, const Shape& shape, DType dtype, Location where) {
  return full(graph, shape, Number(1), dtype, where);
}

}  // namespace luminal
