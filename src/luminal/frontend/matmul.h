#pragma once
#include <string_view>

#include "luminal/frontend/tensor.h"

namespace luminal {

// Products that sum over axes: each is a broadcast, a product and a sum, so that the compiler sees one
// contraction. Narrow floats multiply and add in f32 and round once; integers wrap in their own dtype, as in
// PyTorch.

/// As torch.matmul for every pair of ranks from 1: vectors, matrices, and batches that broadcast.
Tensor matmul(const Tensor& a, const Tensor& b, Location where = Location::current());
/// Of two vectors.
Tensor dot(const Tensor& a, const Tensor& b, Location where = Location::current());
/// All products of elements of two vectors.
Tensor outer(const Tensor& a, const Tensor& b, Location where = Location::current());
/// "bij,bjk->bik": letters name axes, those that the result lacks are summed, a letter that an operand
/// repeats takes its diagonal, "..." stands for broadcast axes; without "->" the result has the letters that
/// occur once, in alphabetical order. As torch.einsum.
Tensor einsum(std::string_view formula, const std::vector<Tensor>& operands,
              Location where = Location::current());
/// What `scaled_dot_product_attention` does beyond softmax(q kᵀ) v.
struct Attention {
  /// Query i sees keys 0 … i.
  bool causal = false;
  /// Broadcasts to [… heads, queries, keys]: a bool says which keys are seen, a float is added to the scores.
  std::optional<Tensor> mask = std::nullopt;
  /// Of the scores; 1/√(size of a head) if not given.
  std::optional<double> scale = std::nullopt;
};
/// q [… heads, queries, size], k and v [… heads, keys, size]. If k and v have fewer heads, each serves as
/// many heads of q in a row (grouped heads, PyTorch's enable_gqa). A query that sees no key gives 0.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Attention& options = {}, Location where = Location::current());
/// The same: the compiler, not the name, makes the kernel.
Tensor flash_attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal = false,
                       const std::optional<Tensor>& mask = std::nullopt,
                       std::optional<double> scale = std::nullopt, Location where = Location::current());

}  // namespace luminal
