#include "luminal/autograd/gradients.h"

#include <memory>

#include "refusal.h"

namespace luminal {
namespace {

REFUSED(loss_not_scalar, "gradients: the loss has shape [2], expected a scalar") {
  const Tensor x = g.tensor({2});
  gradients(x * 2, {x});
}
REFUSED(loss_integer, "gradients: the loss is i64, expected floating-point elements") {
  const Tensor x = g.tensor({2}, DType::i64);
  gradients(x.sum(), {x});
}
REFUSED(parameter_integer, "gradients: the parameter 'n' is i64, expected floating-point elements") {
  const Tensor n = g.named_tensor("n", {2}, DType::i64);
  gradients((n * 0.5).sum(), {n});
}
REFUSED(parameter_unused, "gradients: the loss does not depend on the parameter 'w'") {
  const Tensor x = g.tensor({2});
  gradients(x.sum(), {x, g.named_tensor("w", {2})});
}
REFUSED(parameter_view, "gradients: the parameter 'w' is a view; use the tensor it was made from") {
  const Tensor w = g.named_tensor("w", {2, 3});
  gradients(w.sum(), {w.permute({1, 0})});
}
REFUSED(no_gradient, "gradients: bitcast has no gradient") {
  const Tensor x = g.tensor({2});
  gradients(x.as_dtype(DType::i32).as_dtype(DType::f32).sum(), {x});
}
REFUSED(custom_without_gradient, "gradients: the custom op 'half' has no gradient") {
  auto half = std::make_shared<CustomOp>();
  half->name = "half";
  half->infer = [](std::span<const TensorType> in) { return std::vector<TensorType>{in[0]}; };
  half->run = [](std::span<const Array> in) { return std::vector<Array>{in[0]}; };
  const Tensor x = g.tensor({2});
  gradients(g.custom(half, {x})[0].sum(), {x});
}

}  // namespace
}  // namespace luminal
