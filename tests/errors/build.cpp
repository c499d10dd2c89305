#include <memory>

#include "refusal.h"

namespace luminal {
namespace {

REFUSED(dim_name, "variable: \"n-1\" is no name; expected letters, digits and _, no digit first") {
  g.tensor({2, "n-1"});
}
REFUSED(dim_of_a_coordinate, "variable: \"i3\" names a coordinate; those are made by `coordinate`") {
  g.dim("i3", 0, 4);
}
REFUSED(dim_without_value, "variable: n has no value in [5, 4]") {
  g.dim("n", 5, 4);
}
REFUSED(add_shapes, "add: shapes [2, 3] and [4, 3] do not broadcast at axis 0: 2 against 4") {
  g.tensor({2, 3}) + g.tensor({4, 3});
}
REFUSED(mul_shapes_right_aligned, "mul: shapes [2, 3] and [2] do not broadcast at axis 1: 3 against 2") {
  g.tensor({2, 3}) * g.tensor({2});
}
REFUSED(bounded_dims_differ, "add: shapes [n] and [9] do not broadcast at axis 0: n against 9") {
  g.tensor({g.dim("n", 1, 8)}) + g.tensor({9});
}
REFUSED(no_common_dtype, "add: u32 and i32 have no common dtype; cast one of them") {
  g.tensor({2}, DType::u32) + g.tensor({2}, DType::i32);
}
REFUSED(sub_bool, "sub: takes numbers, got bool") {
  g.tensor({2}, DType::boolean) - g.tensor({2}, DType::boolean);
}
REFUSED(neg_bool, "neg: takes numbers, got bool") {
  -g.tensor({2}, DType::boolean);
}
REFUSED(sqrt_integer, "sqrt: input 0 is i32[2], expected floating-point elements") {
  g.tensor({2}, DType::i32).unary(Op::sqrt);
}
REFUSED(bitcast_size, "bitcast: elements of f32 and i64 have different sizes") {
  g.tensor({2}).as_dtype(DType::i64);
}
REFUSED(sum_axis, "sum: axis 2 is out of range for a tensor of rank 2") {
  g.tensor({2, 3}).sum(2);
}
REFUSED(sum_axis_twice, "sum: axis 1 is given twice") {
  g.tensor({2, 3}).sum({1, -1});
}
REFUSED(max_empty, "max: axis 1 of [2, 0] is empty and has no maximum") {
  g.tensor({2, 0}).max(1);
}
REFUSED(negative_dim, "input: dim 1 of [2, -3] is negative") {
  g.tensor({2, -3});
}
REFUSED(iota_axis, "iota: axis 1 is out of range for a tensor of rank 1") {
  g.iota({3}, 1);
}
REFUSED(iota_foreign_axis, "iota: i3 uses axis 3 of [2], which has 1 axes") {
  g.iota(Expr::coordinate(3, 5), {2});
}
REFUSED(iota_float, "iota: gives integers, not f32") {
  g.iota({3}, 0, DType::f32);
}
REFUSED(other_graph, "add: the tensors belong to different graphs") {
  Graph other;
  g.tensor({2}) + other.tensor({2});
}
REFUSED(graph_gone, "add: the tensor's graph no longer exists") {
  auto other = std::make_unique<Graph>();
  const Tensor x = other->tensor({2});
  other.reset();
  x + 1;
}
REFUSED(dim_bounds, "dim 'n' is in [1, 8] elsewhere and in [0, inf] here") {
  g.dim("n", 1, 8);
  g.tensor({"n"});
}
REFUSED(state_unnamed, "state: needs a name") {
  g.state("", {2});
}
REFUSED(state_twice, "state: there is one named 's' already") {
  g.state("s", {2});
  g.state("s", {3});
}
REFUSED(assign_type, "assign: the state 's' is f32[2] and cannot take f32[3]") {
  g.state("s", {2}).assign(g.tensor({3}));
}
REFUSED(assign_dtype, "assign: the state 's' is f32[2] and cannot take i64[2]") {
  g.state("s", {2}).assign(g.tensor({2}, DType::i64));
}
REFUSED(op_arity, "mul: takes 2 inputs, got 1") {
  g.add_op(Op::mul).input(g.tensor({2})).finish();
}
REFUSED(op_dtypes, "mul: inputs f32[2] and f64[2] have different dtypes") {
  g.add_op(Op::mul).input(g.tensor({2})).input(g.tensor({2}, DType::f64)).finish();
}
REFUSED(op_shapes, "mul: shapes [2] and [3] differ at axis 0: 2 against 3") {
  g.add_op(Op::mul).input(g.tensor({2})).input(g.tensor({3})).finish();
}
REFUSED(op_ranks, "mul: shapes [2] and [] have different ranks: 1 against 0") {
  g.add_op(Op::mul).input(g.tensor({2})).input(g.tensor({})).finish();
}
REFUSED(op_attribute, "gather: the attribute is not the one this op carries") {
  g.add_op(Op::gather).input(g.tensor({2})).input(g.tensor({2}, DType::i64)).finish();
}
REFUSED(gather_index, "gather: input 1, the index, is f32[2], expected integer elements") {
  g.add_op(Op::gather).attribute(attribute::Axis{0}).input(g.tensor({2})).input(g.tensor({2})).finish();
}
REFUSED(gather_axis, "gather: axis 1 of f32[2], which has 1 axes") {
  g.add_op(Op::gather)
      .attribute(attribute::Axis{1})
      .input(g.tensor({2}))
      .input(g.tensor({2}, DType::i64))
      .finish();
}
REFUSED(reduce_axes, "reduce_sum: reduces 2 axes of f32[2], which has 1") {
  g.add_op(Op::reduce_sum).attribute(attribute::Reduce{2}).input(g.tensor({2})).finish();
}
REFUSED(select_condition, "select: the condition is f32[2], expected bool elements") {
  const Tensor x = g.tensor({2});
  g.add_op(Op::select).input(x).input(x).input(x).finish();
}
REFUSED(sort_scalar, "sort: works along the last axis, and f32[] has none") {
  g.add_op(Op::sort).attribute(attribute::Sort{}).input(g.tensor({})).finish();
}
REFUSED(no_output, "print: has no output; use finish_all") {
  g.add_op(Op::print).attribute(attribute::Print{"x"}).input(g.tensor({2})).finish();
}
REFUSED(schedule_circle, "schedule: %1 would have to run both before and after %2") {
  const Tensor a = g.tensor({2});
  const Tensor b = a.exp2();
  const Tensor c = b.exp2();
  g.schedule(c, b);
}
REFUSED(custom_refuses, "median: takes one tensor") {
  CustomOp median;
  median.name = "median";
  median.infer = [where = Location::current()](std::span<const TensorType>) -> std::vector<TensorType> {
    throw Error("median: takes one tensor", where);
  };
  median.run = [](std::span<const Array>) { return std::vector<Array>(); };
  g.custom(std::make_shared<CustomOp>(median), {});
}

}  // namespace
}  // namespace luminal
