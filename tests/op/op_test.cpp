#include "luminal/op/op.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "luminal/op/dtype.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::vector<Op> all_ops() {
  std::vector<Op> ops(op_count);
  for (std::size_t k = 0; k < op_count; ++k) ops[k] = static_cast<Op>(k);
  return ops;
}

TEST(OpTable, NamesReadBack) {
  std::set<std::string_view> names;
  for (const Op op : all_ops()) {
    EXPECT_TRUE(names.insert(name(op)).second) << op;
    EXPECT_EQ(op_named(name(op)), op);
    EXPECT_EQ(cat(op), name(op));
  }
  EXPECT_EQ(op_named("no_such_op"), std::nullopt);
  EXPECT_EQ(op_named(""), std::nullopt);
}

TEST(OpTable, AritiesFitTheirKinds) {
  for (const Op op : all_ops()) {
    const auto arity = row(op).arity;
    switch (kind(op)) {
      case OpKind::source:
        EXPECT_EQ(arity, op == Op::random ? 1 : 0) << op;
        break;
      case OpKind::binary:
      case OpKind::gather:
        EXPECT_EQ(arity, 2) << op;
        break;
      case OpKind::select:
      case OpKind::scatter:
        EXPECT_EQ(arity, 3) << op;
        break;
      case OpKind::unary:
      case OpKind::convert:
      case OpKind::reduce:
      case OpKind::scan:
      case OpKind::sort:
        EXPECT_EQ(arity, 1) << op;
        break;
      case OpKind::structure:
        EXPECT_TRUE(arity == 1 || arity == -1) << op;
        break;
    }
  }
}

TEST(OpTable, MeaningsAreOneSentence) {
  for (const Op op : all_ops()) {
    const std::string_view meaning = row(op).meaning;
    EXPECT_EQ(meaning.find('.'), meaning.size() - 1) << op << ": " << meaning;
  }
}

/// The ops of a domain, spelled out once more here, so that changing what an op takes is a deliberate act.
std::string ops_that_take(DTypeKind wanted) {
  std::vector<std::string_view> names;
  for (const Op op : all_ops()) {
    if (kind(op) != OpKind::unary && kind(op) != OpKind::binary) continue;
    for (const DType dtype : all_dtypes) {
      if (row(dtype).kind != wanted) continue;
      if (accepts(op, dtype)) names.push_back(name(op));
      break;
    }
  }
  return join(names, " ");
}

TEST(OpTable, WhatEachElementWiseOpTakes) {
  EXPECT_EQ(ops_that_take(DTypeKind::floating),
            "exp2 log2 sin cos atan erf log1p expm1 sqrt recip floor round add mul div idiv mod pow max less "
            "equal");
  const std::string on_integers =
      "add mul idiv mod pow max less equal bit_and bit_or bit_xor shift_left shift_right";
  EXPECT_EQ(ops_that_take(DTypeKind::signed_integer), on_integers);
  EXPECT_EQ(ops_that_take(DTypeKind::unsigned_integer), on_integers);
  EXPECT_EQ(ops_that_take(DTypeKind::boolean), "add mul max less equal bit_and bit_or bit_xor");
}

TEST(OpTable, AllOtherOpsTakeEveryDType) {
  for (const Op op : all_ops()) {
    if (kind(op) == OpKind::unary || kind(op) == OpKind::binary) continue;
    for (const DType dtype : all_dtypes) EXPECT_TRUE(accepts(op, dtype)) << op << " " << dtype;
  }
}

TEST(OpTable, OnlyComparisonsGiveBool) {
  for (const Op op : all_ops()) EXPECT_EQ(row(op).boolean_result, op == Op::less || op == Op::equal) << op;
}

TEST(Domain, IsDescribed) {
  EXPECT_EQ(describe(Domain::floating), "floating-point");
  EXPECT_EQ(describe(Domain::integer), "integer");
  EXPECT_EQ(describe(Domain::integer_or_bool), "integer or bool");
  EXPECT_EQ(describe(Domain::number), "floating-point or integer");
  EXPECT_EQ(describe(Domain::any), "any");
}

}  // namespace
}  // namespace luminal
