#include "luminal/op/scalar.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "luminal/support/error.h"

namespace luminal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Number unary(Op op, DType dtype, const Number& a) {
  return to_number(apply(op, make_scalar(dtype, a)));
}
Number binary(Op op, DType dtype, const Number& a, const Number& b) {
  return to_number(apply(op, make_scalar(dtype, a), make_scalar(dtype, b)));
}
Number converted(DType from, const Number& value, DType to) {
  return to_number(convert(make_scalar(from, value), to));
}

TEST(Scalar, LoadsAndStoresUnaligned) {
  for (const DType dtype : all_dtypes) {
    std::array<unsigned char, 16> memory{};
    const Scalar one = make_scalar(dtype, true);
    store(one, memory.data() + 3);
    EXPECT_EQ(load(dtype, memory.data() + 3), one) << dtype;
    for (std::size_t k = 3 + byte_size(dtype); k < memory.size(); ++k) EXPECT_EQ(memory[k], 0) << dtype;
  }
  const unsigned char two = 2;
  EXPECT_EQ(load(DType::boolean, &two), make_scalar(DType::boolean, true));
}

TEST(Scalar, IsTheNumberItWasMadeFrom) {
  EXPECT_EQ(to_number(make_scalar(DType::i8, -3)), Number(-3));
  EXPECT_EQ(to_number(make_scalar(DType::u64, ~std::uint64_t{0})), Number(~std::uint64_t{0}));
  EXPECT_EQ(to_number(make_scalar(DType::f16, -0.0)), Number(-0.0));
  EXPECT_EQ(to_number(make_scalar(DType::bf16, 1)), Number(1.0));
  EXPECT_EQ(to_number(make_scalar(DType::boolean, nan)), Number(true));
  EXPECT_EQ(make_scalar(DType::i8, -1).bits, 0xFFU);
}

