#include "luminal/frontend/convolution.h"

#include "luminal/frontend/formula.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

std::vector<Expr> Spatial::resolve(std::size_t axes, std::string_view operation, std::string_view what,
                                   Location where) const {
  if (sizes_.size() == 1) return std::vector<Expr>(axes, sizes_[0]);
  if (sizes_.size() != axes)
    throw Error(cat(operation, ": ", sizes_.size(), " sizes for the ", what, ", expected 1 or ", axes),
                where);
  return sizes_;
}

namespace {

/// One convolution with its options checked: x as [batch, channels, …spatial].
class Convolve {
 public:
  Convolve(std::size_t axes, bool transposed, const Tensor& x, const Tensor& weight,
           const std::optional<Tensor>& bias, const Convolution& options, Location where)
      : axes_(axes),
        operation_(cat(transposed ? "conv_transpose" : "conv", axes, "d")),
        where_(where),
        groups_(options.groups),
        stride_(options.stride.resolve(axes, operation_, "stride", where)),
        padding_(options.padding.resolve(axes, operation_, "padding", where)),
        dilation_(options.dilation.resolve(axes, operation_, "dilation", where)),
        output_padding_(options.output_padding.resolve(axes, operation_, "output padding", where)) {
    require(stride_, 1, "stride");
    require(padding_, 0, "padding");
    require(dilation_, 1, "dilation");
    require(output_padding_, 0, "output padding");
    require_shapes(x, weight, bias, transposed);
  }

  Tensor run(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) const {
    return finish(x, weight, bias, [&](const Tensor& input, const Tensor& window) {
      Tensor padded = input;
      for (std::size_t i = 0; i < axes_; ++i)
        padded = padded.move(movement::Pad{2 + i, padding_[i], padding_[i], 0}, where_);
      return correlate(padded, window, stride_);
    });
  }

  // The adjoint: zeros between the elements, a full correlation with the reversed window, and the padding cut
  // off.
  Tensor run_transposed(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) const {
    return finish(x, weight, bias, [&](const Tensor& input, const Tensor& window) {
      Tensor spread = input;
      Tensor reversed = window_of_transposed(window);
      for (std::size_t i = 0; i < axes_; ++i) {
        const std::size_t axis = 2 + i;
        const Expr reach = dilation_[i] * (window.shape()[axis] - 1);
        spread = with_zeros_between(spread, axis, stride_[i]);
        spread = spread.move(movement::Pad{axis, reach, reach + output_padding_[i], 0}, where_);
        const Expr size = spread.shape()[axis] - padding_[i] - padding_[i];
        spread = spread.move(movement::Slice{axis, padding_[i], size, 1}, where_);
        reversed = reversed.move(movement::Flip{axis}, where_);
      }
      return correlate(spread, reversed, std::vector<Expr>(axes_, Expr(1)));
    });
  }

 private:
  void require(const std::vector<Expr>& sizes, int least, std::string_view what) const {
    for (const auto& size : sizes)
      if (prove_lt(size, least))
        throw Error(cat(operation_, ": the ", what, " is ", size, ", expected at least ", least), where_);
  }

  void require_shapes(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                      bool transposed) const {
    if (x.rank() != axes_ + 2 && x.rank() != axes_ + 1)
      throw Error(cat(operation_, ": takes an input of rank ", axes_ + 1, " or ", axes_ + 2, ", got shape ",
                      x.shape()),
                  where_);
    if (weight.rank() != axes_ + 2)
      throw Error(cat(operation_, ": takes a weight of rank ", axes_ + 2, ", got shape ", weight.shape()),
                  where_);
    if (groups_ < 1)
      throw Error(cat(operation_, ": the number of groups is ", groups_, ", expected at least 1"), where_);
    const Expr& channels = x.shape()[x.rank() - axes_ - 1];
    const Expr wanted = transposed ? weight.shape()[0] : weight.shape()[1] * groups_;
    if (prove_lt(channels, wanted) || prove_lt(wanted, channels))
      throw Error(cat(operation_, ": the input ", x.shape(), " has ", channels, " channels, the weight ",
                      weight.shape(), " with ", groups_, " groups takes ", wanted),
                  where_);
    const auto split = weight.shape()[0].constant_value();
    if (split && *split % groups_ != 0)
      throw Error(cat(operation_, ": ", *split, transposed ? " channels" : " outputs", " do not split into ",
                      groups_, " groups"),
                  where_);
    const Expr outputs = transposed ? weight.shape()[1] * groups_ : weight.shape()[0];
    if (!bias) return;
    if (bias->rank() != 1 || prove_lt(bias->shape()[0], outputs) || prove_lt(outputs, bias->shape()[0]))
      throw Error(cat(operation_, ": the bias has shape ", bias->shape(), ", expected [", outputs, "]"),
                  where_);
  }

  /// Dtypes, an absent batch and the bias, around a convolution of one dtype.
  template <typename F>
  Tensor finish(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                F&& convolve) const {
    const DType dtype = result_type({Operand(x, where_), Operand(weight, where_)}, operation_);
    const DType wide = compute_dtype(dtype);
    const bool batched = x.rank() == axes_ + 2;
    const Tensor input = (batched ? x : x.unsqueeze(0, where_)).cast(wide, where_);
    Term result(convolve(input, weight.cast(wide, where_)), where_);
    if (bias) {
      std::vector<Expr> dims(axes_ + 1, Expr(1));
      dims[0] = bias->shape()[0];
      result = result + Term(bias->cast(wide, where_), where_).reshape(Shape(std::move(dims)));
    }
    Tensor rounded = result.cast(dtype);
    if (batched) return rounded;
    return rounded.reshape(Shape(std::vector<Expr>(rounded.shape().begin() + 1, rounded.shape().end())),
                           where_);
  }

