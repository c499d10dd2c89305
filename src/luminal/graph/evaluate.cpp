#include "luminal/graph/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "luminal/op/philox.h"
#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

using Coordinates = std::span<const std::int64_t>;
using Operands = std::span<const BoundInput>;

/// Fills an array element by element.
template <typename F>
Array generate(DType dtype, std::vector<std::int64_t> dims, F&& element_at) {
  Array result(dtype, std::move(dims));
  Odometer place(result.dims());
  for (std::int64_t i = 0; i < result.size(); ++i, place.step())
    result.set(i, element_at(place.coordinates(), i));
  return result;
}

Array element_wise(const Node& node, Operands operands, std::vector<std::int64_t> dims) {
  std::vector<Scalar> inputs(operands.size());
  const DType dtype = node.outputs[0].dtype;
  return generate(dtype, std::move(dims), [&](Coordinates at, std::int64_t) {
    for (std::size_t k = 0; k < operands.size(); ++k) inputs[k] = operands[k].at(at);
    return element(node.op, inputs, dtype);
  });
}

Array iota(const Node& node, std::vector<std::int64_t> dims, const DimMap& values) {
  const IndexProgram program(node.get<attribute::Iota>().value.substitute(values));
  return generate(node.outputs[0].dtype, std::move(dims), [&](Coordinates at, std::int64_t) {
    return make_scalar(node.outputs[0].dtype, Number(program.run(at)));
  });
}

Array random(const Node& node, Operands operands, std::vector<std::int64_t> dims) {
  const std::uint64_t key = convert(operands[0].at({}), DType::u64).bits;
  const std::uint64_t stream = node.get<attribute::Random>().stream;
  return generate(DType::u32, std::move(dims), [&](Coordinates, std::int64_t i) {
    return Scalar{DType::u32, philox(key, stream, static_cast<std::uint64_t>(i))};
  });
}

Array reduce(const Node& node, const BoundInput& operand, std::vector<std::int64_t> dims) {
  const auto& all = operand.view.dims();
  const std::vector<std::int64_t> inner(all.begin() + static_cast<std::ptrdiff_t>(dims.size()), all.end());
  const std::int64_t count = element_count(inner);
  const DType dtype = node.outputs[0].dtype;
  const DType wide = compute_dtype(dtype);
  std::vector<std::int64_t> place(all.size());
  return generate(dtype, std::move(dims), [&](Coordinates at, std::int64_t) {
    std::copy(at.begin(), at.end(), place.begin());
    Scalar running = neutral(node.op, wide);
    Odometer inside(inner);
    for (std::int64_t i = 0; i < count; ++i, inside.step()) {
      std::copy(inside.coordinates().begin(), inside.coordinates().end(),
                place.begin() + static_cast<std::ptrdiff_t>(at.size()));
      running = accumulate(node.op, running, convert(operand.at(place), wide));
    }
    return convert(running, dtype);
  });
}

Array scan(const Node& node, const BoundInput& operand, std::vector<std::int64_t> dims) {
  const DType dtype = node.outputs[0].dtype;
  const DType wide = compute_dtype(dtype);
  Scalar running = neutral(node.op, wide);
  return generate(dtype, std::move(dims), [&](Coordinates at, std::int64_t) {
    if (at.back() == 0) running = neutral(node.op, wide);
    running = accumulate(node.op, running, convert(operand.at(at), wide));
    return convert(running, dtype);
  });
}

Array gather(const Node& node, Operands operands, std::vector<std::int64_t> dims) {
  const std::uint32_t axis = node.get<attribute::Axis>().axis;
  std::vector<std::int64_t> place;
  return generate(node.outputs[0].dtype, std::move(dims), [&](Coordinates at, std::int64_t) {
    place.assign(at.begin(), at.end());
    place[axis] = checked_index(node, operands[1].at(at), operands[0].view.dims()[axis]);
    return operands[0].at(place);
  });
}

Array scatter(const Node& node, Operands operands, std::vector<std::int64_t> dims) {
  const std::uint32_t axis = node.get<attribute::Axis>().axis;
  Array result = generate(node.outputs[0].dtype, std::move(dims),
                          [&](Coordinates at, std::int64_t) { return operands[0].at(at); });
  const auto& index_dims = operands[1].view.dims();
  Odometer place(index_dims);
  const DType wide = compute_dtype(result.dtype());
  // Sums are taken in the wide dtype and rounded once, like every other sum.
  Array sums(wide, node.op == Op::scatter_add ? result.dims() : std::vector<std::int64_t>{0});
  for (std::int64_t i = 0; i < sums.size(); ++i) sums.set(i, convert(result.at(i), wide));
  const std::int64_t count = element_count(index_dims);
  for (std::int64_t i = 0; i < count; ++i, place.step()) {
    std::int64_t flat = 0;
    for (std::size_t k = 0; k < index_dims.size(); ++k) {
      const std::int64_t coordinate =
          k == axis ? checked_index(node, operands[1].at(place.coordinates()), result.dims()[axis])
                    : place.coordinates()[k];
      flat = flat * result.dims()[k] + coordinate;
    }
    const Scalar source = operands[2].at(place.coordinates());
    if (node.op == Op::scatter)
      result.set(flat, source);
    else
      sums.set(flat, apply(Op::add, sums.at(flat), convert(source, wide)));
  }
  for (std::int64_t i = 0; i < sums.size(); ++i) result.set(i, convert(sums.at(i), result.dtype()));
  return result;
}

