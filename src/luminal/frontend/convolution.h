#pragma once
#include "luminal/frontend/tensor.h"

namespace luminal {

/// One size for every spatial axis, or one each.
class Spatial {
 public:
  Spatial(int size) : sizes_{Expr(size)} {}
  Spatial(const Expr& size) : sizes_{size} {}
  Spatial(std::initializer_list<Expr> sizes) : sizes_(sizes) {}
  Spatial(std::vector<Expr> sizes) : sizes_(std::move(sizes)) {}
  /// `Error` naming `what` unless there are one or `axes` sizes.
  std::vector<Expr> resolve(std::size_t axes, std::string_view operation, std::string_view what,
                            Location where) const;

 private:
  std::vector<Expr> sizes_;
};

struct Convolution {
  Spatial stride = 1;
  Spatial padding = 0;
  Spatial dilation = 1;
  int groups = 1;
  /// Of transposed ones: further elements at the end of each spatial axis.
  Spatial output_padding = 0;
};

/// x [batch, channels, …spatial] or without batch, weight [outputs, channels / groups, …window], bias
/// [outputs]. As torch.nn.functional.conv1d …; windows are views of x, and the sum of products is one
/// contraction.
Tensor conv1d(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias = std::nullopt,
              const Convolution& options = {}, Location where = Location::current());
Tensor conv2d(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias = std::nullopt,
              const Convolution& options = {}, Location where = Location::current());
Tensor conv3d(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias = std::nullopt,
              const Convolution& options = {}, Location where = Location::current());
/// weight [channels, outputs / groups, …window].
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias = std::nullopt, const Convolution& options = {},
                        Location where = Location::current());
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias = std::nullopt, const Convolution& options = {},
                        Location where = Location::current());
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias = std::nullopt, const Convolution& options = {},
                        Location where = Location::current());

}  // namespace luminal
