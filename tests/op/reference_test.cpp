// Compares the scalar meaning with tests/op/scalar_references.txt, whose head says where the values come
// from.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "luminal/op/scalar.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

struct Section {
  Op op;
  DType dtype;
  DType result;
};

Section parse_section(const std::string& line) {
  std::istringstream words(line);
  std::string mark;
  std::string op;
  std::string dtype;
  std::string result;
  words >> mark >> op >> dtype >> result;
  return {op_named(op).value(), dtype_named(dtype).value(), dtype_named(result).value()};
}

std::vector<std::uint64_t> parse_row(const std::string& line) {
  std::istringstream words(line);
  words >> std::hex;
  std::vector<std::uint64_t> row;
  for (std::uint64_t word = 0; words >> word;) row.push_back(word);
  return row;
}

/// The value's place among those of its dtype: neighbours differ by 1, and −0 is where +0 is.
std::int64_t place(const Scalar& value) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * byte_size(value.dtype) - 1);
  const auto magnitude = static_cast<std::int64_t>(value.bits & (sign - 1));
  return (value.bits & sign) != 0 ? -magnitude : magnitude;
}

/// How many units in the last place the result may be off. Functions are computed by the C library in f64,
/// and rounded to f32 for the narrower dtypes; everything else is exact.
std::int64_t allowed_ulps(const Section& section) {
  static const std::set<Op> functions = {Op::exp2, Op::log2,  Op::sin,   Op::cos, Op::atan,
                                         Op::erf,  Op::log1p, Op::expm1, Op::pow};
  if (!is_floating(section.dtype) || functions.count(section.op) == 0) return 0;
  return section.dtype == DType::f64 ? 2 : 1;
}

bool matches(const Scalar& got, const Scalar& expected, std::int64_t ulps) {
  if (got == expected) return true;
  if (!is_floating(got.dtype)) return false;
  const double a = to_double(got);
  const double b = to_double(expected);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::signbit(a) == std::signbit(b) && std::abs(place(got) - place(expected)) <= ulps;
}

Scalar evaluate(const Section& section, const std::vector<std::uint64_t>& row) {
  const Scalar a{section.dtype, row[0]};
  if (section.op == Op::cast) return convert(a, section.result);
  if (kind(section.op) == OpKind::unary) return apply(section.op, a);
  return apply(section.op, a, {section.dtype, row[1]});
}

std::string label(const Section& section) {
  return cat(section.op, " ", section.dtype, " ", section.result);
}

std::set<std::string> wanted_sections() {
  std::set<std::string> wanted;
  for (std::size_t k = 0; k < op_count; ++k) {
    const Op op = static_cast<Op>(k);
    if (kind(op) != OpKind::unary && kind(op) != OpKind::binary) continue;
    for (const DType dtype : all_dtypes) {
      if (accepts(op, dtype))
        wanted.insert(label({op, dtype, row(op).boolean_result ? DType::boolean : dtype}));
    }
  }
  for (const DType from : all_dtypes) {
    for (const DType to : all_dtypes) {
      if (from != to) wanted.insert(label({Op::cast, from, to}));
    }
  }
  return wanted;
}

TEST(ScalarReferences, EveryRowAndEverySection) {
  std::ifstream file(LUMINAL_SOURCE_DIR "/tests/op/scalar_references.txt");
  ASSERT_TRUE(file.is_open());
  std::set<std::string> seen;
  Section section{};
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    if (line.starts_with('=')) {
      section = parse_section(line);
      EXPECT_TRUE(seen.insert(label(section)).second) << line;
      continue;
    }
    const auto words = parse_row(line);
    ASSERT_EQ(words.size(), kind(section.op) == OpKind::binary ? 3U : 2U) << line;
    const Scalar got = evaluate(section, words);
    const Scalar expected{section.result, words.back()};
    EXPECT_TRUE(matches(got, expected, allowed_ulps(section)))
        << label(section) << ": " << line << ": got " << std::hex << got.bits << std::dec << " ("
        << to_number(got) << "), expected " << to_number(expected);
    ++rows;
  }
  EXPECT_GT(rows, 40000);
  EXPECT_EQ(seen, wanted_sections());
}

}  // namespace
}  // namespace luminal
