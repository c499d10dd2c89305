#include "luminal/nn/convolution.h"

#include <cmath>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::nn {
namespace {

std::vector<std::int64_t> weight_dims(Conv::Form form, std::int64_t inputs, std::int64_t outputs,
                                      const std::vector<std::int64_t>& window, int groups, Location where) {
  if (window.empty() || window.size() > 3)
    throw Error(cat("Conv: a window of ", window.size(), " axes, expected 1 to 3"), where);
  if (groups < 1 || inputs < 1 || outputs < 1 || inputs % groups != 0 || outputs % groups != 0)
    throw Error(
        cat("Conv: ", inputs, " inputs and ", outputs, " outputs do not divide into ", groups, " groups"),
        where);
  std::vector<std::int64_t> dims = form == Conv::Form::plain
                                       ? std::vector<std::int64_t>{outputs, inputs / groups}
                                       : std::vector<std::int64_t>{inputs, outputs / groups};
  dims.insert(dims.end(), window.begin(), window.end());
  return dims;
}

/// PyTorch's: uniform in ±1/√fan-in, where the fan-in is counted on axis 1 of the weight.
double bound_of(const State& weight) {
  double fan = 1;
  for (std::size_t i = 1; i < weight.rank(); ++i)
    fan *= static_cast<double>(*weight.shape()[i].constant_value());
  return 1 / std::sqrt(fan);
}

}  // namespace

Conv::Conv(const Scope& scope, Form form_, std::int64_t inputs, std::int64_t outputs,
           const std::vector<std::int64_t>& window, const ConvOptions& options, Location where)
    : weight(scope.of("conv").state(
          "weight", weight_dims(form_, inputs, outputs, window, options.convolution.groups, where),
          init::kaiming_uniform(std::sqrt(5.0)), where)),
      convolution(options.convolution),
      form(form_) {
  const double bound = bound_of(weight);
  if (options.bias)
    bias = scope.sibling(weight.name(where), "bias", {outputs}, init::uniform(-bound, bound), where);
}

Tensor Conv::forward(const Tensor& x, Location where) const {
  using Function =
      Tensor (*)(const Tensor&, const Tensor&, const std::optional<Tensor>&, const Convolution&, Location);
  constexpr Function plain[] = {luminal::conv1d, luminal::conv2d, luminal::conv3d};
  constexpr Function transposed[] = {luminal::conv_transpose1d, luminal::conv_transpose2d,
                                     luminal::conv_transpose3d};
  const Function function = (form == Form::plain ? plain : transposed)[weight.rank() - 3];
  const std::optional<Tensor> shift =
      bias ? std::optional<Tensor>(in_dtype_of(x, *bias, where)) : std::nullopt;
  return function(x, in_dtype_of(x, weight, where), shift, convolution, where);
}

void Conv::visit(Visitor& v) {
  v.parameter("weight", weight);
  v.parameter("bias", bias);
}

Conv conv1d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
            const ConvOptions& options, Location where) {
  return {scope, Conv::Form::plain, inputs, outputs, {window}, options, where};
}
Conv conv2d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
            const ConvOptions& options, Location where) {
  return {scope, Conv::Form::plain, inputs, outputs, {window, window}, options, where};
}
Conv conv3d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
            const ConvOptions& options, Location where) {
  return {scope, Conv::Form::plain, inputs, outputs, {window, window, window}, options, where};
}
Conv conv_transpose1d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
                      const ConvOptions& options, Location where) {
  return {scope, Conv::Form::transposed, inputs, outputs, {window}, options, where};
}
Conv conv_transpose2d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
                      const ConvOptions& options, Location where) {
  return {scope, Conv::Form::transposed, inputs, outputs, {window, window}, options, where};
}
Conv conv_transpose3d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
                      const ConvOptions& options, Location where) {
  return {scope, Conv::Form::transposed, inputs, outputs, {window, window, window}, options, where};
}

}  // namespace luminal::nn
