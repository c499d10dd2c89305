#include "refusal.h"

namespace luminal {
namespace {

REFUSED(linear_integer, "module: the input is i64, expected floating-point elements; cast it first") {
  const nn::Linear fc(g, 2, 2);
  fc(g.tensor({1, 2}, DType::i64));
}
REFUSED(conv_integer, "module: the input is u8, expected floating-point elements; cast it first") {
  const nn::Conv conv = nn::conv2d(g, 1, 1, 3);
  conv(g.tensor({1, 1, 4, 4}, DType::u8));
}
REFUSED(linear_size, "Linear: the input has shape [1, 3], expected 2 elements along the last axis") {
  const nn::Linear fc(g, 2, 2);
  fc(g.tensor({1, 3}));
}
REFUSED(sequence_size, "Linear: the input has shape [1, 2], expected 4 elements along the last axis") {
  const nn::Sequential net(nn::Linear(g, 3, 2), nn::Relu{}, nn::Linear(g, 4, 1));
  net(g.tensor({1, 3}));
}
REFUSED(cache_batch,
        "KvCache: new positions of shape [1, 2, 1, 4] for a cache of shape [2, 2, 8, 4]; expected the same "
        "batch, heads and size") {
  const nn::KvCache cache(g, 2, 2, 8, 4, 0);
  cache.append(g.tensor({1, 2, 1, 4}), g.tensor({1, 2, 1, 4}));
}
REFUSED(cache_full, "KvCache: 9 positions for a capacity of 8") {
  const nn::KvCache cache(g, 1, 2, 8, 4, 6);
  cache.append(g.tensor({1, 2, 3, 4}), g.tensor({1, 2, 3, 4}));
}
REFUSED(soft_targets,
        "cross_entropy: soft targets of shape [2] for scores of shape [2, 3]; labels are integers") {
  nn::cross_entropy(g.tensor({2, 3}), g.tensor({2}));
}
REFUSED(heads, "MultiHeadAttention: size 10 does not divide into 4 heads") {
  nn::MultiHeadAttention(g, 10, {.heads = 4});
}
REFUSED(groups, "GroupNorm: 5 channels do not divide into 2 groups") {
  nn::GroupNorm(g, 2, 5);
}
REFUSED(batch_of_one,
        "BatchNorm: the input has shape [1, 3], expected more than one value a channel in training") {
  nn::BatchNorm(g, 3)(g.tensor({1, 3}));
}
REFUSED(batch_of_none,
        "BatchNorm: the input has shape [0, 3, 4], expected more than one value a channel in training") {
  nn::BatchNorm(g, 3)(g.tensor({0, 3, 4}));
}
REFUSED(batch_that_becomes_one,
        "slice of axis 0 of [1]: 1 elements from 1 with step 1 end at 1, but the axis has size 1") {
  nn::BatchNorm(g, 2)(g.tensor({"n", 2}).set({{1, 2}}));
  g.execute();
}
REFUSED(operands_in_a_loss, "sub: shapes [2, 3] and [2, 4] do not broadcast at axis 1: 3 against 4") {
  nn::mse_loss(g.tensor({2, 3}), g.tensor({2, 4}));
}
REFUSED(time_steps,
        "Recurrent: the input has shape [1, t, 2], expected a constant number of time steps, at least 1") {
  nn::lstm(g, 2, 3)(g.tensor({1, "t", 2}));
}
REFUSED(clip_norm, "clip_by_norm: the largest norm is -1, expected more than 0") {
  optim::clip_by_norm({g.tensor({2})}, -1);
}
REFUSED(step_lists, "sgd: 1 parameters but 0 gradients") {
  (void)optim::sgd({{g.state("w", {2})}, {}, 0.1});
}
REFUSED(braces, "values in braces: lists at depth 1 have 2 and 1 elements") {
  g.tensor({2, 2}).set({{1, 2}, {3}});
}
REFUSED(custom_incomplete, "custom: a custom op needs both of its functions, infer and run") {
  g.custom(std::make_shared<CustomOp>(), {});
}

}  // namespace
}  // namespace luminal
