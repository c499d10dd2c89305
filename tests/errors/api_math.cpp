#include "refusal.h"

namespace luminal {
namespace {

REFUSED(abs_bool, "abs: takes numbers, got bool") {
  g.tensor({2}, DType::boolean).abs();
}
REFUSED(floor_bool, "floor: takes numbers, got bool") {
  g.tensor({2}, DType::boolean).floor();
}
REFUSED(pow_shapes, "pow: shapes [2, 3] and [2, 4] do not broadcast at axis 1: 3 against 4") {
  pow(g.tensor({2, 3}), g.tensor({2, 4}));
}
REFUSED(pow_negative, "pow: integers cannot be raised to -2; cast them to a float") {
  g.tensor({2}, DType::i32).pow(-2);
}
REFUSED(pow_bool, "pow: takes numbers, got bool") {
  pow(g.tensor({2}, DType::boolean), g.tensor({2}, DType::boolean));
}
REFUSED(fmod_dtypes, "fmod: u16 and i8 have no common dtype; cast one of them") {
  fmod(g.tensor({2}, DType::u16), g.tensor({2}, DType::i8));
}
REFUSED(floor_divide_bool, "floor_divide: takes numbers, got bool") {
  floor_divide(g.tensor({2}, DType::boolean), g.tensor({2}, DType::boolean));
}
REFUSED(atan2_shapes, "atan2: shapes [3] and [2] do not broadcast at axis 0: 3 against 2") {
  atan2(g.tensor({3}), g.tensor({2}));
}
REFUSED(no_tensor, "maximum: neither operand is a tensor") {
  maximum(1, 2);
}
REFUSED(lt_shapes, "lt: shapes [2, 1, 3] and [4, 2] do not broadcast at axis 2: 3 against 2") {
  g.tensor({2, 1, 3}) < g.tensor({4, 2});
}
REFUSED(eq_dtypes, "eq: f8e4m3 and f32 have no common dtype; cast one of them") {
  eq(g.tensor({2}, DType::f8e4m3), g.tensor({2}));
}
REFUSED(bit_and_float, "bit_and: takes integer or bool elements, got f32") {
  g.tensor({2}) & g.tensor({2});
}
REFUSED(shift_bool, "shift_left: takes integer elements, got bool") {
  shift_left(g.tensor({2}, DType::boolean), g.tensor({2}, DType::boolean));
}
REFUSED(bit_not_float, "bit_xor: takes integer or bool elements, got f32") {
  g.tensor({2}).bit_not();
}
REFUSED(clip_nothing, "clip: needs at least one bound") {
  g.tensor({2}).clip(std::nullopt, std::nullopt);
}
REFUSED(clip_bool, "clip: takes numbers, got bool") {
  g.tensor({2}, DType::boolean).clip(0, 1);
}
REFUSED(where_condition, "where: the condition is f32[2], expected bool elements") {
  where(g.tensor({2}), g.tensor({2}), 0);
}
REFUSED(where_shapes, "where: shapes [2] and [3] do not broadcast at axis 0: 2 against 3") {
  where(g.tensor({2}, DType::boolean), g.tensor({3}), 0);
}
REFUSED(masked_fill_mask, "masked_fill: the mask is i64[2], expected bool elements") {
  g.tensor({2}).masked_fill(g.tensor({2}, DType::i64), 0);
}
REFUSED(masked_fill_value, "masked_fill: the value has shape [2], expected a scalar") {
  g.tensor({2}).masked_fill(g.tensor({2}, DType::boolean), g.tensor({2}));
}
REFUSED(gelu_integer, "gelu: takes floats, got i32; cast it first") {
  g.tensor({2}, DType::i32).gelu();
}
REFUSED(relu_bool, "relu: takes numbers, got bool") {
  g.tensor({2}, DType::boolean).relu();
}
REFUSED(softplus_integer, "softplus: takes floats, got u8; cast it first") {
  g.tensor({2}, DType::u8).softplus();
}

REFUSED(mean_integer, "mean: takes floats, got i64; cast it first") {
  g.tensor({2}, DType::i64).mean();
}
REFUSED(mean_axis, "mean: axis -3 is out of range for a tensor of rank 2") {
  g.tensor({2, 3}).mean(-3);
}
REFUSED(min_empty, "min: axis 0 of [0, 2] is empty and has no minimum") {
  g.tensor({0, 2}).min(0);
}
REFUSED(argmax_axis, "argmax: axis 1 is out of range for a tensor of rank 1") {
  g.tensor({2}).argmax(1);
}
REFUSED(argmax_bool, "argmax: takes numbers, got bool") {
  g.tensor({2}, DType::boolean).argmax();
}
REFUSED(argmin_empty, "argmin: axis 1 of [2, 0] is empty and has no minimum") {
  g.tensor({2, 0}).argmin(1);
}
REFUSED(norm_empty, "norm: axis 0 of [0] is empty and has no maximum") {
  g.tensor({0}).norm(std::numeric_limits<double>::infinity());
}
REFUSED(var_twice, "var: axis 0 is given twice") {
  g.tensor({2, 3}).var({0, -2});
}
REFUSED(softmax_integer, "softmax: takes floats, got i32; cast it first") {
  g.tensor({2}, DType::i32).softmax(0);
}
REFUSED(softmax_axis, "softmax: axis 2 is out of range for a tensor of rank 2") {
  g.tensor({2, 3}).softmax(2);
}
REFUSED(layer_norm_axis, "layer_norm: axis 3 is out of range for a tensor of rank 2") {
  g.tensor({2, 3}).layer_norm(3);
}
REFUSED(layer_norm_weight, "layer_norm: shapes [2, 3] and [4] do not broadcast at axis 1: 3 against 4") {
  layer_norm(g.tensor({2, 3}), -1, g.tensor({4}), std::nullopt);
}
REFUSED(rms_norm_weight, "rms_norm: a weight of shape [2, 2, 3] does not fit [2, 3]") {
  rms_norm(g.tensor({2, 3}), -1, g.tensor({2, 2, 3}));
}

}  // namespace
}  // namespace luminal
