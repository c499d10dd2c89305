#include "luminal/graph/infer.h"

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

using Types = std::span<const TensorType>;

/// Collects what one node promises; every refusal goes through here, so all name the op and the user's line.
struct Inference {
  Op op;
  Location where;
  Inferred result;

  [[noreturn]] void refuse(const std::string& problem) const { throw Error(cat(op, ": ", problem), where); }

  void take(const TensorType& type, std::size_t position) const {
    if (!accepts(op, type.dtype))
      refuse(cat("input ", position, " is ", type, ", expected ", describe(row(op).domain), " elements"));
  }

  void same_dtype(const TensorType& a, const TensorType& b) const {
    if (a.dtype != b.dtype) refuse(cat("inputs ", a, " and ", b, " have different dtypes"));
  }

  /// a == b for dims of one axis: proved, refused, or left to be checked.
  void same_dim(const TensorType& a, const TensorType& b, std::size_t axis) {
    const Expr& x = a.shape[axis];
    const Expr& y = b.shape[axis];
    if (x == y || prove_eq(x, y)) return;
    const std::string problem =
        cat("shapes ", a.shape, " and ", b.shape, " differ at axis ", axis, ": ", x, " against ", y);
    if (prove_lt(x, y) || prove_lt(y, x)) refuse(problem);
    result.checks.push_back({Expr::equal(x, y), cat(op, ": ", problem)});
  }

  void at_most(const TensorType& a, const TensorType& b, std::size_t axis) {
    const Expr& x = a.shape[axis];
    const Expr& y = b.shape[axis];
    if (prove_le(x, y)) return;
    const std::string problem =
        cat("the index of shape ", a.shape, " exceeds ", b.shape, " at axis ", axis, ": ", x, " against ", y);
    if (prove_lt(y, x)) refuse(problem);
    result.checks.push_back({Expr::less_equal(x, y), cat(op, ": ", problem)});
  }

  void same_rank(const TensorType& a, const TensorType& b) const {
    if (a.shape.rank() != b.shape.rank())
      refuse(cat("shapes ", a.shape, " and ", b.shape, " have different ranks: ", a.shape.rank(), " against ",
                 b.shape.rank()));
  }

  void same_shape(const TensorType& a, const TensorType& b) {
    same_rank(a, b);
    for (std::size_t axis = 0; axis < a.shape.rank(); ++axis) same_dim(a, b, axis);
  }

  void source(const TensorType& requested) {
    for (std::size_t axis = 0; axis < requested.shape.rank(); ++axis)
      if (prove_lt(requested.shape[axis], 0))
        refuse(cat("dim ", axis, " of ", requested.shape, " is negative"));
    result.outputs = {requested};
  }

  void reduce(const TensorType& input, std::uint32_t axes) {
    take(input, 0);
    if (axes > input.shape.rank())
      refuse(cat("reduces ", axes, " axes of ", input, ", which has ", input.shape.rank()));
    const auto& dims = input.shape.dims();
    const auto kept = static_cast<std::ptrdiff_t>(dims.size() - axes);
    result.outputs = {{Shape(std::vector<Expr>(dims.begin(), dims.begin() + kept)), input.dtype}};
  }

  void index(const TensorType& type, std::size_t position, std::uint32_t axis, const TensorType& data) const {
    if (!is_integer(type.dtype))
      refuse(cat("input ", position, ", the index, is ", type, ", expected integer elements"));
    same_rank(data, type);
    if (axis >= data.shape.rank())
      refuse(cat("axis ", axis, " of ", data, ", which has ", data.shape.rank(), " axes"));
  }

  void gather(Types in, std::uint32_t axis) {
    index(in[1], 1, axis, in[0]);
    for (std::size_t k = 0; k < in[0].shape.rank(); ++k)
      if (k != axis) same_dim(in[0], in[1], k);
    result.outputs = {{in[1].shape, in[0].dtype}};
  }

  void scatter(Types in, std::uint32_t axis) {
    take(in[0], 0);
    index(in[1], 1, axis, in[0]);
    same_dtype(in[0], in[2]);
    same_shape(in[1], in[2]);
    for (std::size_t k = 0; k < in[0].shape.rank(); ++k)
      if (k != axis) at_most(in[1], in[0], k);
    result.outputs = {in[0]};
  }

  void last_axis(const TensorType& input) const {
    take(input, 0);
    if (input.shape.rank() == 0) refuse(cat("works along the last axis, and ", input, " has none"));
  }