  /// x [batch, channels, …spatial] with w [outputs, channels / groups, …window]: the windows are views of x,
  /// and the sum runs over channels and window.
  Tensor correlate(const Tensor& x, const Tensor& weight, const std::vector<Expr>& stride) const {
    Tensor windows = x;
    for (std::size_t i = 0; i < axes_; ++i) {
      const Expr reach = dilation_[i] * (weight.shape()[2 + i] - 1) + 1;
      if (prove_lt(x.shape()[2 + i], reach))
        throw Error(cat(operation_, ": the window reaches over ", reach, " elements, axis ", 2 + i,
                        " of the padded input ", x.shape(), " has ", x.shape()[2 + i]),
                    where_);
      windows = windows.move(movement::Unfold{2 + i, weight.shape()[2 + i], stride[i], dilation_[i]}, where_);
    }
    // [batch, groups, 1, …places, channels / groups, …window]
    std::vector<Expr> dims = {windows.shape()[0], groups_, weight.shape()[1], 1};
    for (std::size_t i = 2; i < windows.rank(); ++i) dims.push_back(windows.shape()[i]);
    const Tensor grouped = windows.reshape(Shape(std::move(dims)), where_);
    std::vector<std::size_t> order = {0, 1, 3};
    for (std::size_t i = 0; i < axes_; ++i) order.push_back(4 + i);
    order.push_back(2);
    for (std::size_t i = 0; i < axes_; ++i) order.push_back(4 + axes_ + i);
    // [groups, outputs / groups, 1 …, channels / groups, …window]
    std::vector<Expr> weight_dims = {groups_, weight.shape()[0] / groups_};
    weight_dims.insert(weight_dims.end(), axes_, Expr(1));
    weight_dims.insert(weight_dims.end(), weight.shape().begin() + 1, weight.shape().end());
    const Term product = Term(grouped.move(movement::Permute{std::move(order)}, where_), where_) *
                         Term(weight.reshape(Shape(std::move(weight_dims)), where_), where_);
    std::vector<std::size_t> summed;
    for (std::size_t i = 3 + axes_; i < product.rank(); ++i) summed.push_back(i);
    const Term result = sum(product, summed, false);
    return result.reshape(Shape(replaced_dims(result.shape(), 1, 2, {weight.shape()[0]})));
  }

  /// [channels, outputs / groups, …] to [outputs, channels / groups, …].
  Tensor window_of_transposed(const Tensor& weight) const {
    const Expr inner = weight.shape()[0] / groups_;
    const Shape split(replaced_dims(weight.shape(), 0, 1, {groups_, inner}));
    std::vector<std::size_t> order = {0, 2, 1};
    for (std::size_t i = 3; i < split.rank(); ++i) order.push_back(i);
    const Tensor swapped = weight.reshape(split, where_).move(movement::Permute{std::move(order)}, where_);
    return swapped.reshape(Shape(replaced_dims(swapped.shape(), 0, 2, {weight.shape()[1] * groups_})),
                           where_);
  }

  Tensor with_zeros_between(const Tensor& x, std::size_t axis, const Expr& stride) const {
    if (is_value(stride, 1)) return x;
    const Expr length = x.shape()[axis];
    const Tensor spread = x.unsqueeze(static_cast<int>(axis) + 1, where_)
                              .move(movement::Pad{axis + 1, 0, stride - 1, 0}, where_)
                              .merge_dims(static_cast<int>(axis), where_);
    return spread.move(movement::Slice{axis, 0, Expr::max((length - 1) * stride + 1, 0), 1}, where_);
  }

  std::size_t axes_;
  std::string operation_;
  Location where_;
  int groups_;
  std::vector<Expr> stride_;
  std::vector<Expr> padding_;
  std::vector<Expr> dilation_;
  std::vector<Expr> output_padding_;
};

Tensor convolved(std::size_t axes, const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                 const Convolution& options, Location where) {
  return Convolve(axes, false, x, weight, bias, options, where).run(x, weight, bias);
}

Tensor transposed(std::size_t axes, const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                  const Convolution& options, Location where) {
  return Convolve(axes, true, x, weight, bias, options, where).run_transposed(x, weight, bias);
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
              const Convolution& options, Location where) {
  return convolved(1, x, weight, bias, options, where);
}
Tensor conv2d(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
              const Convolution& options, Location where) {
  return convolved(2, x, weight, bias, options, where);
}
Tensor conv3d(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
              const Convolution& options, Location where) {
  return convolved(3, x, weight, bias, options, where);
}
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                        const Convolution& options, Location where) {
  return transposed(1, x, weight, bias, options, where);
}
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                        const Convolution& options, Location where) {
  return transposed(2, x, weight, bias, options, where);
}
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                        const Convolution& options, Location where) {
  return transposed(3, x, weight, bias, options, where);
}

}  // namespace luminal
