#include "luminal/op/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "luminal/op/op.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

TEST(DType, NamesReadBack) {
  std::set<std::string_view> names;
  for (const DType dtype : all_dtypes) {
    EXPECT_TRUE(names.insert(name(dtype)).second);
    EXPECT_EQ(dtype_named(name(dtype)), dtype);
    EXPECT_EQ(cat(dtype), name(dtype));
  }
  EXPECT_EQ(dtype_named("float"), std::nullopt);
  EXPECT_EQ(name(DType::boolean), "bool");
}

TEST(DType, IsOneOfThreeKinds) {
  for (const DType dtype : all_dtypes) {
    EXPECT_EQ(is_floating(dtype) + is_integer(dtype) + is_boolean(dtype), 1) << dtype;
    const std::string digits(name(dtype).substr(name(dtype).find_first_of("0123456789b")));
    if (is_integer(dtype)) {
      EXPECT_EQ(byte_size(dtype) * 8, std::stoul(digits)) << dtype;
    }
  }
}

TEST(Promote, IsSymmetricAndIdempotent) {
  for (const DType a : all_dtypes) {
    EXPECT_EQ(promote(a, a), a);
    for (const DType b : all_dtypes) EXPECT_EQ(promote(a, b), promote(b, a)) << a << " " << b;
  }
}

// As torch.promote_types of PyTorch 2.13 answers; "-" where it refuses.
TEST(Promote, IsPyTorchs) {
  constexpr const char* expected[dtype_count] = {
      "f64 f64 f64 f64 - - f64 f64 f64 f64 f64 f64 f64 f64 f64",
      "f64 f32 f32 f32 - - f32 f32 f32 f32 f32 f32 f32 f32 f32",
      "f64 f32 f16 f32 - - f16 f16 f16 f16 f16 f16 f16 f16 f16",
      "f64 f32 f32 bf16 - - bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16",
      "- - - - f8e4m3 - - - - - - - - - -",
      "- - - - - f8e5m2 - - - - - - - - -",
      "f64 f32 f16 bf16 - - i64 i64 i64 i64 - - - i64 i64",
      "f64 f32 f16 bf16 - - i64 i32 i32 i32 - - - i32 i32",
      "f64 f32 f16 bf16 - - i64 i32 i16 i16 - - - i16 i16",
      "f64 f32 f16 bf16 - - i64 i32 i16 i8 - - - i16 i8",
      "f64 f32 f16 bf16 - - - - - - u64 - - - -",
      "f64 f32 f16 bf16 - - - - - - - u32 - - -",
      "f64 f32 f16 bf16 - - - - - - - - u16 - -",
      "f64 f32 f16 bf16 - - i64 i32 i16 i16 - - - u8 u8",
      "f64 f32 f16 bf16 - - i64 i32 i16 i8 - - - u8 bool",
  };
  for (const DType a : all_dtypes) {
    std::array<std::string, dtype_count> answers;
    for (const DType b : all_dtypes) {
      answers[static_cast<std::size_t>(b)] = promote(a, b) ? cat(*promote(a, b)) : "-";
    }
    EXPECT_EQ(join(answers, " "), expected[static_cast<std::size_t>(a)]) << a;
  }
}

TEST(Accumulated, IsPyTorchs) {
  for (const DType dtype : all_dtypes) {
    EXPECT_EQ(accumulated(dtype), is_floating(dtype) ? dtype : DType::i64) << dtype;
  }
}

TEST(ComputeDType, IsF32ForNarrowFloats) {
  const std::set<DType> narrow = {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2};
  for (const DType dtype : all_dtypes) {
    EXPECT_EQ(compute_dtype(dtype), narrow.count(dtype) != 0 ? DType::f32 : dtype) << dtype;
  }
}

/// The cells of a row of a Markdown table, without blanks and `*`.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result;
  std::istringstream parts(line.substr(1));
  for (std::string part; std::getline(parts, part, '|');) {
    std::string cell;
    for (const char c : part) {
      if (c != ' ' && c != '*') cell += c;
    }
    result.push_back(cell);
  }
  return result;
}

/// The rows of the table that follows a heading, its head first, without the line of dashes.
std::vector<std::vector<std::string>> table_under(const std::string& heading) {
  std::ifstream file(LUMINAL_SOURCE_DIR "/docs/dtypes.md");
  std::vector<std::vector<std::string>> table;
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    if (line == heading) found = true;
    if (!found) continue;
    if (line.starts_with('|')) {
      table.push_back(cells(line));
    } else if (!table.empty()) {
      break;
    }
  }
  if (table.size() > 1) table.erase(table.begin() + 1);
  return table;
}

TEST(Documentation, PromotionTableIsTheCodes) {
  const auto table = table_under("## Promotion");
  ASSERT_EQ(table.size(), dtype_count + 1);
  std::vector<std::string> head = {""};
  for (const DType dtype : all_dtypes) head.push_back(cat(dtype));
  EXPECT_EQ(table[0], head);
  for (std::size_t a = 0; a < dtype_count; ++a) {
    std::vector<std::string> expected = {cat(all_dtypes[a])};
    for (const DType b : all_dtypes)
      expected.push_back(promote(all_dtypes[a], b) ? cat(*promote(all_dtypes[a], b)) : "–");
    EXPECT_EQ(table[a + 1], expected);
  }
}

TEST(Documentation, NamesEveryDType) {
  const auto table = table_under("## The dtypes");
  ASSERT_EQ(table.size(), dtype_count + 1);
  for (std::size_t k = 0; k < dtype_count; ++k) {
    EXPECT_EQ(table[k + 1][0], cat("`", all_dtypes[k], "`"));
    EXPECT_EQ(table[k + 1][1], cat(byte_size(all_dtypes[k])));
  }
}

TEST(Documentation, SaysWhatEachOpDoes) {
  std::vector<std::string> documented;
  std::ifstream file(LUMINAL_SOURCE_DIR "/docs/dtypes.md");
  for (std::string line; std::getline(file, line);) documented.push_back(line);
  for (std::size_t k = 0; k < op_count; ++k) {
    const OpRow& r = row(static_cast<Op>(k));
    if (r.kind != OpKind::unary && r.kind != OpKind::binary) continue;
    const std::string expected = cat("| `", r.name, "` | ", describe(r.domain), " | ", r.meaning, " |");
    EXPECT_EQ(std::count(documented.begin(), documented.end(), expected), 1) << expected;
  }
}

}  // namespace
}  // namespace luminal
