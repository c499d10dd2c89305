#pragma once
#include "luminal/frontend/convolution.h"

namespace luminal {

struct Pooling {
  /// The window's own size if not given.
  std::optional<Spatial> stride = std::nullopt;
  Spatial padding = 0;
  Spatial dilation = 1;
  /// Rounds the number of windows up: the last may reach beyond the padding.
  bool ceil_mode = false;
  /// Of averages: whether padding counts as elements (0).
  bool count_include_pad = true;
};

/// The largest of each window over the last `axes` axes. PyTorch: max_pool1d, 2d, 3d.
Tensor max_pool(const Tensor& x, const Spatial& window, std::size_t axes, const Pooling& options = {},
                Location where = Location::current());
/// The average of each window over the last `axes` axes. PyTorch: avg_pool1d, 2d, 3d.
Tensor avg_pool(const Tensor& x, const Spatial& window, std::size_t axes, const Pooling& options = {},
                Location where = Location::current());
/// The last axes averaged to these sizes: element i of n is the mean of ⌊i·size/n⌋ … ⌈(i+1)·size/n⌉ - 1.
/// PyTorch: adaptive_avg_pool1d, 2d, 3d.
Tensor adaptive_avg_pool(const Tensor& x, const std::vector<Expr>& sizes,
                         Location where = Location::current());
enum class Interpolation : std::uint8_t { nearest, bilinear };
/// The last axes resampled to these sizes. Bilinear is linear along each: one axis gives PyTorch's mode
/// 'linear', three its 'trilinear'. `align_corners` maps the first and last elements onto each other.
Tensor interpolate(const Tensor& x, const std::vector<Expr>& sizes,
                   Interpolation mode = Interpolation::nearest, bool align_corners = false,
                   Location where = Location::current());

}  // namespace luminal
