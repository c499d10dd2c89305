#include "luminal/frontend/pooling.h"

#include "luminal/frontend/formula.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// The windows of one axis: how far the padded axis reaches, and how many places there are.
struct Windows {
  Expr size;
  Expr stride;
  Expr padding;
  Expr dilation;
  Expr extra;  // beyond the padding at the end, in ceil_mode
};

std::vector<Windows> windows_of(const Tensor& x, const Spatial& window, std::size_t axes,
                                const Pooling& options, std::string_view operation, Location where) {
  if (axes == 0 || x.rank() < axes)
    throw Error(cat(operation, ": pools ", axes, " axes of a tensor of shape ", x.shape()), where);
  const auto sizes = window.resolve(axes, operation, "window", where);
  const auto strides = options.stride ? options.stride->resolve(axes, operation, "stride", where) : sizes;
  const auto paddings = options.padding.resolve(axes, operation, "padding", where);
  const auto dilations = options.dilation.resolve(axes, operation, "dilation", where);
  std::vector<Windows> result;
  for (std::size_t i = 0; i < axes; ++i) {
    if (prove_lt(sizes[i], 1))
      throw Error(cat(operation, ": the window is ", sizes[i], ", expected at least 1"), where);
    if (prove_lt(strides[i], 1))
      throw Error(cat(operation, ": the stride is ", strides[i], ", expected at least 1"), where);
    if (prove_lt(sizes[i], paddings[i] * 2))
      throw Error(
          cat(operation, ": the padding is ", paddings[i], ", more than half of the window of ", sizes[i]),
          where);
    const Expr& length = x.shape()[x.rank() - axes + i];
    const Expr reach = dilations[i] * (sizes[i] - 1) + 1;
    const Expr room = length + paddings[i] * 2 - reach;
    if (prove_lt(room, 0))
      throw Error(cat(operation, ": the window reaches over ", reach, " elements, axis ", x.rank() - axes + i,
                      " of ", x.shape(), " with its padding has ", length + paddings[i] * 2),
                  where);
    Expr extra = 0;
    if (options.ceil_mode) {
      const Expr places = Expr::ceil_div(room, strides[i]) + 1;
      // The last window starts within the axis or its left padding.
      const Expr dropped = Expr::less_equal(length + paddings[i], (places - 1) * strides[i]);
      extra = Expr::max((places - dropped - 1) * strides[i] - room, 0);
    }
    result.push_back({sizes[i], strides[i], paddings[i], dilations[i], extra});
  }
  return result;
}

/// The windows as views: the places in the axes' order, then the positions inside the windows.
Tensor unfolded(const Tensor& x, const std::vector<Windows>& windows, const Number& fill,
                const Number& extra_fill, Location where) {
  Tensor result = x;
  const std::size_t first = x.rank() - windows.size();
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Windows& w = windows[i];
    if (!is_value(w.padding, 0))
      result = result.move(movement::Pad{first + i, w.padding, w.padding, fill}, where);
    if (!is_value(w.extra, 0)) result = result.move(movement::Pad{first + i, 0, w.extra, extra_fill}, where);
    result = result.move(movement::Unfold{first + i, w.size, w.stride, w.dilation}, where);
  }
  return result;
}

std::vector<std::size_t> last_axes(std::size_t rank, std::size_t count) {
  std::vector<std::size_t> axes;
  for (std::size_t i = rank - count; i < rank; ++i) axes.push_back(i);
  return axes;
}

/// How many elements each window averages: the product of those along each axis.
Term window_counts(const Term& x, const std::vector<Windows>& windows, bool include_padding) {
  const Location where = x.where();
  const std::size_t first = x.rank() - windows.size();
  Term product(constant_like(x.tensor(), 1, x.dtype(), where), where);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Tensor one = constant_like(x.tensor(), 1, x.dtype(), where);
    const Tensor ones = stretched(one, {x.shape()[first + i]}, where);
    const Tensor views = unfolded(ones, {windows[i]}, include_padding ? 1 : 0, 0, where);
    const Term counts = sum({views, where}, {1}, false);
    std::vector<Expr> dims(windows.size(), Expr(1));
    dims[i] = counts.shape()[0];
    product = product * counts.reshape(Shape(std::move(dims)));
  }
  return product;
}

}  // namespace

Tensor max_pool(const Tensor& x, const Spatial& window, std::size_t axes, const Pooling& options,
                Location where) {
  require_numbers(x, "max_pool", where);
  const auto windows = windows_of(x, window, axes, options, "max_pool", where);
  const Number lowest = to_number(neutral(Op::reduce_max, x.dtype()));
  const Tensor views = unfolded(x, windows, lowest, lowest, where);
  return reduce(Op::reduce_max, {views, where}, last_axes(views.rank(), axes), false, true);
}

Tensor avg_pool(const Tensor& x, const Spatial& window, std::size_t axes, const Pooling& options,
                Location where) {
  require_floating(x, "avg_pool", where);
  const auto windows = windows_of(x, window, axes, options, "avg_pool", where);
  const Wide wide(x, where);
  const Tensor views = unfolded(wide.x, windows, 0, 0, where);
  const Term total = sum({views, where}, last_axes(views.rank(), axes), false);
  Expr size = 1;
  for (const auto& w : windows) size = size * w.size;
  if (options.count_include_pad && !options.ceil_mode) return wide.finish(total / Term(size));
  return wide.finish(total / window_counts(wide.x, windows, options.count_include_pad));
}

