#include "luminal/nn/norm.h"

#include "luminal/frontend/normalise.h"
#include "luminal/frontend/random.h"
#include "luminal/frontend/reduce.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal::nn {
namespace {

/// A vector over the channels of [batch, channels, …], ready to broadcast.
Tensor channels_of(const Tensor& vector, const Tensor& x, Location where) {
  std::vector<Expr> dims(x.rank(), Expr(1));
  dims[1] = vector.shape()[0];
  return in_dtype_of(x, vector, where).reshape(Shape(std::move(dims)), where);
}

void require_channels(const char* what, const Tensor& x, const Tensor& weight, Location where) {
  const Expr& channels = weight.shape()[0];
  if (x.rank() < 2 || prove_lt(x.shape()[1], channels) || prove_lt(channels, x.shape()[1]))
    throw Error(
        cat(what, ": the input has shape ", x.shape(), ", expected ", channels, " channels along axis 1"),
        where);
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
  const Tensor normal = layer_norm(flat, -1, epsilon, where).reshape(x.shape(), where);
  return normal * channels_of(weight, x, where) + channels_of(bias, x, where);
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
  const auto scaled = [&](const Tensor& mean, const Tensor& variance) {
    const Tensor factor = weight / (variance + epsilon).sqrt(where);
    return (x - channels_of(mean, x, where)) * channels_of(factor, x, where) + channels_of(bias, x, where);
  };
  if (mode == Mode::eval) return scaled(running_mean, running_var);
  std::vector<int> axes{0};
  for (int axis = 2; axis < static_cast<int>(x.rank()); ++axis) axes.push_back(axis);
  const Tensor wide = x.cast(compute_dtype(x.dtype()), where);
  const Tensor mean = wide.mean(Axes(axes), false, where);
  const Tensor variance = wide.var(Axes(axes), 0, false, where);
  const Tensor unbiased = wide.var(Axes(axes), 1, false, where);
  running_mean.assign(running_mean.next(where) * (1 - momentum) + mean.stop_gradient(where) * momentum,
                      where);
  running_var.assign(running_var.next(where) * (1 - momentum) + unbiased.stop_gradient(where) * momentum,
                     where);
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
  runs.assign(runs + 1, where);
  return dropout(x, probability, Seed(runs, stream + calls++), where);
}

void Dropout::visit(Visitor& v) {
  v.buffer("runs", runs);
  v.mode(mode);
}

}  // namespace luminal::nn
