// Gradients are a table: one row a primitive.
#include "luminal/autograd/vjp.h"

#include <array>
#include <numbers>
#include <tuple>

#include "luminal/frontend/compare.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

Backward::Backward(const Graph& graph, NodeId id, std::vector<std::optional<Tensor>> gradients,
                   const Replayed& replayed)
    : graph_(graph), id_(id), gradients_(std::move(gradients)), replayed_(replayed) {}

Tensor Backward::input(std::size_t k) const {
  Value value = node().inputs[k];
  const auto found = replayed_.find({value.node, value.output});
  if (found != replayed_.end()) std::tie(value.node, value.output) = found->second;
  return graph_.at(value);
}

Tensor Backward::output(std::uint32_t k) const {
  const auto found = replayed_.find({id_, k});
  return found == replayed_.end() ? graph_.at(id_, k) : graph_.at(found->second.first, found->second.second);
}

Tensor Backward::gradient(std::uint32_t k) {
  if (!gradients_[k]) {
    const TensorType& type = node().outputs[k];
    gradients_[k] = graph_.constant(0.0, type.dtype, where()).expand(type.shape, where());
  }
  return *gradients_[k];
}

namespace {

using Result = InputGradients;

/// Arithmetic at the forward node's line.
struct At {
  Location where;
  Tensor add(const Operand& a, const Operand& b) const { return at(a) + at(b); }
  Tensor sub(const Operand& a, const Operand& b) const { return at(a) - at(b); }
  Tensor mul(const Operand& a, const Operand& b) const { return at(a) * at(b); }
  Tensor div(const Operand& a, const Operand& b) const { return at(a) / at(b); }
  Tensor op(Op op, const Operand& a, const Operand& b) const { return binary(op, at(a), at(b), name(op)); }
  Tensor select(const Tensor& condition, const Operand& a, const Operand& b) const {
    return luminal::where(condition, at(a), at(b), where);
  }
  Operand at(Operand operand) const {
    operand.where = where;
    return operand;
  }
};

Result zero(Backward& b) {
  return {Result::value_type(At{b.where()}.mul(b.gradient(), 0))};
}

Result exp2_row(Backward& b) {
  const At at{b.where()};
  return {at.mul(at.mul(b.gradient(), b.output()), std::numbers::ln2)};
}

Result log2_row(Backward& b) {
  const At at{b.where()};
  return {at.div(b.gradient(), at.mul(b.input(0), std::numbers::ln2))};
}

Result sin_row(Backward& b) {
  return {At{b.where()}.mul(b.gradient(), b.input(0).cos(b.where()))};
}

Result cos_row(Backward& b) {
  const At at{b.where()};
  return {at.mul(b.gradient(), at.mul(b.input(0).sin(b.where()), -1))};
}

Result atan_row(Backward& b) {
  const At at{b.where()};
  return {at.div(b.gradient(), at.add(at.mul(b.input(0), b.input(0)), 1))};
}

Result erf_row(Backward& b) {
  const At at{b.where()};
  const Tensor square = at.mul(b.input(0), b.input(0));
  const Tensor bell = at.mul(square, -std::numbers::log2e).exp2(b.where());
  return {at.mul(b.gradient(), at.mul(bell, 2 * std::numbers::inv_sqrtpi))};
}

Result log1p_row(Backward& b) {
  const At at{b.where()};
  return {at.div(b.gradient(), at.add(b.input(0), 1))};
}

Result expm1_row(Backward& b) {
  const At at{b.where()};
  return {at.mul(b.gradient(), at.add(b.output(), 1))};
}

Result sqrt_row(Backward& b) {
  const At at{b.where()};
  return {at.div(b.gradient(), at.mul(b.output(), 2))};
}

Result recip_row(Backward& b) {
  const At at{b.where()};
  return {at.mul(at.mul(b.gradient(), -1), at.mul(b.output(), b.output()))};
}

Result add_row(Backward& b) {
  return {b.gradient(), b.gradient()};
}

Result mul_row(Backward& b) {
  const At at{b.where()};
  return {at.mul(b.gradient(), b.input(1)), at.mul(b.gradient(), b.input(0))};
}

Result div_row(Backward& b) {
  const At at{b.where()};
  return {at.div(b.gradient(), b.input(1)), at.mul(at.mul(b.gradient(), -1), at.div(b.output(), b.input(1)))};
}

Result idiv_row(Backward& b) {
  const Tensor none = At{b.where()}.mul(b.gradient(), 0);
  return {none, none};
}

/// a − b·trunc(a/b).
Result mod_row(Backward& b) {
  const At at{b.where()};
  return {b.gradient(), at.mul(at.mul(b.gradient(), -1), at.op(Op::idiv, b.input(0), b.input(1)))};
}

/// PyTorch's: no slope for a zero exponent, and no logarithm where the base is 0.
Result pow_row(Backward& b) {
  const At at{b.where()};
  const Tensor base = b.input(0);
  const Tensor exponent = b.input(1);
  const Tensor no_exponent = at.op(Op::equal, exponent, 0);
  const Tensor used =
      at.select(no_exponent, 1.0, exponent);  // keeps what is not used finite, for its gradient
  const Tensor slope = at.mul(used, at.op(Op::pow, base, at.sub(used, 1)));
  const Tensor to_base = at.select(no_exponent, 0.0, at.mul(b.gradient(), slope));
  const Tensor not_negative = at.op(Op::equal, at.op(Op::less, exponent, 0), false);
  const Tensor flat = at.op(Op::bit_and, at.op(Op::equal, base, 0), not_negative);
  const Tensor log = at.mul(at.select(flat, 1.0, base).log2(b.where()), std::numbers::ln2);
  const Tensor to_exponent = at.select(flat, 0.0, at.mul(b.gradient(), at.mul(b.output(), log)));
  return {to_base, to_exponent};
}

/// Equal operands share the gradient, as in torch.maximum.
Result max_row(Backward& b) {
  const At at{b.where()};
  const Tensor x = b.input(0);
  const Tensor y = b.input(1);
  const Tensor shared = at.select(at.op(Op::equal, x, y), at.mul(b.gradient(), 0.5), b.gradient());
  return {at.select(at.op(Op::less, x, y), 0.0, shared), at.select(at.op(Op::less, y, x), 0.0, shared)};
}

Result select_row(Backward& b) {
  const At at{b.where()};
  return {std::nullopt, at.select(b.input(0), b.gradient(), 0.0), at.select(b.input(0), 0.0, b.gradient())};
}

Result cast_row(Backward& b) {
  const DType source = b.input(0).dtype();
  if (!is_floating(source)) return {std::nullopt};
  return {b.gradient().cast(source, b.where())};
}

Result identity_row(Backward& b) {
  return {b.gradient()};
}

/// A gradient of the reduced shape, repeated along the reduced axes of the input.
Tensor spread(Backward& b, const Tensor& reduced) {
  Tensor result = reduced;
  const Shape& shape = b.node().inputs[0].view.shape();
  for (std::size_t axis = reduced.rank(); axis < shape.rank(); ++axis)
    result = result.expand_dim(static_cast<int>(axis), shape[axis], b.where());
  return result;
}

Result reduce_sum_row(Backward& b) {
  return {spread(b, b.gradient())};
}

/// Equal maxima share the gradient, as in torch.amax, or the first takes it, as in torch.max_pool2d.
Result reduce_max_row(Backward& b) {
  const At at{b.where()};
  const Tensor x = b.input(0);
  const Tensor equal = at.op(Op::equal, x, spread(b, b.output()));
  std::vector<int> axes;
  for (std::size_t axis = b.output().rank(); axis < x.rank(); ++axis) axes.push_back(static_cast<int>(axis));
  if (b.node().get<attribute::Reduce>().first_tie) {
    // The first has the largest number when counted from behind.
    Expr place = 0;
    for (std::size_t axis = b.output().rank(); axis < x.rank(); ++axis)
      place = place * x.shape()[axis] + (x.shape()[axis] - 1 - Expr::coordinate(axis, x.shape()[axis]));
    const Tensor behind = b.graph().iota(place + 1, x.shape(), DType::i64, b.where());
    const Tensor hit = at.select(equal, behind, 0);
    const Tensor first = at.op(Op::equal, hit, spread(b, hit.max(Axes(axes), false, b.where())));
    return {at.select(at.op(Op::bit_and, equal, first), spread(b, b.gradient()), 0.0)};
  }
  const Tensor chosen = equal.cast(x.dtype(), b.where());
  const Tensor count = chosen.sum(Axes(axes), false, b.where());
  return {at.mul(chosen, spread(b, at.div(b.gradient(), count)))};
}

/// The axes a reduction removes, merged into one.
Tensor merged(Backward& b, const Tensor& x, std::size_t kept) {
  std::vector<Expr> dims(x.shape().begin(), x.shape().begin() + static_cast<std::ptrdiff_t>(kept));
  Expr rest = 1;
  for (std::size_t axis = kept; axis < x.rank(); ++axis) rest = rest * x.shape()[axis];
  dims.push_back(rest);
  return x.move(movement::Reshape{Shape(std::move(dims))}, b.where());
}

/// x[.., j] as [.., k, j], with 1 where j = k: products of all elements but one, exact also for zeros.
Tensor all_but_one(Backward& b, const Tensor& x) {
  const At at{b.where()};
  const int last = static_cast<int>(x.rank());
  const Tensor rows = x.expand_dim(last - 1, x.shape()[x.rank() - 1], b.where());
  const Shape& shape = rows.shape();
  const Expr k = Expr::coordinate(shape.rank() - 2, shape[shape.rank() - 2]);
  const Expr j = Expr::coordinate(shape.rank() - 1, shape[shape.rank() - 1]);
  const Tensor same =
      b.graph().iota(Expr::equal(k, j), shape, DType::u8, b.where()).cast(DType::boolean, b.where());
  return at.select(same, 1.0, rows);
}

Result reduce_prod_row(Backward& b) {
  const At at{b.where()};
  const Tensor x = b.input(0);
  const Tensor flat = merged(b, x, b.output().rank());
  const Tensor others = all_but_one(b, flat).prod(-1, false, b.where());
  const Tensor flat_gradient =
      at.mul(others, b.gradient().expand_dim(-1, flat.shape()[flat.rank() - 1], b.where()));
  return {flat_gradient.move(movement::Reshape{x.shape()}, b.where())};
}

Tensor primitive(Backward& b, Op op, const Attribute& attribute, const std::vector<Tensor>& inputs) {
  OpBuilder builder = b.graph().add_op(op, b.where());
  builder.attribute(attribute);
  for (const auto& input : inputs) builder.input(input);
  return builder.finish();
}

Tensor zeros_like(Backward& b, const Tensor& x) {
  return b.graph().constant(0.0, x.dtype(), b.where()).expand(x.shape(), b.where());
}

Result gather_row(Backward& b) {
  return {primitive(b, Op::scatter_add, b.node().attribute,
                    {zeros_like(b, b.input(0)), b.input(1), b.gradient()}),
          std::nullopt};
}

/// The part of `x` that an index of this shape addresses on the axes other than its own.
Tensor addressed(Backward& b, const Tensor& x, const Tensor& index) {
  const std::uint32_t axis = b.node().get<attribute::Axis>().axis;
  Tensor part = x;
  for (std::size_t k = 0; k < index.rank(); ++k)
    if (k != axis && !(part.shape()[k] == index.shape()[k]))
      part = part.move(movement::Slice{k, 0, index.shape()[k], 1}, b.where());
  return part;
}

Result scatter_row(Backward& b) {
  const Tensor index = b.input(1);
  const Tensor kept =
      primitive(b, Op::scatter, b.node().attribute, {b.gradient(), index, zeros_like(b, b.input(2))});
  return {kept, std::nullopt,
          primitive(b, Op::gather, b.node().attribute, {addressed(b, b.gradient(), index), index})};
}

Result scatter_add_row(Backward& b) {
  const Tensor index = b.input(1);
  return {b.gradient(), std::nullopt,
          primitive(b, Op::gather, b.node().attribute, {addressed(b, b.gradient(), index), index})};
}

/// Σ over i ≥ k along the last axis.
Tensor sum_from_behind(Backward& b, const Tensor& x) {
  return primitive(b, Op::scan_sum, {}, {x.flip(-1, b.where())}).flip(-1, b.where());
}

Result scan_sum_row(Backward& b) {
  return {sum_from_behind(b, b.gradient())};
}

/// The latest element that equals the running maximum takes the gradient, as in torch.cummax.
Result scan_max_row(Backward& b) {
  const At at{b.where()};
  const Tensor x = b.input(0);
  const int last = static_cast<int>(x.rank()) - 1;
  const Tensor position = b.graph().iota(x.shape(), last, DType::i64, b.where());
  const Tensor here = at.select(at.op(Op::equal, x, b.output()), position, 0);
  const Tensor index = primitive(b, Op::scan_max, {}, {here});
  return {primitive(b, Op::scatter_add, attribute::Axis{static_cast<std::uint32_t>(last)},
                    {zeros_like(b, x), index, b.gradient()})};
}

/// d/dx_k Σ_i g_i Π_{j ≤ i} x_j = Σ_{i ≥ k} g_i Π_{j ≤ i, j ≠ k} x_j.
Result scan_prod_row(Backward& b) {
  const At at{b.where()};
  const Tensor x = b.input(0);
  const Tensor products = primitive(b, Op::scan_prod, {}, {all_but_one(b, x)});
  const Shape& shape = products.shape();
  const Expr k = Expr::coordinate(shape.rank() - 2, shape[shape.rank() - 2]);
  const Expr i = Expr::coordinate(shape.rank() - 1, shape[shape.rank() - 1]);
  const Tensor later =
      b.graph().iota(Expr::less_equal(k, i), shape, DType::u8, b.where()).cast(DType::boolean, b.where());
  const Tensor weighted = at.mul(products, b.gradient().expand_dim(-2, shape[shape.rank() - 2], b.where()));
  return {at.select(later, weighted, 0.0).sum(-1, false, b.where())};
}

Result sort_row(Backward& b) {
  const Tensor x = b.input(0);
  const auto last = static_cast<std::uint32_t>(x.rank() - 1);
  return {
      primitive(b, Op::scatter_add, attribute::Axis{last}, {zeros_like(b, x), b.output(1), b.gradient(0)})};
}

Result stop_row(Backward&) {
  return {std::nullopt};
}

Result custom_row(Backward& b) {
  const CustomOp* op = b.node().get<attribute::Custom>().op.get();
  const auto* differentiable = dynamic_cast<const DifferentiableOp*>(op);
  if (differentiable == nullptr || !differentiable->gradient)
    throw Error(cat("gradients: the custom op '", op->name, "' has no gradient"), b.where());
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<Tensor> gradients;
  for (std::size_t k = 0; k < b.node().inputs.size(); ++k) inputs.push_back(b.input(k));
  for (std::uint32_t k = 0; k < b.node().outputs.size(); ++k) {
    outputs.push_back(b.output(k));
    gradients.push_back(b.gradient(k));
  }
  InputGradients result = differentiable->gradient(inputs, outputs, gradients);
  if (result.size() != inputs.size())
    throw Error(cat("gradients: the custom op '", op->name, "' gave ", result.size(), " gradients for ",
                    inputs.size(), " inputs"),
                b.where());
  return result;
}

struct Row {
  Op op;
  Vjp vjp;
};

constexpr std::array<Row, op_count> rows = {{
    {Op::input, nullptr},
    {Op::state, nullptr},
    {Op::constant, nullptr},
    {Op::iota, nullptr},
    {Op::random, nullptr},
    {Op::exp2, exp2_row},
    {Op::log2, log2_row},
    {Op::sin, sin_row},
    {Op::cos, cos_row},
    {Op::atan, atan_row},
    {Op::erf, erf_row},
    {Op::log1p, log1p_row},
    {Op::expm1, expm1_row},
    {Op::sqrt, sqrt_row},
    {Op::recip, recip_row},
    {Op::floor, zero},
    {Op::round, zero},
    {Op::add, add_row},
    {Op::mul, mul_row},
    {Op::div, div_row},
    {Op::idiv, idiv_row},
    {Op::mod, mod_row},
    {Op::pow, pow_row},
    {Op::max, max_row},
    {Op::less, nullptr},
    {Op::equal, nullptr},
    {Op::bit_and, nullptr},
    {Op::bit_or, nullptr},
    {Op::bit_xor, nullptr},
    {Op::shift_left, nullptr},
    {Op::shift_right, nullptr},
    {Op::select, select_row},
    {Op::cast, cast_row},
    {Op::bitcast, nullptr},
    {Op::reduce_sum, reduce_sum_row},
    {Op::reduce_max, reduce_max_row},
    {Op::reduce_prod, reduce_prod_row},
    {Op::gather, gather_row},
    {Op::scatter, scatter_row},
    {Op::scatter_add, scatter_add_row},
    {Op::scan_sum, scan_sum_row},
    {Op::scan_max, scan_max_row},
    {Op::scan_prod, scan_prod_row},
    {Op::sort, sort_row},
    {Op::contiguous, identity_row},
    {Op::barrier, identity_row},
    {Op::stop_gradient, stop_row},
    {Op::print, nullptr},
    {Op::diff, nullptr},
    {Op::custom, custom_row},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].op != static_cast<Op>(i)) return false;
  return true;
}
static_assert(rows_are_in_order(), "every op has its row here, in the order of op.h");

}  // namespace

Vjp vjp(Op op) {
  return rows[static_cast<std::size_t>(op)].vjp;
}

}  // namespace luminal
