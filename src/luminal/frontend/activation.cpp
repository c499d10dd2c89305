#include "luminal/frontend/activation.h"

#include <numbers>

#include "luminal/frontend/compare.h"
#include "luminal/frontend/formula.h"

namespace luminal {
namespace {

// Where a branch is not chosen it computes on 0: an infinity there would make the gradient NaN.

Term softplus_of(const Term& x, double beta, double threshold) {
  const Term scaled = beta == 1 ? x : x * beta;
  const Term linear = threshold < scaled;
  const Term curved = apply(Op::log1p, exp(select(linear, 0.0, scaled)));
  return select(linear, x, beta == 1 ? curved : curved / beta);
}

Term elu_of(const Term& x, double alpha, double scale) {
  const Term positive = 0 < x;
  return select(positive, x * scale, (alpha * scale) * apply(Op::expm1, select(positive, 0.0, x)));
}

Term not_above_zero(const Term& x) {
  return (x < 0) | (x == 0);
}

/// 0 below -3, 1 above 3, a line between.
Term hard_step(const Term& x) {
  const Term low = select(x < -3.0, -3.0, x);
  return (select(3.0 < low, 3.0, low) + 3.0) / 6.0;
}

}  // namespace

Tensor relu(const Tensor& x, Location where) {
  require_numbers(x, "relu", where);
  const Term term(x, where);
  // Not max(x, 0): the gradient at 0 is 0.
  return is_floating(x.dtype()) ? select(not_above_zero(term), 0, term) : maximum(term, 0);
}

Tensor leaky_relu(const Tensor& x, double slope, Location where) {
  require_floating(x, "leaky_relu", where);
  const Wide wide(x, where);
  return wide.finish(select(0 < wide.x, wide.x, wide.x * slope));
}

Tensor elu(const Tensor& x, double alpha, Location where) {
  require_floating(x, "elu", where);
  const Wide wide(x, where);
  return wide.finish(elu_of(wide.x, alpha, 1.0));
}

Tensor selu(const Tensor& x, Location where) {
  require_floating(x, "selu", where);
  const Wide wide(x, where);
  return wide.finish(elu_of(wide.x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946));
}

Tensor gelu(const Tensor& x, Gelu form, Location where) {
  require_floating(x, "gelu", where);
  const Wide wide(x, where);
  const Term& t = wide.x;
  if (form == Gelu::erf)
    return wide.finish(0.5 * t * (1.0 + apply(Op::erf, t * (1.0 / std::numbers::sqrt2))));
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // √(2/π)
  return wide.finish(0.5 * t * (1.0 + tanh(scale * (t + 0.044715 * (t * t * t)))));
}

Tensor silu(const Tensor& x, Location where) {
  require_floating(x, "silu", where);
  const Wide wide(x, where);
  return wide.finish(wide.x * sigmoid(wide.x));
}
Tensor swish(const Tensor& x, Location where) {
  return silu(x, where);
}

Tensor sigmoid(const Tensor& x, Location where) {
  const Wide wide(x, where);
  return wide.finish(sigmoid(wide.x));
}

Tensor log_sigmoid(const Tensor& x, Location where) {
  require_floating(x, "log_sigmoid", where);
  const Wide wide(x, where);
  const Term negative = wide.x < 0;
  const Term decay = exp(select(negative, wide.x, -wide.x));
  return wide.finish(select(negative, wide.x, 0.0) - apply(Op::log1p, decay));
}

Tensor hardsigmoid(const Tensor& x, Location where) {
  require_floating(x, "hardsigmoid", where);
  const Wide wide(x, where);
  return wide.finish(hard_step(wide.x));
}

Tensor hardswish(const Tensor& x, Location where) {
  require_floating(x, "hardswish", where);
  const Wide wide(x, where);
  return wide.finish(wide.x * hard_step(wide.x));
}

Tensor softplus(const Tensor& x, double beta, double threshold, Location where) {
  require_floating(x, "softplus", where);
  const Wide wide(x, where);
  return wide.finish(softplus_of(wide.x, beta, threshold));
}

Tensor mish(const Tensor& x, Location where) {
  require_floating(x, "mish", where);
  const Wide wide(x, where);
  return wide.finish(wide.x * tanh(softplus_of(wide.x, 1.0, 20.0)));
}

}  // namespace luminal
