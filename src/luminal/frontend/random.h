#pragma once
#include "luminal/frontend/graph.h"

namespace luminal {

// Random numbers by counting (Philox): a function of the seed, its stream and the position alone, so every
// device and every order of evaluation gives the same. The sequences are ours, not PyTorch's.

/// Uniform in [0, 1): multiples of 2^-24, or of 2^-53 for f64.
Tensor rand(Graph& graph, const Shape& shape, const Seed& seed, DType dtype = DType::f32,
            Location where = Location::current());
/// Of mean 0 and deviation 1.
Tensor randn(Graph& graph, const Shape& shape, const Seed& seed, DType dtype = DType::f32,
             Location where = Location::current());
/// Whole numbers in [low, high), at most 2^32 different ones.
Tensor randint(Graph& graph, std::int64_t low, std::int64_t high, const Shape& shape, const Seed& seed,
               DType dtype = DType::i64, Location where = Location::current());
/// Elements are 0 with this probability, the others are divided by what remains of 1.
Tensor dropout(const Tensor& x, double probability, const Seed& seed, Location where = Location::current());
/// Positions along the last axis, `count` of them drawn with these weights (not negative, of any sum), as
/// i64. Without replacement all differ.
Tensor multinomial(const Tensor& weights, const Expr& count, bool replacement, const Seed& seed,
                   Location where = Location::current());

}  // namespace luminal
