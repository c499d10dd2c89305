// Every op on every dtype it takes, conversions between all dtypes, reductions in each: compiled, against the
// kernel interpreter. Elements are random bits, so NaN, infinities, denormals and the ends of ranges occur.
#include <gtest/gtest.h>

#include <cstring>

#include "luminal/op/op_table.h"
#include "tests/codegen/build.h"
#include "tests/codegen/run.h"
#include "tests/random.h"

namespace luminal::test {
namespace {

constexpr int count = 200;

/// Half of the elements are random bits, half small numbers.
Bytes any_elements(DType dtype, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes(count * byte_size(dtype));
  for (std::size_t k = 0; k < count; ++k) {
    Scalar element{dtype, random.next()};
    if (random.chance(0.5)) element = make_scalar(dtype, random.between(-4, 4));
    store(element, bytes.data() + k * byte_size(dtype));
    if (is_boolean(dtype)) store(load(dtype, bytes.data() + k), bytes.data() + k);
  }
  return bytes;
}

std::vector<Bytes> any_inputs(const kernel::Kernel& kernel) {
  std::vector<Bytes> inputs;
  for (std::size_t k = 0; k < kernel.inputs().size(); ++k)
    inputs.push_back(any_elements(kernel.inputs()[k].dtype, k + 1));
  return inputs;
}

TEST(DTypes, EveryOpOnEveryDtype) {
  for (const auto dtype : all_dtypes) {
    Build b;
    const auto i = b.loop(count);
    const auto x = b.read({count}, {b.at(i)}, dtype);
    const auto y = b.read({count}, {b.at(i)}, dtype);
    const auto c = b.read({count}, {b.at(i)}, DType::boolean);
    for (const auto& r : op_table) {
      if (!accepts(r.op, dtype)) continue;
      if (r.kind == OpKind::unary) b.store({i}, b.map(r.op, {x}));
      if (r.kind == OpKind::binary) b.store({i}, b.map(r.op, {x, y}));
      if (r.kind == OpKind::select) b.store({i}, b.map(r.op, {c, x, y}));
    }
    expect_as_interpreted(
        b.kernel,
        {.tolerance = 4e-7, .inputs = any_inputs(b.kernel), .vector_bytes = {64, 0}, .workers = {1}});
  }
}

TEST(DTypes, ConversionsBetweenAll) {
  for (const auto from : all_dtypes) {
    Build b;
    const auto i = b.loop(count);
    const auto x = b.read({count}, {b.at(i)}, from);
    for (const auto to : all_dtypes) {
      b.store({i}, b.convert(Op::cast, x, to));
      if (byte_size(from) == byte_size(to) && !is_floating(from)) b.store({i}, b.convert(Op::bitcast, x, to));
      if (from == DType::f32 && to == DType::i32) b.store({i}, b.convert(Op::bitcast, x, to));
      b.store({i}, b.index(b.at(i) * Expr(123456789) - Expr(1234), to));
    }
    auto inputs = any_inputs(b.kernel);
    if (from == DType::f32)  // a NaN's payload is not kept
      for (std::size_t k = 0; k < inputs[0].size(); k += 4) {
        const float value = static_cast<float>(to_double(load(from, inputs[0].data() + k)));
        if (value != value) std::memset(inputs[0].data() + k, 0, 4);
      }
    expect_as_interpreted(b.kernel,
                          {.tolerance = 0, .inputs = inputs, .vector_bytes = {64, 0}, .workers = {1}});
  }
}

TEST(DTypes, ReductionsInEach) {
  for (const auto dtype : all_dtypes) {
    Build b;
    const auto i = b.loop(9), j = b.loop(50);
    const auto x = b.read({9, 50}, {b.at(i), b.at(j)}, dtype);
    for (const auto monoid : {Monoid::sum, Monoid::max, Monoid::prod}) {
      b.store({i}, b.reduce(monoid, {j}, {x}));
      b.store({j}, b.reduce(monoid, {i}, {x}));
      b.store({}, b.reduce(monoid, {i, j}, {x}));
    }
    if (is_floating(dtype)) {
      b.store({i}, b.reduce(Monoid::m2, {j}, {x}));
      b.store({j}, b.reduce(Monoid::soft_sum, {i}, {x, x}));
    }
    const double tolerance = dtype == DType::f64 ? 1e-12 : dtype == DType::f32 ? 1e-4 : 0.13;
    expect_as_interpreted(b.kernel, {.tolerance = tolerance, .vector_bytes = {64, 16, 0}, .workers = {1}});
  }
}

}  // namespace
}  // namespace luminal::test