TEST(Convert, SaturatesFloatsToIntegers) {
  EXPECT_EQ(converted(DType::f64, 1e300, DType::i64), Number(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(converted(DType::f64, -infinity, DType::i32), Number(std::numeric_limits<std::int32_t>::min()));
  EXPECT_EQ(converted(DType::f32, -0.9, DType::u8), Number(0U));
  EXPECT_EQ(converted(DType::f32, -5.0, DType::u64), Number(0U));
  EXPECT_EQ(converted(DType::f64, 255.9, DType::u8), Number(255U));
  EXPECT_EQ(converted(DType::f64, -128.9, DType::i8), Number(-128));
  EXPECT_EQ(converted(DType::f64, 0x1p64, DType::u64), Number(~std::uint64_t{0}));
  EXPECT_EQ(converted(DType::f64, nan, DType::i16), Number(0));
}

TEST(Convert, WrapsIntegers) {
  EXPECT_EQ(converted(DType::i32, 300, DType::u8), Number(44U));
  EXPECT_EQ(converted(DType::i8, -1, DType::u64), Number(~std::uint64_t{0}));
  EXPECT_EQ(converted(DType::u64, ~std::uint64_t{0}, DType::i16), Number(-1));
}

// Through a double, the 1 at the end would be lost before the tie is decided.
TEST(Convert, RoundsIntegersOnce) {
  const std::int64_t above_tie = (std::int64_t{1} << 60) + (std::int64_t{1} << 52) + 1;
  EXPECT_EQ(converted(DType::i64, above_tie, DType::bf16), Number(0x1.02p60));
  EXPECT_EQ(converted(DType::i64, -above_tie, DType::bf16), Number(-0x1.02p60));
  EXPECT_EQ(converted(DType::i64, above_tie - 1, DType::bf16), Number(0x1p60));
  const std::int64_t above_f32_tie = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  EXPECT_EQ(converted(DType::i64, above_f32_tie, DType::f32), Number(0x1.000002p60));
  EXPECT_EQ(converted(DType::u64, ~std::uint64_t{0}, DType::bf16), Number(0x1p64));
  EXPECT_EQ(converted(DType::i64, std::numeric_limits<std::int64_t>::min(), DType::bf16), Number(-0x1p63));
}

// Through f32, the digit at the end would be lost before the tie is decided.
TEST(Convert, RoundsDoublesOnce) {
  EXPECT_EQ(converted(DType::f64, 1 + 0x1p-11 + 0x1p-40, DType::f16), Number(1 + 0x1p-10));
  EXPECT_EQ(converted(DType::f64, 1 + 0x1p-8 + 0x1p-40, DType::bf16), Number(1 + 0x1p-7));
  EXPECT_EQ(converted(DType::f64, 1 + 0x1p-4 + 0x1p-40, DType::f8e4m3), Number(1 + 0x1p-3));
  EXPECT_EQ(converted(DType::f64, 1 + 0x1p-3 + 0x1p-40, DType::f8e5m2), Number(1 + 0x1p-2));
}

TEST(Bitcast, KeepsBitsAndRefusesOtherSizes) {
  EXPECT_EQ(bitcast({DType::f32, 0x3F800000}, DType::i32), (Scalar{DType::i32, 0x3F800000}));
  EXPECT_EQ(bitcast({DType::u8, 0x80}, DType::boolean), (Scalar{DType::boolean, 1}));
  EXPECT_THROW(bitcast({DType::f32, 0}, DType::f64), InternalError);
}

TEST(Apply, UnaryEdges) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e5m2}) {
    EXPECT_EQ(unary(Op::recip, dtype, 0.0), Number(infinity)) << dtype;
    EXPECT_EQ(unary(Op::recip, dtype, -0.0), Number(-infinity)) << dtype;
    EXPECT_EQ(unary(Op::log2, dtype, 0.0), Number(-infinity)) << dtype;
    EXPECT_EQ(unary(Op::log2, dtype, -1.0), Number(nan)) << dtype;
    EXPECT_EQ(unary(Op::sqrt, dtype, -1.0), Number(nan)) << dtype;
    EXPECT_EQ(unary(Op::erf, dtype, -infinity), Number(-1.0)) << dtype;
    EXPECT_EQ(unary(Op::sin, dtype, infinity), Number(nan)) << dtype;
    EXPECT_EQ(unary(Op::round, dtype, 2.5), Number(2.0)) << dtype;
    EXPECT_EQ(unary(Op::round, dtype, 3.5), Number(4.0)) << dtype;
    EXPECT_EQ(unary(Op::round, dtype, -0.5), Number(-0.0)) << dtype;
    EXPECT_EQ(unary(Op::floor, dtype, -0.5), Number(-1.0)) << dtype;
  }
  EXPECT_EQ(unary(Op::recip, DType::f8e4m3, 0.0), Number(nan));  // it has no infinity
}

TEST(Apply, FloatEdges) {
  EXPECT_EQ(binary(Op::max, DType::f32, nan, 1.0), Number(nan));
  EXPECT_EQ(binary(Op::max, DType::f32, 1.0, nan), Number(nan));
  EXPECT_EQ(binary(Op::max, DType::f32, -0.0, 0.0), Number(0.0));
  EXPECT_EQ(binary(Op::max, DType::f32, 0.0, -0.0), Number(0.0));
  EXPECT_EQ(binary(Op::mod, DType::f32, -5.5, 2.0), Number(-1.5));
  EXPECT_EQ(binary(Op::idiv, DType::f32, -5.5, 2.0), Number(-2.0));
  EXPECT_EQ(binary(Op::pow, DType::f32, -2.0, 3.0), Number(-8.0));
  EXPECT_EQ(binary(Op::pow, DType::f32, nan, 0.0), Number(1.0));
  EXPECT_EQ(binary(Op::less, DType::f32, nan, 0.0), Number(false));
  EXPECT_EQ(binary(Op::equal, DType::f32, nan, nan), Number(false));
  EXPECT_EQ(binary(Op::equal, DType::f16, -0.0, 0.0), Number(true));
}

