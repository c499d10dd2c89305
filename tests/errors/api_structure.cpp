#include "refusal.h"

namespace luminal {
namespace {

REFUSED(matmul_inner, "matmul: shapes [2, 3] and [4, 5] do not fit: axis 1 has 3 elements, axis 0 has 4") {
  g.tensor({2, 3}).matmul(g.tensor({4, 5}));
}
REFUSED(matmul_scalar, "matmul: takes tensors of rank 1 or more, got shapes [] and [2, 2]") {
  g.tensor({}).matmul(g.tensor({2, 2}));
}
REFUSED(matmul_batch, "matmul: shapes [2] and [3] do not broadcast at axis 0: 2 against 3") {
  g.tensor({2, 4, 5}).matmul(g.tensor({3, 5, 6}));
}
REFUSED(matmul_dtypes, "matmul: u32 and i32 have no common dtype; cast one of them") {
  g.tensor({2, 2}, DType::u32).matmul(g.tensor({2, 2}, DType::i32));
}
REFUSED(dot_rank, "dot: takes vectors, got shape [2, 3] of rank 2") {
  g.tensor({2, 3}).dot(g.tensor({3}));
}
REFUSED(dot_sizes, "dot: shapes [2] and [3] do not fit: axis 0 has 2 elements, axis 0 has 3") {
  g.tensor({2}).dot(g.tensor({3}));
}
REFUSED(einsum_operands, "einsum: \"ij,jk->ik\" names 2 operands, got 1") {
  einsum("ij,jk->ik", {g.tensor({2, 3})});
}
REFUSED(einsum_rank, "einsum: \"ijk\" names 3 axes of operand 0, which has rank 2") {
  einsum("ijk", {g.tensor({2, 3})});
}
REFUSED(einsum_sizes, "einsum: \"ij,jk\" gives 'j' the sizes 3 and 4") {
  einsum("ij,jk", {g.tensor({2, 3}), g.tensor({4, 5})});
}
REFUSED(einsum_diagonal, "einsum: \"ii\" gives 'i' the sizes 2 and 3") {
  einsum("ii", {g.tensor({2, 3})});
}
REFUSED(einsum_result, "einsum: \"ij->k\" has 'k' in the result, which no operand has") {
  einsum("ij->k", {g.tensor({2, 3})});
}
REFUSED(einsum_twice, "einsum: \"ij->ii\" has 'i' in the result twice") {
  einsum("ij->ii", {g.tensor({2, 3})});
}
REFUSED(einsum_letter, "einsum: \"i1\" has '1' where a letter was expected") {
  einsum("i1", {g.tensor({2, 3})});
}
REFUSED(
    attention_size,
    "scaled_dot_product_attention: queries of shape [2, 3, 4] and keys of shape [2, 3, 5] differ at axis 2: "
    "4 against 5") {
  scaled_dot_product_attention(g.tensor({2, 3, 4}), g.tensor({2, 3, 5}), g.tensor({2, 3, 5}));
}
REFUSED(
    attention_keys,
    "scaled_dot_product_attention: keys of shape [2, 3, 4] and values of shape [2, 5, 4] differ at axis 1: "
    "3 against 5") {
  scaled_dot_product_attention(g.tensor({2, 3, 4}), g.tensor({2, 3, 4}), g.tensor({2, 5, 4}));
}
REFUSED(attention_groups,
        "scaled_dot_product_attention: 4 heads of queries are no multiple of 3 heads of keys") {
  scaled_dot_product_attention(g.tensor({1, 4, 2, 2}), g.tensor({1, 3, 2, 2}), g.tensor({1, 3, 2, 2}));
}
REFUSED(attention_integer, "scaled_dot_product_attention: takes floats, got i32; cast it first") {
  flash_attention(g.tensor({2, 2}, DType::i32), g.tensor({2, 2}), g.tensor({2, 2}));
}
REFUSED(concat_axis_sizes, "concat: shapes [2, 3] and [2, 4] differ at axis 1: 3 against 4") {
  concat({g.tensor({2, 3}), g.tensor({2, 4})}, 0);
}
REFUSED(concat_ranks, "concat: shapes [2, 3] and [2] have different ranks: 2 against 1") {
  concat({g.tensor({2, 3}), g.tensor({2})}, 0);
}
REFUSED(concat_nothing, "concat: takes at least one tensor") {
  concat({}, 0);
}
REFUSED(stack_ranks, "stack: shapes [2] and [2, 3] have different ranks: 1 against 2") {
  stack({g.tensor({2}), g.tensor({2, 3})});
}
REFUSED(split_sizes, "split: sizes [2, 2] add up to 4, axis 0 of [5, 2] has 5") {
  g.tensor({5, 2}).split({2, 2}, 0);
}
REFUSED(split_symbolic, "split: axis 0 of [n] has no known length; give the sizes") {
  split(g.tensor({"n"}), 2);
}
REFUSED(chunk_count, "chunk: the number of parts is 0, expected at least 1") {
  g.tensor({4}).chunk(0);
}
REFUSED(repeat_count, "repeat: 1 counts for a tensor of rank 2") {
  g.tensor({2, 3}).repeat({2});
}
REFUSED(repeat_negative, "repeat: a count is -1, expected at least 0") {
  g.tensor({2}).repeat({-1});
}
REFUSED(roll_axis, "roll: axis 1 is out of range for a tensor of rank 1") {
  g.tensor({2}).roll(1, 1);
}
REFUSED(pad_cut, "pad: cuts 5 elements off axis 0 of [3]") {
  g.tensor({3}).pad(0, -2, -3);
}
REFUSED(pad_reflect_long, "pad: reflects 3 elements of axis 1 of [2, 3], which has 3") {
  g.tensor({2, 3}).pad(1, 3, 0, PadMode::reflect);
}
REFUSED(pad_edge_empty, "pad: axis 0 of [0] is empty") {
  g.tensor({0}).pad(0, 1, 0, PadMode::edge);
}
REFUSED(flatten_order, "flatten: axis 2 stands after axis 1") {
  g.tensor({2, 3, 4}).flatten(2, 1);
}
REFUSED(tril_rank, "tril: takes tensors of rank 2 or more, got shape [3]") {
  g.tensor({3}).tril();
}
REFUSED(diagonal_twice, "diagonal: axis 1 is given twice") {
  g.tensor({2, 3}).diagonal(0, 1, -1);
}
REFUSED(conv_channels,
        "conv2d: the input [1, 3, 8, 8] has 3 channels, the weight [4, 2, 3, 3] with 1 groups takes 2") {
  conv2d(g.tensor({1, 3, 8, 8}), g.tensor({4, 2, 3, 3}));
}
REFUSED(conv_rank, "conv1d: takes an input of rank 2 or 3, got shape [2, 3, 4, 5]") {
  conv1d(g.tensor({2, 3, 4, 5}), g.tensor({2, 3, 3}));
}
REFUSED(conv_weight_rank, "conv2d: takes a weight of rank 4, got shape [2, 3, 3]") {
  conv2d(g.tensor({1, 3, 4, 4}), g.tensor({2, 3, 3}));
}
REFUSED(conv_bias, "conv1d: the bias has shape [3], expected [2]") {
  conv1d(g.tensor({1, 3, 5}), g.tensor({2, 3, 3}), g.tensor({3}));
}
REFUSED(conv_groups, "conv1d: 3 outputs do not split into 2 groups") {
  conv1d(g.tensor({1, 4, 5}), g.tensor({3, 2, 3}), std::nullopt, {.groups = 2});
}
REFUSED(conv_window,
        "conv1d: the window reaches over 5 elements, axis 2 of the padded input [1, 1, 4] has 4") {
  conv1d(g.tensor({1, 1, 4}), g.tensor({1, 1, 3}), std::nullopt, {.dilation = 2});
}
REFUSED(conv_stride, "conv1d: the stride is 0, expected at least 1") {
  conv1d(g.tensor({1, 1, 4}), g.tensor({1, 1, 3}), std::nullopt, {.stride = 0});
}
REFUSED(conv_stride_count, "conv2d: 3 sizes for the stride, expected 1 or 2") {
  conv2d(g.tensor({1, 1, 4, 4}), g.tensor({1, 1, 3, 3}), std::nullopt, {.stride = {1, 2, 3}});
}
REFUSED(conv_transpose_channels,
        "conv_transpose1d: the input [1, 3, 4] has 3 channels, the weight [2, 2, 3] with 1 groups takes 2") {
  conv_transpose1d(g.tensor({1, 3, 4}), g.tensor({2, 2, 3}));
}
REFUSED(max_pool_window,
        "max_pool: the window reaches over 5 elements, axis 1 of [2, 4] with its padding has 4") {
  max_pool(g.tensor({2, 4}), 5, 1);
}
REFUSED(max_pool_padding, "max_pool: the padding is 2, more than half of the window of 3") {
  max_pool(g.tensor({2, 4}), 3, 1, {.padding = 2});
}
REFUSED(avg_pool_integer, "avg_pool: takes floats, got i32; cast it first") {
  avg_pool(g.tensor({2, 4}, DType::i32), 2, 1);
}
REFUSED(adaptive_size, "adaptive_avg_pool: a size is 0, expected at least 1") {
  adaptive_avg_pool(g.tensor({2, 4}), {0});
}
REFUSED(interpolate_corners, "interpolate: align_corners goes with bilinear, not with nearest") {
  interpolate(g.tensor({2, 4}), {8}, Interpolation::nearest, true);
}
REFUSED(interpolate_sizes, "interpolate: 3 sizes for a tensor of shape [2, 4]") {
  interpolate(g.tensor({2, 4}), {8, 8, 8});
}

}  // namespace
}  // namespace luminal
