#pragma once
#include <vector>

#include "luminal/kernel/kernel.h"

namespace luminal::test {

using kernel::LoopId;
using kernel::Monoid;
using kernel::ValueId;

/// Short names to build kernels by hand.
class Build {
 public:
  kernel::Kernel kernel;

  LoopId loop(const Expr& extent) { return kernel.add_loop(extent); }
  Expr at(LoopId loop) const { return kernel.variable(loop); }
  Expr at(ValueId position) const { return kernel.variable(position); }

  std::uint32_t input(Shape shape, DType dtype = DType::f32) {
    return kernel.add_input({std::move(shape), dtype});
  }
  ValueId load(std::uint32_t input, std::vector<Expr> index) {
    return kernel.add(kernel::value::Load{input, std::move(index)}, kernel.inputs()[input].dtype);
  }
  /// A new input of this shape, read at these indices.
  ValueId read(Shape shape, std::vector<Expr> index, DType dtype = DType::f32) {
    return load(input(std::move(shape), dtype), std::move(index));
  }
  ValueId constant(double number, DType dtype = DType::f32) {
    return kernel.add(kernel::value::Constant{make_scalar(dtype, number)}, dtype);
  }
  ValueId index(const Expr& e, DType dtype = DType::f32) {
    return kernel.add(kernel::value::Index{e}, dtype);
  }
  ValueId map(Op op, std::vector<ValueId> arguments) {
    DType dtype = kernel.value(arguments.back()).dtype;
    if (row(op).boolean_result) dtype = DType::boolean;
    return kernel.add(kernel::value::Map{op, std::move(arguments)}, dtype);
  }
  ValueId convert(Op op, ValueId argument, DType dtype) {
    return kernel.add(kernel::value::Map{op, {argument}}, dtype);
  }
  ValueId add(ValueId a, ValueId b) { return map(Op::add, {a, b}); }
  ValueId mul(ValueId a, ValueId b) { return map(Op::mul, {a, b}); }
  ValueId guard(const Expr& valid, ValueId argument, double fill = 0) {
    const DType dtype = kernel.value(argument).dtype;
    return kernel.add(kernel::value::Guard{{{valid, make_scalar(dtype, fill)}}, argument}, dtype);
  }
  ValueId reduce(Monoid monoid, std::vector<LoopId> loops, std::vector<ValueId> arguments) {
    const DType dtype = kernel.value(arguments.back()).dtype;
    return kernel.add(kernel::value::Reduce{monoid, std::move(loops), std::move(arguments)}, dtype);
  }
  ValueId sum(std::vector<LoopId> loops, ValueId argument) {
    return reduce(Monoid::sum, std::move(loops), {argument});
  }
  ValueId position(ValueId argument, const Expr& length) {
    return kernel.add(kernel::value::Position{argument, length}, DType::i64);
  }
  /// A new output over these loops, in that order.
  void store(std::vector<LoopId> domain, ValueId value) {
    std::vector<Expr> dims;
    std::vector<Expr> index;
    for (const auto l : domain) {
      dims.push_back(kernel.loop(l).extent);
      index.push_back(at(l));
    }
    const auto output = kernel.add_output({Shape(dims), kernel.value(value).dtype});
    kernel.add_store({output, std::move(domain), std::move(index), value});
  }
};

}  // namespace luminal::test
