#include "refusal.h"

namespace luminal {
namespace {

REFUSED(gather_float_index, "gather: the index is f32[2, 2], expected integer elements") {
  g.tensor({2, 3}).gather(1, g.tensor({2, 2}));
}
REFUSED(gather_rank, "gather: the index of shape [2] has rank 1, the tensor [2, 3] has rank 2") {
  g.tensor({2, 3}).gather(1, g.tensor({2}, DType::i64));
}
REFUSED(gather_exceeds,
        "gather: the index of shape [3, 1] exceeds the tensor of shape [2, 3] at axis 0: 3 against 2") {
  g.tensor({2, 3}).gather(1, g.tensor({3, 1}, DType::i64));
}
REFUSED(scatter_dtype, "scatter: the tensor is f32, the source f64") {
  g.tensor({2}).scatter(0, g.tensor({2}, DType::i64), g.tensor({2}, DType::f64));
}
REFUSED(scatter_source,
        "scatter_add: the index of shape [3] exceeds the source of shape [2] at axis 0: 3 against 2") {
  g.tensor({2}).scatter_add(0, g.tensor({3}, DType::i64), g.tensor({2}));
}
REFUSED(scatter_exceeds,
        "scatter: the index of shape [3, 1] exceeds the tensor of shape [2, 2] at axis 0: 3 against 2") {
  g.tensor({2, 2}).scatter(1, g.tensor({3, 1}, DType::i64), 1);
}
REFUSED(index_select_rank, "index_select: takes a vector of positions, got shape [2, 2]") {
  g.tensor({2, 3}).index_select(0, g.tensor({2, 2}, DType::i64));
}
REFUSED(embedding_weight, "embedding: takes a matrix of weights, got shape [3]") {
  embedding(g.tensor({2}, DType::i64), g.tensor({3}));
}
REFUSED(embedding_outside, "gather: index 4 is outside axis 0, which has 4 elements") {
  const Tensor index = g.tensor({2}, DType::i64).set({0, 4});
  embedding(index, g.tensor({4, 2}).set({1, 2, 3, 4, 5, 6, 7, 8})).retrieve();
  g.execute();
}
REFUSED(one_hot_classes, "one_hot: the number of classes is 0, expected at least 1") {
  g.tensor({2}, DType::i64).one_hot(0);
}
REFUSED(index_put_count, "index_put: 2 indices for a tensor of rank 1") {
  const Tensor index = g.tensor({2}, DType::i64);
  g.tensor({3}).index_put({index, index}, 1);
}
REFUSED(index_put_values, "index_put: shapes [3] and [2] do not broadcast at axis 0: 3 against 2") {
  g.tensor({3}).index_put({g.tensor({2}, DType::i64)}, g.tensor({3}));
}
REFUSED(take_along_rank, "take_along_axis: the index of shape [2] has rank 1, the tensor [2, 3] has rank 2") {
  g.tensor({2, 3}).take_along_axis(g.tensor({2}, DType::i64), 1);
}
REFUSED(cumsum_axis, "cumsum: axis 1 is out of range for a tensor of rank 1") {
  g.tensor({2}).cumsum(1);
}
REFUSED(sort_axis, "sort: axis -2 is out of range for a tensor of rank 1") {
  g.tensor({2}).sort(-2);
}
REFUSED(topk_count, "topk: takes 4 elements of axis 1 of [2, 3], which has 3") {
  g.tensor({2, 3}).topk(4);
}
REFUSED(arange_step, "arange: the step is 0") {
  arange(g, 0, 5, 0);
}
REFUSED(arange_direction, "arange: 0 is not reached from 5 in steps of 1") {
  arange(g, 5, 0, 1);
}
REFUSED(arange_fraction, "arange: 0.0 is not reached from 1.0 in steps of 0.5") {
  arange(g, 1.0, 0.0, 0.5);
}
REFUSED(linspace_count, "linspace: the count is -1, expected at least 0") {
  linspace(g, 0, 1, -1);
}
REFUSED(eye_size, "eye: a size is -2, expected at least 0") {
  eye(g, -2);
}
REFUSED(full_negative, "full: dim 1 of [2, -1] is negative") {
  zeros(g, {2, -1});
}
REFUSED(rand_integer, "rand: gives floats, not i32") {
  rand(g, {2}, 1, DType::i32);
}
REFUSED(randint_range, "randint: there is no number from 3 to below 3") {
  randint(g, 3, 3, {2}, 1);
}
REFUSED(rand_seed, "random: the seed is f32[], expected an integer scalar") {
  rand(g, {2}, g.tensor({}));
}
REFUSED(dropout_probability, "dropout: the probability is 1.5, expected one in [0, 1]") {
  g.tensor({2}).dropout(1.5, 1);
}
REFUSED(multinomial_count, "multinomial: 4 different positions of 3") {
  g.tensor({2, 3}).multinomial(4, false, 1);
}
REFUSED(multinomial_scalar, "multinomial: takes weights along an axis, got a scalar") {
  g.tensor({}).multinomial(1, true, 1);
}

}  // namespace
}  // namespace luminal
