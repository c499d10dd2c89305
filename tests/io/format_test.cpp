#include "luminal/io/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "files.h"
#include "luminal/io/quantise.h"
#include "luminal/support/error.h"
#include "tests/random.h"

namespace luminal::io {
namespace {

using test::from_hex;

std::vector<float> floats(const std::string& bytes) {
  std::vector<float> result(bytes.size() / sizeof(float));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

std::span<const std::byte> view(const std::string& bytes) {
  return std::as_bytes(std::span(bytes));
}

TEST(Format, DecodesAndQuantisesAsTheReference) {
  std::istringstream lines(test::read_file(LUMINAL_SOURCE_DIR "/tests/io/format_references.txt"));
  std::string line;
  int decoded = 0, quantised = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string verb, kind, first, second;
    words >> verb >> kind >> first >> second;
    if (verb == "#") continue;
    const Format format = format_named(kind).value();
    const std::string input = from_hex(first), expected = from_hex(second);
    if (verb == "decode") {
      std::vector<float> values(expected.size() / sizeof(float));
      decode_blocks(format, view(input), values.data());
      EXPECT_EQ(std::memcmp(values.data(), expected.data(), expected.size()), 0) << kind;
      ++decoded;
    } else {
      const auto blocks = encode_tensor(format, Array(floats(input)));
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(blocks.data()), blocks.size()), expected) << kind;
      ++quantised;
    }
  }
  EXPECT_EQ(decoded, 12);
  EXPECT_EQ(quantised, 8);
}

TEST(Format, RandomValuesSurviveQuantisation) {
  test::Random random(3);
  struct Case {
    Format format;
    double tolerance;  // of the root mean square error, relative to the values'
  };
  for (const auto& [format, tolerance] :
       {Case{Format::q8_0, 0.01}, {Format::q4_0, 0.12}, {Format::q4_k, 0.09}, {Format::q6_k, 0.025}}) {
    for (int trial = 0; trial < test::trials(20, 1000); ++trial) {
      std::vector<float> values(512);
      // Where the blocks' f16 scales are not subnormal: below that the formats themselves lose precision.
      const double scale = std::exp(random.unit() * 10 - 1);
      for (float& value : values)
        value = static_cast<float>((random.unit() + random.unit() + random.unit() - 1.5) * scale);
      const auto blocks = encode_tensor(format, Array(values));
      std::vector<float> back(values.size());
      decode_blocks(format, blocks, back.data());
      double error = 0, norm = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        error += std::pow(double{back[i]} - double{values[i]}, 2);
        norm += std::pow(double{values[i]}, 2);
      }
      EXPECT_LE(std::sqrt(error / norm), tolerance) << name(format) << " at scale " << scale;
    }
  }
}

TEST(Format, BlocksOfEqualValuesAndZerosAreExactEnough) {
  for (const Format format : {Format::q8_0, Format::q4_0, Format::q4_k, Format::q6_k})
    for (const float value : {0.0F, 1.0F, -1.0F}) {
      const auto blocks = encode_tensor(format, Array(std::vector<float>(256, value)));
      std::vector<float> back(256);
      decode_blocks(format, blocks, back.data());
      for (const float element : back) EXPECT_NEAR(element, value, 0.01F) << name(format);
    }
}

TEST(Format, RefusesWhatItCannotStore) {
  EXPECT_THROW(encode_tensor(Format::q8_0, Array(std::vector<float>(33, 1.0F))), Error);
  EXPECT_THROW(encode_tensor(Format::q8_0, Array(std::vector<float>(32, NAN))), Error);
  // A block's scale is stored as f16.
  for (const Format format : {Format::q8_0, Format::q4_0, Format::q4_k, Format::q6_k})
    for (const float value : {1e9F, -1e9F, 1e13F, 3e38F}) {
      std::vector<float> block(256, 0.5F);
      block[7] = value;
      EXPECT_THROW(encode_tensor(format, Array(block)), Error) << name(format) << " " << value;
    }
  EXPECT_THROW(encode_tensor(Format::q2_k, Array(std::vector<float>(256, 1.0F))), Error);
  EXPECT_THROW(stored_bytes(Format::f64, std::vector<std::int64_t>{1LL << 61, 2}), Error);
}

}  // namespace
}  // namespace luminal::io
