#pragma once
#include "luminal/frontend/tensor.h"

namespace luminal {

// Reading and writing at positions that are themselves data: integer tensors. A position outside its axis is
// an `Error` when the graph runs.

/// As torch.gather: the index has x's rank, and elsewhere than along `axis` at most its sizes.
Tensor gather(const Tensor& x, int axis, const Tensor& index, Location where = Location::current());
/// As torch.scatter: `x` with source elements, or a number, put at the positions; of repeated positions, the
/// last counts.
Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Operand& source,
               Location where = Location::current());
/// As torch.scatter_add: repeated positions all count.
Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& source,
                   Location where = Location::current());
/// The slices of x along `axis` at these positions, a vector (or one position).
Tensor index_select(const Tensor& x, int axis, const Tensor& index, Location where = Location::current());
/// x[indices[0], indices[1] …] = values, or += if `accumulate`: the indices broadcast together and count from
/// the first axis; negative positions count from the end. As torch.index_put.
Tensor index_put(const Tensor& x, const std::vector<Tensor>& indices, const Operand& values,
                 bool accumulate = false, Location where = Location::current());
/// The rows of a matrix at these positions, of any shape.
Tensor embedding(const Tensor& index, const Tensor& weight, Location where = Location::current());
/// 1 at the position of each index along a new last axis, 0 elsewhere (i64). A negative index gives no 1.
Tensor one_hot(const Tensor& index, const Expr& classes, Location where = Location::current());
/// As torch.take_along_dim: gather after x and index are broadcast along the other axes.
Tensor take_along_axis(const Tensor& x, const Tensor& index, int axis, Location where = Location::current());

}  // namespace luminal
