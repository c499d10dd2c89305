#pragma once
#include "luminal/frontend/tensor.h"

namespace luminal {

// Movements change how a value is read and cost nothing; the others here are made of them and of `where`.

inline Tensor permute(const Tensor& x, const std::vector<int>& axes, Location where = Location::current()) {
  return x.permute(axes, where);
}
inline Tensor transpose(const Tensor& x, int a, int b, Location where = Location::current()) {
  return x.transpose(a, b, where);
}
inline Tensor reshape(const Tensor& x, const Shape& shape, Location where = Location::current()) {
  return x.reshape(shape, where);
}
inline Tensor expand(const Tensor& x, const Shape& shape, Location where = Location::current()) {
  return x.expand(shape, where);
}
inline Tensor expand_dim(const Tensor& x, int axis, const Expr& size, Location where = Location::current()) {
  return x.expand_dim(axis, size, where);
}
inline Tensor unsqueeze(const Tensor& x, int axis, Location where = Location::current()) {
  return x.unsqueeze(axis, where);
}
inline Tensor squeeze(const Tensor& x, int axis, Location where = Location::current()) {
  return x.squeeze(axis, where);
}
inline Tensor merge_dims(const Tensor& x, int first, Location where = Location::current()) {
  return x.merge_dims(first, where);
}
inline Tensor split_dims(const Tensor& x, int axis, const Expr& inner, Location where = Location::current()) {
  return x.split_dims(axis, inner, where);
}
inline Tensor slice(const Tensor& x, int axis, const Expr& start, const Expr& end, const Expr& step = 1,
                    Location where = Location::current()) {
  return x.slice(axis, start, end, step, where);
}
inline Tensor unfold(const Tensor& x, int axis, const Expr& size, const Expr& stride = 1,
                     const Expr& dilation = 1, Location where = Location::current()) {
  return x.unfold(axis, size, stride, dilation, where);
}
/// Removes the axes that are known to have size 1.
Tensor squeeze(const Tensor& x, Location where = Location::current());
/// Merges the axes first … last; a scalar becomes a vector.
Tensor flatten(const Tensor& x, int first = 0, int last = -1, Location where = Location::current());
/// Reverses axes.
Tensor flip(const Tensor& x, const Axes& axes, Location where = Location::current());
/// The tensor so many times along each axis; further counts make new axes in front. As Tensor.repeat.
Tensor repeat(const Tensor& x, const std::vector<Expr>& times, Location where = Location::current());
/// The same, but missing counts are 1.
Tensor tile(const Tensor& x, const std::vector<Expr>& times, Location where = Location::current());
/// Moves elements `shift` places further along an axis, around its end.
Tensor roll(const Tensor& x, const Expr& shift, int axis, Location where = Location::current());
/// Further elements on both sides of an axis; negative counts cut off.
Tensor pad(const Tensor& x, int axis, const Expr& before, const Expr& after, const Number& fill = 0,
           Location where = Location::current());
/// As torch.nn.functional.pad with mode 'reflect' or 'replicate'.
Tensor pad(const Tensor& x, int axis, const Expr& before, const Expr& after, PadMode mode,
           Location where = Location::current());
/// One after the other along an axis, in their common dtype. PyTorch: cat.
Tensor concat(const std::vector<Tensor>& tensors, int axis = 0, Location where = Location::current());
/// Along a new axis.
Tensor stack(const std::vector<Tensor>& tensors, int axis = 0, Location where = Location::current());
/// The last two axes with 0 above the diagonal.
Tensor tril(const Tensor& x, const Expr& diagonal = 0, Location where = Location::current());
/// The last two axes with 0 below the diagonal.
Tensor triu(const Tensor& x, const Expr& diagonal = 0, Location where = Location::current());
/// The diagonal of two axes as a new last axis; `offset` counts along the second axis.
Tensor diagonal(const Tensor& x, int offset = 0, int first = 0, int second = 1,
                Location where = Location::current());
/// Parts of these sizes along an axis, which they must add up to.
std::vector<Tensor> split(const Tensor& x, const std::vector<Expr>& sizes, int axis = 0,
                          Location where = Location::current());
/// Parts of `size` elements along an axis of known length; the last may be smaller.
std::vector<Tensor> split(const Tensor& x, std::int64_t size, int axis = 0,
                          Location where = Location::current());
/// At most `count` parts along an axis of known length, all but the last of equal size. If the length is
/// symbolic, exactly `count`, and it must be a multiple of that.
std::vector<Tensor> chunk(const Tensor& x, int count, int axis = 0, Location where = Location::current());

}  // namespace luminal