  void convert(const TensorType& input, DType dtype) {
    if (op == Op::bitcast && byte_size(input.dtype) != byte_size(dtype))
      refuse(cat("elements of ", input.dtype, " and ", dtype, " have different sizes"));
    result.outputs = {{input.shape, dtype}};
  }

  void sort(const TensorType& input) {
    last_axis(input);
    result.outputs = {input, {input.shape, DType::i64}};
  }

  void random(Types in, const TensorType& requested) {
    if (!is_integer(in[0].dtype) || in[0].shape.rank() != 0)
      refuse(cat("the seed is ", in[0], ", expected an integer scalar"));
    if (requested.dtype != DType::u32) refuse(cat("gives u32, not ", requested.dtype));
    source(requested);
  }

  void structure(const Attribute& attribute, Types in) {
    if (op == Op::contiguous || op == Op::barrier || op == Op::stop_gradient) result.outputs = {in[0]};
    if (op != Op::custom) return;
    result.outputs = std::get<attribute::Custom>(attribute).op->infer(in);
  }

  void dispatch(const Attribute& attribute, Types in, const TensorType& requested) {
    switch (kind(op)) {
      case OpKind::source:
        if (op == Op::random) return random(in, requested);
        if (op == Op::iota && !is_integer(requested.dtype))
          refuse(cat("gives integers, not ", requested.dtype));
        return source(requested);
      case OpKind::unary:
        take(in[0], 0);
        result.outputs = {in[0]};
        return;
      case OpKind::binary:
        take(in[0], 0);
        same_dtype(in[0], in[1]);
        same_shape(in[0], in[1]);
        result.outputs = {{in[0].shape, row(op).boolean_result ? DType::boolean : in[0].dtype}};
        return;
      case OpKind::select:
        if (!is_boolean(in[0].dtype)) refuse(cat("the condition is ", in[0], ", expected bool elements"));
        same_dtype(in[1], in[2]);
        same_shape(in[0], in[1]);
        same_shape(in[1], in[2]);
        result.outputs = {in[1]};
        return;
      case OpKind::convert:
        return convert(in[0], requested.dtype);
      case OpKind::reduce:
        return reduce(in[0], std::get<attribute::Reduce>(attribute).axes);
      case OpKind::gather:
        return gather(in, std::get<attribute::Axis>(attribute).axis);
      case OpKind::scatter:
        return scatter(in, std::get<attribute::Axis>(attribute).axis);
      case OpKind::scan:
        last_axis(in[0]);
        result.outputs = {in[0]};
        return;
      case OpKind::sort:
        return sort(in[0]);
      case OpKind::structure:
        return structure(attribute, in);
    }
  }
};

/// Which alternative of Attribute an op carries.
bool fits(Op op, const Attribute& attribute) {
  switch (op) {
    case Op::constant:
      return std::holds_alternative<attribute::Constant>(attribute);
    case Op::iota:
      return std::holds_alternative<attribute::Iota>(attribute);
    case Op::random:
      return std::holds_alternative<attribute::Random>(attribute);
    case Op::reduce_sum:
    case Op::reduce_max:
    case Op::reduce_prod:
      return std::holds_alternative<attribute::Reduce>(attribute);
    case Op::gather:
    case Op::scatter:
    case Op::scatter_add:
      return std::holds_alternative<attribute::Axis>(attribute);
    case Op::sort:
      return std::holds_alternative<attribute::Sort>(attribute);
    case Op::print:
      return std::holds_alternative<attribute::Print>(attribute);
    case Op::diff:
      return std::holds_alternative<attribute::Diff>(attribute);
    case Op::custom:
      return std::holds_alternative<attribute::Custom>(attribute);
    default:
      return std::holds_alternative<attribute::None>(attribute);
  }
}

}  // namespace

Inferred infer(Op op, const Attribute& attribute, std::span<const TensorType> inputs,
               const TensorType& requested, Location where) {
  Inference inference{op, where, {}};
  if (const auto* custom = std::get_if<attribute::Custom>(&attribute)) {
    if (custom->op == nullptr || !custom->op->infer || !custom->op->run)
      inference.refuse("a custom op needs both of its functions, infer and run");
  }
  if (!fits(op, attribute)) inference.refuse("the attribute is not the one this op carries");
  const auto arity = row(op).arity;
  if (arity >= 0 && inputs.size() != static_cast<std::size_t>(arity))
    inference.refuse(cat("takes ", int{arity}, arity == 1 ? " input, got " : " inputs, got ", inputs.size()));
  inference.dispatch(attribute, inputs, requested);
  return std::move(inference.result);
}

}  // namespace luminal
