#include "luminal/frontend/random.h"

#include <cmath>
#include <numbers>

#include "luminal/frontend/compare.h"
#include "luminal/frontend/formula.h"
#include "luminal/frontend/reduce.h"
#include "luminal/frontend/scan.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// Words of 32 random bits.
Tensor words(Graph& graph, const Shape& shape, const Seed& seed, Location where) {
  const auto* number = std::get_if<Number>(&seed.key);
  const Tensor key =
      number != nullptr ? graph.constant(*number, DType::u64, where) : std::get<Tensor>(seed.key);
  return graph.add_op(Op::random, where)
      .attribute(attribute::Random{seed.stream})
      .type({shape, DType::u32})
      .input(key)
      .finish();
}

/// Uniform in [0, 1) in f32 or f64.
Tensor uniform(Graph& graph, const Shape& shape, const Seed& seed, DType dtype, Location where) {
  if (dtype != DType::f64) {
    const Term bits(words(graph, shape, seed, where), where);
    return apply(Op::shift_right, bits, 8).cast(DType::f32) * 0x1p-24;
  }
  std::vector<Expr> pairs = {2};
  pairs.insert(pairs.end(), shape.begin(), shape.end());
  const Tensor both = words(graph, Shape(std::move(pairs)), seed, where);
  const auto half = [&](int k) {
    const Tensor part = both.slice(0, k, k + 1, 1, where).reshape(shape, where);
    return Term(part.cast(DType::u64, where), where);
  };
  const Term bits = apply(Op::shift_left, half(0), 32) | half(1);
  return apply(Op::shift_right, bits, 11).cast(DType::f64) * 0x1p-53;
}

void require_float(DType dtype, std::string_view operation, Location where) {
  if (!is_floating(dtype)) throw Error(cat(operation, ": gives floats, not ", dtype), where);
}

}  // namespace

Tensor rand(Graph& graph, const Shape& shape, const Seed& seed, DType dtype, Location where) {
  require_float(dtype, "rand", where);
  const Term drawn(uniform(graph, shape, seed, dtype, where), where);
  if (dtype == DType::f64 || dtype == DType::f32) return drawn;
  // Rounded down, so that 1 is never reached: as many bits as the dtype has.
  const double bits = dtype == DType::f16 ? 11 : dtype == DType::bf16 ? 8 : dtype == DType::f8e4m3 ? 4 : 3;
  const double scale = std::exp2(bits);
  return (apply(Op::floor, drawn * scale) * (1.0 / scale)).cast(dtype);
}

// Box and Muller: two uniform numbers give a radius and an angle.
Tensor randn(Graph& graph, const Shape& shape, const Seed& seed, DType dtype, Location where) {
  require_float(dtype, "randn", where);
  std::vector<Expr> pairs = {2};
  pairs.insert(pairs.end(), shape.begin(), shape.end());
  const DType wide = compute_dtype(dtype);
  const Tensor drawn = uniform(graph, Shape(std::move(pairs)), seed, wide, where);
  const auto half = [&](int k) {
    return Term(drawn.slice(0, k, k + 1, 1, where).reshape(shape, where), where);
  };
  // 1 - u is never 0.
  const Term radius = apply(Op::sqrt, log(1.0 - half(0)) * -2.0);
  return (radius * apply(Op::cos, half(1) * (2 * std::numbers::pi))).cast(dtype);
}

Tensor randint(Graph& graph, std::int64_t low, std::int64_t high, const Shape& shape, const Seed& seed,
               DType dtype, Location where) {
  if (low >= high) throw Error(cat("randint: there is no number from ", low, " to below ", high), where);
  const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (range > 0x100000000ULL)
    throw Error(cat("randint: ", range, " different numbers, expected at most 4294967296"), where);
  const Term bits(words(graph, shape, seed, where).cast(DType::u64, where), where);
  const Term scaled = apply(Op::shift_right, bits * Term(range), 32);
  return (scaled.cast(DType::i64) + low).cast(dtype);
}

Tensor dropout(const Tensor& x, double probability, const Seed& seed, Location where) {
  require_floating(x, "dropout", where);
  if (!(probability >= 0 && probability <= 1))
    throw Error(cat("dropout: the probability is ", shortest(probability), ", expected one in [0, 1]"),
                where);
  if (probability == 0) return x;
  const Wide wide(x, where);
  Graph graph = x.graph(where);
  if (probability == 1) return wide.finish(wide.x * 0.0);
  const Term drawn(uniform(graph, x.shape(), seed, DType::f32, where), where);
  return wide.finish(select(drawn < probability, 0.0, wide.x * (1.0 / (1.0 - probability))));
}

namespace {

/// The number of weights whose running sum does not exceed a uniform share of the total.
Tensor with_replacement(const Term& weights, const Expr& count, const Seed& seed) {
  const Location where = weights.where();
  Graph graph = weights.tensor().graph(where);
  const Term running(cumsum(weights, -1, where), where);
  const std::size_t last = weights.rank() - 1;
  const Term total = sum(weights, {last}, true);
  const Shape shape(replaced_dims(weights.shape(), last, 1, {count}));
  const Term drawn = Term(uniform(graph, shape, seed, weights.dtype(), where), where) * total;
  const Term passed = !(drawn.unsqueeze(-1) < running.unsqueeze(static_cast<int>(last)));
  const Term place = sum(passed.cast(DType::i64), {last + 1}, false);
  // Rounding may let a draw pass the last weight; the last position whose weight is not 0 takes it.
  const Term index(positions(weights.tensor(), weights.rank(), last, weights.shape()[last], where), where);
  const Term final_place = reduce(Op::reduce_max, select(0 < weights, index, 0), {last}, true);
  return minimum(place, final_place);
}

/// The largest of weight / Exp(1): each order of positions has the probability of drawing it.
Tensor without_replacement(const Term& weights, const Expr& count, const Seed& seed) {
  const Location where = weights.where();
  Graph graph = weights.tensor().graph(where);
  const Term drawn(uniform(graph, weights.shape(), seed, weights.dtype(), where), where);
  const Term waiting = -apply(Op::log1p, -drawn);
  const Term rank = select(0 < weights, weights / waiting, -1.0);
  return topk(rank, count, -1, true, where).indices;
}

}  // namespace

Tensor multinomial(const Tensor& weights, const Expr& count, bool replacement, const Seed& seed,
                   Location where) {
  require_floating(weights, "multinomial", where);
  if (weights.rank() == 0) throw Error("multinomial: takes weights along an axis, got a scalar", where);
  const Expr& length = weights.shape()[weights.rank() - 1];
  if (!replacement && prove_lt(length, count))
    throw Error(cat("multinomial: ", count, " different positions of ", length), where);
  const Wide wide(weights, where);
  return replacement ? with_replacement(wide.x, count, seed) : without_replacement(wide.x, count, seed);
}

}  // namespace luminal