TEST(Apply, IntegerEdges) {
  const auto lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(binary(Op::idiv, DType::i64, lowest, -1), Number(lowest));
  EXPECT_EQ(binary(Op::mod, DType::i64, lowest, -1), Number(0));
  EXPECT_EQ(binary(Op::idiv, DType::i8, 7, 0), Number(0));
  EXPECT_EQ(binary(Op::mod, DType::u8, 7, 0), Number(0U));
  EXPECT_EQ(binary(Op::mod, DType::i32, -7, 2), Number(-1));
  EXPECT_EQ(binary(Op::mul, DType::u16, 65535, 65535), Number(1U));
  EXPECT_EQ(binary(Op::pow, DType::i32, 3, 21), Number(static_cast<std::int32_t>(10460353203LL)));
  EXPECT_EQ(binary(Op::pow, DType::i32, 2, -1), Number(0));
  EXPECT_EQ(binary(Op::pow, DType::i32, 0, -1), Number(0));
  EXPECT_EQ(binary(Op::pow, DType::i32, -1, -3), Number(-1));
  EXPECT_EQ(binary(Op::pow, DType::i32, -1, -4), Number(1));
  EXPECT_EQ(binary(Op::shift_left, DType::i32, 1, 31), Number(std::numeric_limits<std::int32_t>::min()));
  EXPECT_EQ(binary(Op::shift_left, DType::i32, 1, 32), Number(0));
  EXPECT_EQ(binary(Op::shift_left, DType::i32, 1, -1), Number(0));
  EXPECT_EQ(binary(Op::shift_right, DType::i8, -128, 8), Number(-1));
  EXPECT_EQ(binary(Op::shift_right, DType::i8, -128, -1), Number(-1));
  EXPECT_EQ(binary(Op::shift_right, DType::i8, 127, -1), Number(0));
  EXPECT_EQ(binary(Op::shift_right, DType::u8, 128, 7), Number(1U));
}

TEST(Apply, BoolIsLogic) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      EXPECT_EQ(binary(Op::add, DType::boolean, a, b), Number(a || b));
      EXPECT_EQ(binary(Op::mul, DType::boolean, a, b), Number(a && b));
      EXPECT_EQ(binary(Op::max, DType::boolean, a, b), Number(a || b));
      EXPECT_EQ(binary(Op::bit_xor, DType::boolean, a, b), Number(a != b));
      EXPECT_EQ(binary(Op::less, DType::boolean, a, b), Number(!a && b));
      EXPECT_EQ(binary(Op::equal, DType::boolean, a, b), Number(a == b));
    }
  }
}

// Every pair of op and dtype either has a meaning or is refused, as the op table says.
TEST(Apply, IsDefinedExactlyWhereTheTableSays) {
  for (std::size_t k = 0; k < op_count; ++k) {
    const Op op = static_cast<Op>(k);
    for (const DType dtype : all_dtypes) {
      const Scalar one = make_scalar(dtype, true);
      if (kind(op) == OpKind::unary && accepts(op, dtype)) {
        EXPECT_EQ(apply(op, one).dtype, dtype);
      } else {
        EXPECT_THROW(apply(op, one), InternalError) << op << " " << dtype;
      }
      if (kind(op) == OpKind::binary && accepts(op, dtype)) {
        EXPECT_EQ(apply(op, one, one).dtype, row(op).boolean_result ? DType::boolean : dtype);
      } else {
        EXPECT_THROW(apply(op, one, one), InternalError) << op << " " << dtype;
      }
    }
  }
  EXPECT_THROW(apply(Op::add, make_scalar(DType::f32, 1), make_scalar(DType::i32, 1)), InternalError);
}

TEST(Neutral, ChangesNothing) {
  const auto meaning = [](Op op) {
    if (op == Op::reduce_sum || op == Op::scan_sum) return Op::add;
    return op == Op::reduce_max || op == Op::scan_max ? Op::max : Op::mul;
  };
  for (const Op op :
       {Op::reduce_sum, Op::reduce_max, Op::reduce_prod, Op::scan_sum, Op::scan_max, Op::scan_prod}) {
    for (const DType dtype : all_dtypes) {
      for (const double value : {-2.0, 0.0, 1.0}) {
        const Scalar x = make_scalar(dtype, value);
        EXPECT_EQ(apply(meaning(op), neutral(op, dtype), x), x) << op << " " << dtype << " " << value;
      }
    }
  }
  EXPECT_EQ(to_number(neutral(Op::reduce_max, DType::f16)), Number(-infinity));
  EXPECT_EQ(to_number(neutral(Op::reduce_max, DType::i32)), Number(std::numeric_limits<std::int32_t>::min()));
  EXPECT_THROW(neutral(Op::add, DType::f32), InternalError);
}

}  // namespace
}  // namespace luminal
