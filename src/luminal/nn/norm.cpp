#include "luminal/nn/norm.h"

#include "luminal/frontend/formula.h"
#include "luminal/frontend/normalise.h"
#include "luminal/frontend/random.h"
#include "luminal/frontend/reduce.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal::nn {
namespace {

/// A vector over the channels of [batch, channels, …], ready to broadcast.
Term channels_of(const Tensor& vector, const Term& x) {
  std::vector<Expr> dims(x.rank(), Expr(1));
  dims[1] = vector.shape()[0];
  return Term(in_dtype_of(x, vector, x.where()), x.where()).reshape(Shape(std::move(dims)));
}

void require_channels(const char* what, const Tensor& x, const Tensor& weight, Location where) {
  const Expr& channels = weight.shape()[0];
  if (x.rank() < 2 || prove_lt(x.shape()[1], channels) || prove_lt(channels, x.shape()[1]))
    throw Error(
        cat(what, ": the input has shape ", x.shape(), ", expected ", channels, " channels along axis 1"),
        where);
}

/// 1, if there are at least two values a channel: one alone has no variance. Refused now where the dims are
/// known, and by the slice's check where they get their values later.
Tensor one_of_several(const Tensor& x, const Expr& count, Location where) {
  if (prove_lt(count, 2))
    throw Error(cat("BatchNorm: the input has shape ", x.shape(),
                    ", expected more than one value a channel in training"),
                where);
  const Tensor one = constant_like(x, 1.0, compute_dtype(x.dtype()), where);
  if (prove_le(2, count)) return one;
  return one.expand({count}, where).move(movement::Slice{0, 1, 1, 1}, where).squeeze(0, where);
}

}  // namespace

LayerNorm::LayerNorm(const Scope& outer, std::int64_t size, double epsilon_, bool has_bias, Location where)
    : weight(outer.of("layer_norm").state("weight", {size}, init::ones(), where)), epsilon(epsilon_) {
  if (has_bias) bias = outer.sibling(weight.name(where), "bias", {size}, init::zeros(), where);
}

Tensor LayerNorm::operator()(const Tensor& x, Location where) const {
  const std::optional<Tensor> shift =
      bias ? std::optional<Tensor>(in_dtype_of(x, *bias, where)) : std::nullopt;
  return layer_norm(x, -1, in_dtype_of(x, weight, where), shift, epsilon, where);
}

void LayerNorm::visit(Visitor& v) {
  v.parameter("weight", weight);
  v.parameter("bias", bias);
}

RmsNorm::RmsNorm(const Scope& scope, std::int64_t size, double epsilon_, Location where)
    : weight(scope.of("rms_norm").state("weight", {size}, init::ones(), where)), epsilon(epsilon_) {}

Tensor RmsNorm::operator()(const Tensor& x, Location where) const {
  return rms_norm(x, -1, in_dtype_of(x, weight, where), epsilon, where);
}

GroupNorm::GroupNorm(const Scope& outer, std::int64_t groups_, std::int64_t channels, double epsilon_,
                     Location where)
    : weight(outer.of("group_norm").state("weight", {channels}, init::ones(), where)),
      bias(outer.sibling(weight.name(where), "bias", {channels}, init::zeros(), where)),
      groups(groups_),
      epsilon(epsilon_) {
  if (groups < 1 || channels % groups != 0)
    throw Error(cat("GroupNorm: ", channels, " channels do not divide into ", groups, " groups"), where);
}

Tensor GroupNorm::operator()(const Tensor& x, Location where) const {
  require_channels("GroupNorm", x, weight, where);
  Expr rest = weight.shape()[0] / groups;
  for (std::size_t axis = 2; axis < x.rank(); ++axis) rest = rest * x.shape()[axis];
  const Tensor flat = x.reshape({x.shape()[0], groups, rest}, where);
  const Term normal(layer_norm(flat, -1, epsilon, where).reshape(x.shape(), where), where);
  return normal * channels_of(weight, normal) + channels_of(bias, normal);
}

void GroupNorm::visit(Visitor& v) {
  v.parameter("weight", weight);
  v.parameter("bias", bias);
}

BatchNorm::BatchNorm(const Scope& outer, std::int64_t channels, double epsilon_, double momentum_,
                     Location where)
    : weight(outer.of("batch_norm").state("weight", {channels}, init::ones(), where)),
      bias(outer.sibling(weight.name(where), "bias", {channels}, init::zeros(), where)),
      running_mean(outer.sibling(weight.name(where), "running_mean", {channels}, init::zeros(), where)),
      running_var(outer.sibling(weight.name(where), "running_var", {channels}, init::ones(), where)),
      epsilon(epsilon_),
      momentum(momentum_) {}

Tensor BatchNorm::operator()(const Tensor& x, Location where) const {
  require_channels("BatchNorm", x, weight, where);
  const Line at{where};
  const auto scaled = [&](const Term& mean, const Term& variance) {
    const Term factor = at(weight) / apply(Op::sqrt, variance + epsilon);
    return (at(x) - channels_of(mean, at(x))) * channels_of(factor, at(x)) + channels_of(bias, at(x));
  };
  if (mode == Mode::eval) return scaled(at(running_mean), at(running_var));
  std::vector<int> axes{0};
  Expr count = x.shape()[0];
  for (std::size_t axis = 2; axis < x.rank(); ++axis) {
    axes.push_back(static_cast<int>(axis));
    count = count * x.shape()[axis];
  }
  const Tensor wide = x.cast(compute_dtype(x.dtype()), where);
  const Term mean = at(wide.mean(Axes(axes), false, where));
  const Term variance = at(wide.var(Axes(axes), 0, false, where));
  const Term unbiased = at(wide.var(Axes(axes), 1, false, where)) * at(one_of_several(x, count, where));
  const auto move = [&](const State& running, const Term& now) {
    running.assign(at(running.next(where)) * (1 - momentum) + now.stop_gradient() * momentum, where);
  };
  move(running_mean, mean);
  move(running_var, unbiased);
  return scaled(mean, variance);
}

void BatchNorm::visit(Visitor& v) {
  v.parameter("weight", weight);
  v.parameter("bias", bias);
  v.buffer("running_mean", running_mean);
  v.buffer("running_var", running_var);
  v.mode(mode);
}

Dropout::Dropout(const Scope& scope, double probability_, Location where)
    : runs(scope.of("dropout").state("runs", {}, init::zeros(), DType::i64, where)),
      probability(probability_),
      stream(Hash().add(runs.name(where)).value()) {
  if (!(probability >= 0 && probability <= 1))
    throw Error(cat("Dropout: the probability is ", probability, ", expected 0 to 1"), where);
}

Tensor Dropout::operator()(const Tensor& x, Location where) const {
  if (mode == Mode::eval || probability == 0) return x;
  runs.assign(Term(runs, where) + 1, where);
  return dropout(x, probability, Seed(runs, stream + calls++), where);
}

void Dropout::visit(Visitor& v) {
  v.buffer("runs", runs);
  v.mode(mode);
}

}  // namespace luminal::nn
