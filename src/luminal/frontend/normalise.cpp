#include "luminal/frontend/normalise.h"

#include <cmath>

#include "luminal/frontend/formula.h"
#include "luminal/frontend/reduce.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// The axis of a function along one; a scalar has one axis of size 1 here, as in PyTorch.
std::vector<std::size_t> along(const Tensor& x, int axis, std::string_view operation, Location where) {
  if (x.rank() > 0) return {resolve_axis(axis, x.rank(), operation, where)};
  resolve_axis(axis, 1, operation, where);
  return {};
}

Term mean_over(const Term& x, const std::vector<std::size_t>& axes) {
  return sum(x, axes, true) / Term(count_of(x.shape(), axes));
}

Term scaled_to_one(const Term& x, const std::vector<std::size_t>& axes, double epsilon) {
  return x * apply(Op::recip, apply(Op::sqrt, mean_over(x * x, axes) + epsilon));
}

Term centred(const Term& x, const std::vector<std::size_t>& axes) {
  return x - mean_over(x, axes);
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return std::ldexp(1.0, -52);
    case DType::f16:
      return std::ldexp(1.0, -10);
    case DType::bf16:
      return std::ldexp(1.0, -7);
    case DType::f8e4m3:
      return std::ldexp(1.0, -3);
    case DType::f8e5m2:
      return std::ldexp(1.0, -2);
    default:
      return std::ldexp(1.0, -23);
  }
}

/// The weight or bias in the dtype in which the function computes; its shape must broadcast to x's.
Term widened(const Tensor& weight, const Wide& wide, std::string_view operation, Location where) {
  const Shape shape = broadcast_shape(wide.x.shape(), weight.shape(), operation, where);
  if (shape.rank() != wide.x.rank())
    throw Error(cat(operation, ": a weight of shape ", weight.shape(), " does not fit ", wide.x.shape()),
                where);
  return {weight.cast(wide.x.dtype(), where), where};
}

/// What is subtracted so that no exponential overflows. The result does not depend on it, so neither does the
/// gradient.
Term largest(const Term& x, const std::vector<std::size_t>& axes) {
  return reduce(Op::reduce_max, x, axes, true).stop_gradient();
}

}  // namespace

Tensor softmax(const Tensor& x, int axis, Location where) {
  require_floating(x, "softmax", where);
  const auto axes = along(x, axis, "softmax", where);
  const Wide wide(x, where);
  const Term weight = exp(wide.x - largest(wide.x, axes));
  return wide.finish(weight / sum(weight, axes, true));
}

Tensor log_softmax(const Tensor& x, int axis, Location where) {
  require_floating(x, "log_softmax", where);
  const auto axes = along(x, axis, "log_softmax", where);
  const Wide wide(x, where);
  const Term shifted = wide.x - largest(wide.x, axes);
  return wide.finish(shifted - log(sum(exp(shifted), axes, true)));
}

Tensor layer_norm(const Tensor& x, const Axes& axes, double epsilon, Location where) {
  require_floating(x, "layer_norm", where);
  const auto resolved = axes.resolve(x.rank(), "layer_norm", where);
  const Wide wide(x, where);
  return wide.finish(scaled_to_one(centred(wide.x, resolved), resolved, epsilon));
}

Tensor layer_norm(const Tensor& x, const Axes& axes, const Tensor& weight, const std::optional<Tensor>& bias,
                  double epsilon, Location where) {
  require_floating(x, "layer_norm", where);
  const auto resolved = axes.resolve(x.rank(), "layer_norm", where);
  const Wide wide(x, where);
  Term result = scaled_to_one(centred(wide.x, resolved), resolved, epsilon) *
                widened(weight, wide, "layer_norm", where);
  if (bias) result = result + widened(*bias, wide, "layer_norm", where);
  return wide.finish(result);
}

Tensor rms_norm(const Tensor& x, const Axes& axes, std::optional<double> epsilon, Location where) {
  require_floating(x, "rms_norm", where);
  const auto resolved = axes.resolve(x.rank(), "rms_norm", where);
  const Wide wide(x, where);
  return wide.finish(scaled_to_one(wide.x, resolved, epsilon.value_or(epsilon_of(x.dtype()))));
}

Tensor rms_norm(const Tensor& x, const Axes& axes, const Tensor& weight, std::optional<double> epsilon,
                Location where) {
  require_floating(x, "rms_norm", where);
  const auto resolved = axes.resolve(x.rank(), "rms_norm", where);
  const Wide wide(x, where);
  const Term scaled = scaled_to_one(wide.x, resolved, epsilon.value_or(epsilon_of(x.dtype())));
  return wide.finish(scaled * widened(weight, wide, "rms_norm", where));
}

Tensor mean_norm(const Tensor& x, const Axes& axes, Location where) {
  require_floating(x, "mean_norm", where);
  const Wide wide(x, where);
  return wide.finish(centred(wide.x, axes.resolve(x.rank(), "mean_norm", where)));
}

Tensor std_norm(const Tensor& x, const Axes& axes, double epsilon, Location where) {
  require_floating(x, "std_norm", where);
  const Wide wide(x, where);
  return wide.finish(scaled_to_one(wide.x, axes.resolve(x.rank(), "std_norm", where), epsilon));
}

Tensor normalize(const Tensor& x, double p, const Axes& axes, double epsilon, Location where) {
  require_floating(x, "normalize", where);
  axes.resolve(x.rank(), "normalize", where);
  const Wide wide(x, where);
  const Term size(norm(wide.x.tensor(), p, axes, true, where), where);
  // Not max: at epsilon the gradient goes to the norm, as PyTorch's clamp_min gives it.
  return wide.finish(wide.x / select(size < epsilon, epsilon, size));
}

}  // namespace luminal
