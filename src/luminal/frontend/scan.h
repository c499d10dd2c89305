#pragma once
#include "luminal/frontend/tensor.h"

namespace luminal {

// Along one axis, as the PyTorch functions of the same names.

/// Integers and bools give i64.
Tensor cumsum(const Tensor& x, int axis, Location where = Location::current());
Tensor cumprod(const Tensor& x, int axis, Location where = Location::current());
/// The largest so far and the position of its latest occurrence; NaN is the largest.
Ranked cummax(const Tensor& x, int axis, Location where = Location::current());
/// Stable: equal elements stay in order. NaN is the largest.
Ranked sort(const Tensor& x, int axis = -1, bool descending = false, Location where = Location::current());
Tensor argsort(const Tensor& x, int axis = -1, bool descending = false, Location where = Location::current());
/// The `count` largest or smallest, in order; of equal elements, those that stand first.
Ranked topk(const Tensor& x, const Expr& count, int axis = -1, bool largest = true,
            Location where = Location::current());

}  // namespace luminal
