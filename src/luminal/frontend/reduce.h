#pragma once
#include "luminal/frontend/tensor.h"

namespace luminal {

// Reductions over one, several or all axes, as the PyTorch functions of the same names. Without `keep_dims`
// the axes go; with it they have size 1. NaN spreads.

/// Integers and bools give i64.
Tensor sum(const Tensor& x, const Axes& axes = Axes::all(), bool keep_dims = false,
           Location where = Location::current());
/// Takes floats.
Tensor mean(const Tensor& x, const Axes& axes = Axes::all(), bool keep_dims = false,
            Location where = Location::current());
/// PyTorch: amax. `Error` for an empty axis.
Tensor max(const Tensor& x, const Axes& axes = Axes::all(), bool keep_dims = false,
           Location where = Location::current());
/// PyTorch: amin.
Tensor min(const Tensor& x, const Axes& axes = Axes::all(), bool keep_dims = false,
           Location where = Location::current());
/// Integers and bools give i64.
Tensor prod(const Tensor& x, const Axes& axes = Axes::all(), bool keep_dims = false,
            Location where = Location::current());
/// Whether some element differs from 0, as bool; false of none.
Tensor any(const Tensor& x, const Axes& axes = Axes::all(), bool keep_dims = false,
           Location where = Location::current());
/// Whether every element differs from 0, as bool; true of none.
Tensor all(const Tensor& x, const Axes& axes = Axes::all(), bool keep_dims = false,
           Location where = Location::current());
/// log Σ exp(x), without overflow; -inf of none.
Tensor logsumexp(const Tensor& x, const Axes& axes = Axes::all(), bool keep_dims = false,
                 Location where = Location::current());
/// The mean squared distance from the mean, where `correction` is taken off the count.
Tensor var(const Tensor& x, const Axes& axes = Axes::all(), int correction = 1, bool keep_dims = false,
           Location where = Location::current());
/// The square root of var.
Tensor std(const Tensor& x, const Axes& axes = Axes::all(), int correction = 1, bool keep_dims = false,
           Location where = Location::current());
/// The position of the first largest element, or of the first NaN, among all in row-major order (i64).
Tensor argmax(const Tensor& x, Location where = Location::current());
/// The same along one axis.
Tensor argmax(const Tensor& x, int axis, bool keep_dims = false, Location where = Location::current());
Tensor argmin(const Tensor& x, Location where = Location::current());
Tensor argmin(const Tensor& x, int axis, bool keep_dims = false, Location where = Location::current());
/// (Σ|x|ᵖ)^(1/p); max |x| for +inf, min |x| for -inf, the number of elements other than 0 for 0.
/// PyTorch: linalg.vector_norm.
Tensor norm(const Tensor& x, double p = 2.0, const Axes& axes = Axes::all(), bool keep_dims = false,
            Location where = Location::current());

}  // namespace luminal