/// Numbers ascend, NaNs stand last: PyTorch's order.
bool sorts_before(const Scalar& a, const Scalar& b) {
  if (is_floating(a.dtype)) {
    const bool a_nan = std::isnan(to_double(a));
    const bool b_nan = std::isnan(to_double(b));
    if (a_nan || b_nan) return !a_nan && b_nan;
  }
  return apply(Op::less, a, b).bits != 0;
}

std::vector<Array> sort(const Node& node, const BoundInput& operand, std::vector<std::int64_t> dims) {
  const bool descending = node.get<attribute::Sort>().descending;
  const Array values =
      generate(node.outputs[0].dtype, dims, [&](Coordinates at, std::int64_t) { return operand.at(at); });
  Array sorted(values.dtype(), dims);
  Array indices(DType::i64, dims);
  const std::int64_t length = dims.back();
  std::vector<std::int64_t> order(static_cast<std::size_t>(length));
  for (std::int64_t start = 0; start < values.size(); start += length) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      const Scalar x = values.at(start + a);
      const Scalar y = values.at(start + b);
      return descending ? sorts_before(y, x) : sorts_before(x, y);
    });
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t from = order[static_cast<std::size_t>(i)];
      sorted.set(start + i, values.at(start + from));
      indices.set(start + i, make_scalar(DType::i64, Number(from)));
    }
  }
  return {sorted, indices};
}

}  // namespace

std::int64_t checked_index(const Node& node, const Scalar& index, std::int64_t length) {
  const Number number = to_number(index);
  const bool negative = number.kind() == Number::Kind::integer && number.integer() < 0;
  if (negative || number.natural() >= static_cast<std::uint64_t>(length))
    throw Error(
        cat(node.op, ": index ", negative ? number : Number(static_cast<std::int64_t>(number.natural())),
            " is outside axis ", node.get<attribute::Axis>().axis, ", which has ", length, " elements"),
        node.where);
  return number.integer();
}

Scalar element(Op op, std::span<const Scalar> inputs, DType dtype) {
  switch (kind(op)) {
    case OpKind::unary:
      return apply(op, inputs[0]);
    case OpKind::binary:
      return apply(op, inputs[0], inputs[1]);
    case OpKind::select:
      return inputs[0].bits != 0 ? inputs[1] : inputs[2];
    case OpKind::convert:
      return op == Op::cast ? convert(inputs[0], dtype) : bitcast(inputs[0], dtype);
    case OpKind::structure:
      return inputs[0];
    default:
      throw InternalError(cat(op, " is not element-wise"));
  }
}

Scalar accumulate(Op op, const Scalar& running, const Scalar& value) {
  switch (op) {
    case Op::reduce_sum:
    case Op::scan_sum:
      return apply(Op::add, running, value);
    case Op::reduce_max:
    case Op::scan_max:
      return apply(Op::max, running, value);
    case Op::reduce_prod:
    case Op::scan_prod:
      return apply(Op::mul, running, value);
    default:
      throw InternalError(cat(op, " does not accumulate"));
  }
}

std::vector<Array> evaluate(const Node& node, std::span<const BoundInput> operands, const DimMap& dims) {
  std::vector<std::int64_t> result_dims = node.outputs[0].shape.eval(dims);
  switch (kind(node.op)) {
    case OpKind::source:
      if (node.op == Op::iota) return {iota(node, std::move(result_dims), dims)};
      if (node.op == Op::random) return {random(node, operands, std::move(result_dims))};
      return {generate(node.outputs[0].dtype, std::move(result_dims),
                       [&](Coordinates, std::int64_t) { return node.get<attribute::Constant>().value; })};
    case OpKind::reduce:
      return {reduce(node, operands[0], std::move(result_dims))};
    case OpKind::scan:
      return {scan(node, operands[0], std::move(result_dims))};
    case OpKind::gather:
      return {gather(node, operands, std::move(result_dims))};
    case OpKind::scatter:
      return {scatter(node, operands, std::move(result_dims))};
    case OpKind::sort:
      return sort(node, operands[0], std::move(result_dims));
    default:
      return {element_wise(node, operands, std::move(result_dims))};
  }
}

}  // namespace luminal
