#include <cmath>

#include "suite.h"

namespace luminal::ops {
namespace {

// Our random sequences are not PyTorch's: the cases here compare what any sequence must satisfy, as 0 or 1.

Tensor within(const Tensor& value, double middle, const Operand& distance) {
  return (value.cast(DType::f64) - middle).abs() < distance;
}

/// Mean and variance of many draws, within five standard errors.
Outputs moments(const Tensor& drawn, double mean, double deviation) {
  const Tensor x = drawn.cast(DType::f64);
  const Tensor root = x.graph().constant(x.shape().element_count()).cast(DType::f64).sqrt();
  return {within(x.mean(), mean, 5 * deviation / root),
          within(x.var(), deviation * deviation, 10 * deviation * deviation / root)};
}

Outputs all_of(std::vector<Tensor> claims) {
  Tensor result = claims.at(0).all();
  for (const auto& claim : claims) result = result & claim.all();
  return {result};
}

Seed seed_of(const Args& args) {
  return {static_cast<std::uint64_t>(args.integer("seed", 1)),
          static_cast<std::uint64_t>(args.integer("stream"))};
}

Tensor joined(const Outputs& claims) {
  return all_of(claims)[0];
}

Outputs uniform(Graph& g, const Args& args) {
  const Tensor x = rand(g, Shape(args.sizes("shape")), seed_of(args), args.dtype("dtype"));
  const Tensor again = rand(g, x.shape(), seed_of(args), args.dtype("dtype"));
  const Tensor other = rand(g, x.shape(), Seed(12345, 1), args.dtype("dtype"));
  return {joined(
      {x >= 0, x < 1, eq(x, again), ne(x, other).any(), joined(moments(x, 0.5, 1 / std::sqrt(12.0)))})};
}

Outputs normal(Graph& g, const Args& args) {
  const Tensor x = randn(g, Shape(args.sizes("shape")), seed_of(args), args.dtype("dtype"));
  const Tensor beyond = (x.abs() > 1.0).cast(DType::f64).mean();
  return {joined({x.isfinite(), joined(moments(x, 0, 1)), within(beyond, 0.3173, 0.05)})};
}

Outputs integers(Graph& g, const Args& args) {
  const std::int64_t low = args.integer("low");
  const std::int64_t high = args.integer("high");
  const Tensor x = randint(g, low, high, Shape(args.sizes("shape")), seed_of(args), args.dtype("dtype"));
  const double count = static_cast<double>(high - low);
  const double deviation = std::sqrt((count * count - 1) / 12);
  return {
      joined({x >= low, x < high, joined(moments(x, static_cast<double>(low + high - 1) / 2, deviation))})};
}

Outputs dropped(const Tensor& x, const Args& args) {
  const double probability = args.real("p");
  const Tensor y = x.dropout(probability, seed_of(args));
  const Tensor zero = y.eq(0);
  const Tensor scaled = (y - x / (1 - probability)).abs() <= y.abs() * 0.01;
  return {joined({logical_or(zero, scaled), within(zero.cast(DType::f64).mean(), probability, 0.1)})};
}

/// Frequencies of positions, as the weights say; without replacement all differ.
Outputs drawn(const Tensor& weights, const Args& args) {
  const std::int64_t count = args.integer("count");
  const bool replacement = args.flag("replacement");
  const Tensor x = weights.multinomial(count, replacement, seed_of(args));
  const Expr classes = weights.shape()[weights.rank() - 1];
  const Tensor hits = x.one_hot(classes);
  const Tensor seen = hits.sum(-2).cast(DType::f64);
  const Tensor share = weights.cast(DType::f64) / weights.cast(DType::f64).sum(-1, true);
  if (!replacement) return {joined({seen <= 1, seen.sum(-1).eq(count), logical_or(seen.eq(0), share > 0)})};
  return {
      joined({(seen / static_cast<double>(count) - share).abs() < 0.1, logical_or(seen.eq(0), share > 0)})};
}

}  // namespace

Family random_family() {
  const std::string own = "our own sequence; the suite checks its distribution and that a seed repeats it.";
  return {"random",
          "At random",
          {
              {"rand", "torch.rand",
               [](Graph& g, const Inputs&, const Args& args) { return uniform(g, args); }, own},
              {"randn", "torch.randn",
               [](Graph& g, const Inputs&, const Args& args) { return normal(g, args); }, own},
              {"randint", "torch.randint",
               [](Graph& g, const Inputs&, const Args& args) { return integers(g, args); }, own},
              {"dropout", "F.dropout",
               [](Graph&, const Inputs& in, const Args& args) { return dropped(tensor(in, 0), args); }, own},
              {"multinomial", "torch.multinomial",
               [](Graph&, const Inputs& in, const Args& args) { return drawn(tensor(in, 0), args); }, own},
          }};
}

}  // namespace luminal::ops