namespace {

/// One axis averaged to `size` places.
Term adapted(const Term& x, std::size_t axis, const Expr& size) {
  const Expr& length = x.shape()[axis];
  const Location where = x.where();
  const int at = static_cast<int>(axis);
  const bool even = prove_divides(size, length);
  if (even) {
    const Tensor parts = x.tensor().split_dims(at, length / size, where);
    return sum({parts, where}, {axis + 1}, false) / Term(length / size);
  }
  // Every place sees the whole axis, through a mask of its own range.
  const Tensor spread = axis_last(x.tensor(), axis, where).unsqueeze(-2, where);
  const Expr place = Expr::coordinate(0, size);
  const Shape table({size, 1});
  const Term start(iota_like(spread, place * length / size, table, DType::i64, where), where);
  const Term end(iota_like(spread, Expr::ceil_div((place + 1) * length, size), table, DType::i64, where),
                 where);
  const Term source(positions(spread, 2, 1, length, where), where);
  const Term inside = (!(source < start)) & (source < end);
  const Term chosen = select(inside, Term(spread, where), 0.0);
  const Term total = sum(chosen, {chosen.rank() - 1}, false);
  const Term count = (end - start).cast(x.dtype()).reshape({size});
  return {axis_back(total / count, axis, where), where};
}

void require_sizes(const Tensor& x, const std::vector<Expr>& sizes, std::string_view operation,
                   Location where) {
  if (sizes.empty() || sizes.size() > x.rank())
    throw Error(cat(operation, ": ", sizes.size(), " sizes for a tensor of shape ", x.shape()), where);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (prove_lt(sizes[i], 1))
      throw Error(cat(operation, ": a size is ", sizes[i], ", expected at least 1"), where);
    const std::size_t axis = x.rank() - sizes.size() + i;
    if (prove_eq(x.shape()[axis], 0))
      throw Error(cat(operation, ": axis ", axis, " of ", x.shape(), " is empty"), where);
  }
}

}  // namespace

Tensor adaptive_avg_pool(const Tensor& x, const std::vector<Expr>& sizes, Location where) {
  require_floating(x, "adaptive_avg_pool", where);
  require_sizes(x, sizes, "adaptive_avg_pool", where);
  const Wide wide(x, where);
  Term result = wide.x;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    result = adapted(result, x.rank() - sizes.size() + i, sizes[i]);
  return wide.finish(result);
}

namespace {

/// The elements along an axis at the places that an expression of the result's coordinate gives.
Tensor picked(const Tensor& x, std::size_t axis, const Expr& size, const Expr& place, Location where) {
  const Shape shape(replaced_dims(x.shape(), axis, 1, {size}));
  const Tensor index = iota_like(x, place, shape, DType::i64, where);
  return node(Op::gather, {x, index}, attribute::Axis{static_cast<std::uint32_t>(axis)}, "interpolate",
              where);
}

Tensor nearest(const Tensor& x, std::size_t axis, const Expr& size, Location where) {
  const Expr& length = x.shape()[axis];
  if (prove_eq(size, length)) return x;
  const int at = static_cast<int>(axis);
  if (prove_divides(length, size)) return x.expand_dim(at + 1, size / length, where).merge_dims(at, where);
  const Expr place = Expr::coordinate(axis, size) * length / size;
  return picked(x, axis, size, place, where);
}

// The place in the source is numerator / denominator: whole numbers, so the neighbours are exact.
Term linear(const Term& x, std::size_t axis, const Expr& size, bool align_corners) {
  const Expr& length = x.shape()[axis];
  const Location where = x.where();
  const Expr place = Expr::coordinate(axis, size);
  const Expr numerator = align_corners ? place * (length - 1) : Expr::max((place * 2 + 1) * length - size, 0);
  const Expr denominator = align_corners ? Expr::max(size - 1, 1) : size * 2;
  const Expr low = Expr::min(numerator / denominator, length - 1);
  const Expr high = Expr::min(low + 1, length - 1);
  std::vector<Expr> dims(x.rank(), Expr(1));
  dims[axis] = size;
  const Term rest(
      iota_like(x.tensor(), numerator - low * denominator, Shape(std::move(dims)), DType::i64, where), where);
  const Term weight = rest.cast(x.dtype()) / Term(denominator);
  const Term below(picked(x.tensor(), axis, size, low, where), where);
  const Term above(picked(x.tensor(), axis, size, high, where), where);
  return below * (1.0 - weight) + above * weight;
}

}  // namespace

Tensor interpolate(const Tensor& x, const std::vector<Expr>& sizes, Interpolation mode, bool align_corners,
                   Location where) {
  require_sizes(x, sizes, "interpolate", where);
  const std::size_t first = x.rank() - sizes.size();
  if (mode == Interpolation::nearest) {
    if (align_corners) throw Error("interpolate: align_corners goes with bilinear, not with nearest", where);
    Tensor result = x;
    for (std::size_t i = 0; i < sizes.size(); ++i) result = nearest(result, first + i, sizes[i], where);
    return result;
  }
  require_floating(x, "interpolate", where);
  const Wide wide(x, where);
  Term result = wide.x;
  for (std::size_t i = 0; i < sizes.size(); ++i) result = linear(result, first + i, sizes[i], align_corners);
  return wide.finish(result);
}

}  // namespace luminal
