#include <memory>

#include "refusal.h"

namespace luminal {
namespace {

REFUSED(set_count, "set: values f32[3] do not fit the tensor f32[2, 2]") {
  g.tensor({2, 2}).set(std::vector<float>{1, 2, 3});
}
REFUSED(set_nested, "set: values i32[2, 3] do not fit the tensor f32[2, 2]") {
  g.tensor({2, 2}).set({{1, 2, 3}, {4, 5, 6}});
}
REFUSED(set_flat_dynamic, "set: values f32[4] do not fit the tensor f32[n, 2]; give its dims with set_dyn") {
  g.tensor({"n", 2}).set(std::vector<float>{1, 2, 3, 4});
}
REFUSED(set_dyn_dims, "set_dyn: dims [2, 3] do not fit the tensor f32[n, 2]") {
  g.tensor({"n", 2}).set_dyn(std::vector<float>(6), {2, 3});
}
REFUSED(set_dyn_count, "set_dyn: 5 values for dims [2, 2]") {
  g.tensor({"n", 2}).set_dyn(std::vector<float>(5), {2, 2});
}
REFUSED(set_float_to_integer, "set: values of f64 given to a tensor of i32; cast them first") {
  g.tensor({2}, DType::i32).set({0.5, 1.5});
}
REFUSED(set_too_large, "set: element 1 is 300, which u8 does not hold") {
  g.tensor({2}, DType::u8).set({1, 300});
}
REFUSED(set_computed, "set: the tensor is exp2, expected an input or a state") {
  g.tensor({2}).exp2().set({1, 2});
}
REFUSED(set_view, "set: the tensor is a view; set the tensor it was made from") {
  g.tensor({2}).flip(0).set({1, 2});
}
REFUSED(set_dim_unknown, "set_dim: no dim is named 'm'") {
  g.set_dim("m", 3);
}
REFUSED(set_dim_bounds, "set_dim: n = 9 is outside [1, 8]") {
  g.dim("n", 1, 8);
  g.set_dim("n", 9);
}
REFUSED(set_outside_bounds, "set_dim: n = 2 is outside [4, 8]") {
  g.tensor({g.dim("n", 4, 8)}).set({1, 2});
}
REFUSED(deferred_empty, "set_deferred: the loader is empty") {
  g.tensor({2}).set_deferred({});
}
REFUSED(input_without_value, "execute: the input 'x', f32[2], has no value") {
  g.named_tensor("x", {2}).exp2().retrieve();
  g.execute();
}
REFUSED(dim_without_value, "execute: the dim 'n' has no value") {
  g.tensor({"n"}).exp2().retrieve();
  g.execute();
}
REFUSED(input_of_old_dim, "input 'x' holds f32[2], expected f32[3] (with n = 3)") {
  const Tensor x = g.named_tensor("x", {"n"}).set({1, 2});
  g.set_dim("n", 3);
  x.exp2().retrieve();
  g.execute();
}
REFUSED(dims_differ, "add: shapes [n] and [m] differ at axis 0: n against m (with m = 3, n = 2)") {
  const Tensor x = g.tensor({"n"}).set({1, 2});
  const Tensor y = g.tensor({"m"}).set({1, 2, 3});
  (x + y).retrieve();
  g.execute();
}
REFUSED(data_not_computed, "data: %1 (exp2) was not computed; mark it with retrieve() before execute()") {
  const Tensor x = g.tensor({2}).set({1, 2});
  const Tensor y = x.exp2();
  g.execute();
  y.data<float>();
}
REFUSED(data_without_value, "data: the input 'x' has no value") {
  g.named_tensor("x", {2}).data<float>();
}
REFUSED(data_lossy, "data: elements of f64 cannot be read as f32 without loss; cast the tensor first") {
  const Tensor x = g.tensor({1}, DType::f64).set({0.1});
  try {
    x.data<float>();
  } catch (const Error& error) {
    throw Error(error.problem(), Location::current());
  }
}
REFUSED(gather_outside, "gather: index 5 is outside axis 0, which has 2 elements") {
  const Tensor x = g.tensor({2}).set({1, 2});
  const Tensor index = g.tensor({1}, DType::i64).set({5});
  g.add_op(Op::gather).attribute(attribute::Axis{0}).input(x).input(index).finish().retrieve();
  g.execute();
}
REFUSED(gather_negative, "gather: index -1 is outside axis 0, which has 2 elements") {
  const Tensor x = g.tensor({2}).set({1, 2});
  const Tensor index = g.tensor({1}, DType::i64).set({-1});
  g.add_op(Op::gather).attribute(attribute::Axis{0}).input(x).input(index).finish().retrieve();
  g.execute();
}
REFUSED(diff_no_file, "diff: the file \"/nowhere/reference.bin\" cannot be read") {
  g.tensor({2}).set({1, 2}).diff("/nowhere/reference.bin", 0, 0);
  g.execute();
}
REFUSED(transfer_count, "transfer_data: 1 sources but 0 destinations") {
  transfer_data({g.tensor({2})}, {});
}
REFUSED(transfer_type, "transfer_data: f32[2] cannot become i64[2]") {
  transfer_data({g.tensor({2}).set({1, 2})}, {g.tensor({2}, DType::i64)});
}
REFUSED(swap_types, "swap_data: f32[2] and f32[3] differ") {
  swap_data(g.tensor({2}), g.tensor({3}));
}
REFUSED(value_at_outside, "value_at: coordinate 2 is outside axis 0, which has 2 elements") {
  g.value_at(g.tensor({2}).set({1, 2}), {2});
}
REFUSED(value_at_rank, "value_at: 1 coordinates for a value of rank 2") {
  g.value_at(g.tensor({2, 2}), {0});
}
REFUSED(removed_by_pass, "exp2: the tensor was removed from its graph") {
  const Tensor unused = g.tensor({2});
  g.apply(dead_code());
  unused.exp2();
}
REFUSED(custom_wrong_output, "custom op 'half': output 0 is f32[2], expected f32[1]") {
  CustomOp half;
  half.name = "half";
  half.infer = [](std::span<const TensorType>) { return std::vector<TensorType>{{{1}, DType::f32}}; };
  half.run = [](std::span<const Array>) { return std::vector<Array>{Array(DType::f32, {2})}; };
  g.custom(std::make_shared<CustomOp>(half), {})[0].retrieve();
  g.execute();
}

}  // namespace
}  // namespace luminal
