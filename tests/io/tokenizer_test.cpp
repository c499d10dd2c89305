#include "luminal/io/tokenizer.h"

#include <gtest/gtest.h>

#include <sstream>

#include "files.h"
#include "luminal/io/gguf.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"
#include "tests/random.h"

namespace luminal::io {
namespace {

/// Committed ones, or a larger set by tests/io/peers_tokenizers.py.
std::string reference_folder() {
  const char* other = std::getenv("LUMINAL_TOKENIZER_REFERENCES");
  return other == nullptr ? LUMINAL_SOURCE_DIR "/tests/io/tokenizers/" : std::string(other) + "/";
}
const std::string references = LUMINAL_SOURCE_DIR "/tests/io/tokenizers/";
std::string vocabulary_folder() {
  const char* other = std::getenv("LUMINAL_SHARED_DATA");
  return (other == nullptr ? std::string(LUMINAL_SOURCE_DIR "/../shared/data") : std::string(other)) +
         "/vocab/";
}

std::vector<std::string> test_strings(const std::string& path) {
  const std::string mark = "\n__ggml_vocab_test__\n";
  const std::string text = test::read_file(path);
  std::vector<std::string> result;
  std::size_t start = 0;
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, start)) {
    result.push_back(text.substr(start, at - start));
    start = at + mark.size();
  }
  return result;
}

TEST(Tokenizer, RealVocabulariesGiveTheExpectedIds) {
  int tried = 0;
  for (const char* name : {"gpt-2", "llama-spm", "phi-3"}) {
    const std::string path = vocabulary_folder() + name + ".gguf";
    if (!std::filesystem::exists(path)) continue;
    const Tokenizer tokenizer = open_tokenizer(path);
    const auto strings = test_strings(path + ".inp");
    std::istringstream lines(test::read_file(path + ".out"));
    std::string line;
    std::size_t i = 0;
    for (; std::getline(lines, line) && i < strings.size(); ++i) {
      std::istringstream numbers(line);
      const std::vector<TokenId> expected{std::istream_iterator<TokenId>(numbers), {}};
      EXPECT_EQ(tokenizer.encode(strings[i]), expected) << name << ": " << luminal::in_quotes(strings[i]);
      EXPECT_EQ(tokenizer.decode(expected), strings[i]) << name;
    }
    EXPECT_EQ(i, strings.size());
    EXPECT_GT(i, 40U);
    ++tried;
  }
  if (tried == 0) GTEST_SKIP() << "the vocabularies of ../shared/data/vocab are not here";
}

/// Ids and decodes of the `tokenizers` package, by tools/make_tokenizer_references.py.
TEST(Tokenizer, TrainedTokenizersGiveTheReferencesIds) {
  int tried = 0;
  for (const auto& entry : std::filesystem::directory_iterator(reference_folder())) {
    const std::string kind = entry.path().extension().string();
    if (kind != ".json" && kind != ".model" && kind != ".tiktoken" && kind != ".gguf") continue;
    ++tried;
    std::optional<Tokenizer> opened;
    EXPECT_NO_THROW(opened = open_tokenizer(entry.path().string())) << entry.path().filename();
    if (!opened) continue;
    const Tokenizer& tokenizer = *opened;
    std::istringstream lines(
        test::read_file(std::filesystem::path(entry.path()).replace_extension(".txt").string()));
    std::string line;
    int failures = 0;
    while (std::getline(lines, line) && failures < 3) {
      // The text in hex, then ids without special tokens, with them, and the decoded text in hex.
      std::vector<std::string> fields;
      std::istringstream parts(line);
      for (std::string field; std::getline(parts, field, '\t');) fields.push_back(field);
      fields.resize(4);
      const std::string text = test::from_hex(fields[0]);
      const auto ids = tokenizer.encode(text);
      failures += join(ids, " ") != fields[1];
      EXPECT_EQ(join(ids, " "), fields[1]) << entry.path().filename() << ": " << luminal::in_quotes(text);
      EXPECT_EQ(join(tokenizer.encode(text, true), " "), fields[2])
          << entry.path().filename() << ": " << luminal::in_quotes(text);
      EXPECT_EQ(tokenizer.decode(ids), test::from_hex(fields[3]))
          << entry.path().filename() << ": " << luminal::in_quotes(text);
    }
  }
  EXPECT_GE(tried, 8);
}

std::string random_text(test::Random& random) {
  std::string text;
  const auto length = random.between(0, 30);
  for (std::int64_t i = 0; i < length; ++i) {
    const double kind = random.unit();
    const std::int64_t code = kind < 0.5   ? random.between(1, 127)
                              : kind < 0.8 ? random.between(128, 0x2FFF)
                                           : random.between(0x10000, 0x1FFFF);
    append_utf8(text, static_cast<char32_t>(code));
  }
  return text;
}

TEST(Tokenizer, RandomTextsSurviveByteLevelTokenizers) {
  test::Random random(5);
  const Tokenizer tokenizer = open_tokenizer(references + "bpe_byte_level.json");
  for (int trial = 0; trial < test::trials(500, 20000); ++trial) {
    const std::string text = random_text(random);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(Tokenizer, RandomStreamsNeverBreakACharacter) {
  test::Random random(6);
  for (const char* name :
       {"bpe_byte_level.json", "bpe_byte_fallback.json", "wordpiece.json", "unigram.json"}) {
    const Tokenizer tokenizer = open_tokenizer(references + name);
    for (int trial = 0; trial < test::trials(100, 5000); ++trial) {
      const auto ids = tokenizer.encode(random_text(random));
      StreamDecoder stream(tokenizer);
      std::string text;
      for (const TokenId id : ids) {
        const std::string part = stream.push(id);
        EXPECT_TRUE(is_utf8(part));
        text += part;
      }
      text += stream.finish();
      EXPECT_EQ(text, tokenizer.decode(ids)) << name;
    }
  }
}

TEST(Tokenizer, TiktokenMergesByRank) {
  // a=0 b=1 c=2 ab=3 bc=4 abc=5
  const Tokenizer tokenizer =
      read_tiktoken("YQ== 0\nYg== 1\nYw== 2\nYWI= 3\nYmM= 4\nYWJj 5\n", "ranks", "\\S+|\\s+");
  EXPECT_EQ(tokenizer.encode("abc"), (std::vector<TokenId>{5}));
  EXPECT_EQ(tokenizer.encode("abcb"), (std::vector<TokenId>{5, 1}));
  EXPECT_EQ(tokenizer.encode("bcab"), (std::vector<TokenId>{4, 3}));
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{5, 1}), "abcb");
}

TEST(Tokenizer, IdsThatDoNotExistAreLeftOut) {
  const Tokenizer tokenizer = open_tokenizer(references + "bpe_byte_level.json");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{-1, 1 << 30}), "");
}

}  // namespace
}  // namespace luminal::io
