#include "luminal/train/data_files.h"

#include <gtest/gtest.h>

#include <cstring>

#include "folder.h"
#include "luminal/train/drawn_digits.h"
#include "luminal/train/sums.h"

namespace luminal::train {
namespace {

std::string word(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}
std::string idx(char type, const std::vector<std::uint32_t>& dims, const std::string& data) {
  std::string bytes = {0, 0, type, static_cast<char>(dims.size())};
  for (const auto dim : dims) bytes += word(dim);
  return bytes + data;
}

TEST(Idx, BytesAndWiderNumbers) {
  const TemporaryFolder folder;
  write_bytes(folder / "a", idx(8, {2, 3}, std::string("\x01\x02\x03\x04\x05\xff", 6)));
  const Array bytes = read_idx(folder / "a");
  EXPECT_EQ(bytes.dims(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(bytes.values<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 255}));
  write_bytes(folder / "b", idx(0x0C, {2}, word(7) + word(0xFFFFFFFE)));
  EXPECT_EQ(read_idx(folder / "b").values<std::int64_t>(), (std::vector<std::int64_t>{7, -2}));
  write_bytes(folder / "c", idx(0x0D, {1}, word(0x3FC00000)));
  EXPECT_EQ(read_idx(folder / "c").values<float>(), (std::vector<float>{1.5F}));
}

TEST(Idx, CorruptFilesAreRefusedByName) {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  const auto says = [&](const std::string& bytes) {
    write_bytes(path, bytes);
    const std::string text = refusal([&] { read_idx(path); });
    EXPECT_EQ(text.rfind("the file \"" + path + "\": ", 0), 0U) << text;
    return text.substr(text.find("\": ") + 3);
  };
  EXPECT_EQ(says("ab"), "is 2 bytes long: too short for an IDX file");
  EXPECT_EQ(says(std::string("\x1f\x8b\x08\x00 compressed", 15)),
            "does not begin with two zero bytes, so it is no IDX file (is it still compressed?)");
  EXPECT_EQ(says(idx(1, {2}, "ab")), "byte 2 is 1, which names no type of an IDX file");
  EXPECT_EQ(says(idx(8, {2, 2}, "abc")), "holds 3 bytes of elements, expected 4 for 2 x 2 of u8");
  EXPECT_EQ(says(idx(8, {2, 2}, "abcde")), "holds 5 bytes of elements, expected 4 for 2 x 2 of u8");
  EXPECT_EQ(says(std::string("\0\0\x08\x09", 4)), "byte 3 says 9 axes, and the file is 4 bytes long");
  EXPECT_NE(says(idx(8, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "abc")).find("do not fit"), std::string::npos);
  EXPECT_NE(refusal([&] { read_idx(folder / "missing"); }).find("missing"), std::string::npos);
}

TEST(Idx, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  const std::string whole = idx(8, {3, 2, 2}, "abcdefghijkl");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_bytes(folder / "t", whole.substr(0, length));
    EXPECT_NE(refusal([&] { read_idx(folder / "t"); }), "no Error") << length;
  }
}

TEST(Idx, ImagesAndLabels) {
  const TemporaryFolder folder;
  write_bytes(folder / "images", idx(8, {2, 1, 2}, std::string("\x00\xff\x33\x66", 4)));
  write_bytes(folder / "labels", idx(8, {2}, "\x07\x01"));
  const auto data = idx_images(folder / "images", folder / "labels");
  ASSERT_EQ(data->size(), 2);
  std::array<float, 2> image{};
  std::int64_t label = 0;
  const std::array<std::span<std::byte>, 2> into = {std::as_writable_bytes(std::span(image)),
                                                    std::as_writable_bytes(std::span(&label, 1))};
  data->read(1, into);
  EXPECT_FLOAT_EQ(image[0], 0.2F);
  EXPECT_FLOAT_EQ(image[1], 0.4F);
  EXPECT_EQ(label, 1);
  write_bytes(folder / "labels", idx(8, {3}, "\x07\x01\x02"));
  EXPECT_NE(refusal([&] { idx_images(folder / "images", folder / "labels"); }).find("3 labels for 2 images"),
            std::string::npos);
  write_bytes(folder / "images", idx(8, {0, 2, 2}, ""));
  write_bytes(folder / "labels", idx(8, {0}, ""));
  EXPECT_NE(refusal([&] { idx_images(folder / "images", folder / "labels"); }).find("holds no images"),
            std::string::npos);
}

TEST(Csv, ColumnsByName) {
  const TemporaryFolder folder;
  write_bytes(folder / "t.csv", "a,b,\"y\"\r\n1,2,3\r\n\r\n4, 5 ,-6.5e1\r\n");
  const auto data = read_csv(folder / "t.csv", {.targets = {"y"}});
  ASSERT_EQ(data->size(), 2);
  std::array<float, 2> input{};
  std::array<float, 1> target{};
  const std::array<std::span<std::byte>, 2> into = {std::as_writable_bytes(std::span(input)),
                                                    std::as_writable_bytes(std::span(target))};
  data->read(1, into);
  EXPECT_EQ(input, (std::array<float, 2>{4, 5}));
  EXPECT_EQ(target[0], -65);
}

TEST(Csv, Refusals) {
  const TemporaryFolder folder;
  const std::string path = folder / "t.csv";
  const auto says = [&](const std::string& text, const CsvOptions& options) {
    write_bytes(path, text);
    const std::string all = refusal([&] { read_csv(path, options); });
    return all.substr(all.find("\": ") + 3);
  };
  EXPECT_EQ(says("a,y\n1,x2\n", {.targets = {"y"}}), "line 2, column \"y\": \"x2\" is not a number");
  EXPECT_EQ(says("a,y\n1,nan\n", {.targets = {"y"}}), "line 2, column \"y\": \"nan\" is not a number");
  EXPECT_EQ(says("a,y\n1,2\n3\n", {.targets = {"y"}}), "line 3 has 1 columns, expected 2");
  EXPECT_EQ(says("a,y\n", {.targets = {"y"}}), "holds no rows");
  EXPECT_EQ(says("", {.targets = {"y"}}), "holds no rows");
  EXPECT_EQ(says("a,y\n1,2\n", {.targets = {"z"}}), "has no column \"z\", only a, y");
  EXPECT_EQ(says("a,y\n1,2.5\n", {.targets = {"y"}, .classes = true}),
            "row 1: the class 2.5 is not a whole number from 0 on");
}

TEST(Tokens, BothWidths) {
  const TemporaryFolder folder;
  write_bytes(folder / "t", std::string("\x01\x00\x00\x02", 4));
  EXPECT_EQ(read_tokens(folder / "t", TokenWidth::bits16, 1000), (std::vector<std::int32_t>{1, 512}));
  EXPECT_EQ(read_tokens(folder / "t", TokenWidth::bits32, 1 << 30), (std::vector<std::int32_t>{0x02000001}));
  const std::string path = folder / "t";
  EXPECT_EQ(refusal([&] { read_tokens(path, TokenWidth::bits16, 500); }),
            "the file \"" + path + "\": token 1 is 512, expected less than 500");
  write_bytes(path, "abc");
  EXPECT_EQ(refusal([&] { read_tokens(path, TokenWidth::bits16, 500); }),
            "the file \"" + path + "\": is 3 bytes long, which is not a multiple of 2");
  write_bytes(path, "");
  EXPECT_NE(refusal([&] { read_tokens(path, TokenWidth::bits16, 500); }), "no Error");
}

TEST(Sums, HeldOutPairsAreInTrainingInNeitherOrder) {
  const SplitSums sums = split_decimal_sums(3, 2000);
  ASSERT_EQ(sums.held_out->size(), 2000);
  std::vector<bool> trained(1000000, false);
  for (std::int64_t k = 0; k < sums.training->size(); ++k)
    trained[static_cast<std::size_t>(sums.training->first(k) * 1000 + sums.training->second(k))] = true;
  for (std::int64_t k = 0; k < 2000; ++k) {
    const auto a = sums.held_out->first(k);
    const auto b = sums.held_out->second(k);
    EXPECT_FALSE(trained[static_cast<std::size_t>(a * 1000 + b)]);
    EXPECT_FALSE(trained[static_cast<std::size_t>(b * 1000 + a)]);
  }
  const SplitSums other = split_decimal_sums(4, 2000);
  EXPECT_NE(sums.held_out->first(0) * 1000 + sums.held_out->second(0),
            other.held_out->first(0) * 1000 + other.held_out->second(0));
}

TEST(Sums, WrittenFromTheLowestDigit) {
  EXPECT_EQ(DecimalSums::question_text(123, 45), "321+540=");
  EXPECT_EQ(DecimalSums::answer_of("8610"), 168);
  const DecimalSums data({999 * 1000 + 1});
  std::array<std::int32_t, 11> tokens{};
  std::array<std::int32_t, 4> answer{};
  const std::array<std::span<std::byte>, 2> into = {std::as_writable_bytes(std::span(tokens)),
                                                    std::as_writable_bytes(std::span(answer))};
  data.read(0, into);
  EXPECT_EQ(tokens, (std::array<std::int32_t, 11>{9, 9, 9, 10, 1, 0, 0, 11, 0, 0, 0}));
  EXPECT_EQ(answer, (std::array<std::int32_t, 4>{0, 0, 0, 1}));
}

TEST(DrawnDigits, AreFunctionsOfTheSeedAndTheNumber) {
  const DrawnDigits digits(1000, 1);
  const DrawnDigits others(1000, 2);
  std::array<std::int64_t, 10> count{};
  std::vector<float> image(784);
  std::vector<float> again(784);
  std::int64_t label = 0;
  const auto into = [&](std::vector<float>& place) {
    return std::array<std::span<std::byte>, 2>{std::as_writable_bytes(std::span(place)),
                                               std::as_writable_bytes(std::span(&label, 1))};
  };
  for (std::int64_t k = 0; k < digits.size(); ++k) {
    digits.read(k, into(image));
    ASSERT_TRUE(label >= 0 && label < 10);
    ++count[static_cast<std::size_t>(label)];
    float ink = 0;
    for (const float pixel : image) {
      ASSERT_TRUE(pixel >= 0 && pixel <= 1);
      ink += pixel;
    }
    EXPECT_GT(ink, 20) << "example " << k << " is blank";
  }
  for (const auto each : count) EXPECT_GT(each, 60);
  digits.read(7, into(image));
  digits.read(7, into(again));
  EXPECT_EQ(image, again);
  others.read(7, into(again));
  EXPECT_NE(image, again);
}

}  // namespace
}  // namespace luminal::train
