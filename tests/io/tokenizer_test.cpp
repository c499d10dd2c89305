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

void expect_stream(const Tokenizer& tokenizer, const std::vector<TokenId>& ids, bool keep_special,
                   const std::string& name) {
  StreamDecoder stream(tokenizer, keep_special);
  std::string text;
  for (const TokenId id : ids) {
    const std::string part = stream.push(id);
    EXPECT_TRUE(is_utf8(part)) << name;
    text += part;
  }
  text += stream.finish();
  EXPECT_EQ(text, tokenizer.decode(ids, keep_special)) << name << ": " << join(ids, " ");
}

/// Ids of texts, and ids at random: blanks, bytes that make no character, special tokens, ids that do not
/// exist.
TEST(Tokenizer, RandomStreamsNeverBreakACharacterAndGiveTheWholeText) {
  test::Random random(6);
  int tried = 0;
  for (const auto& entry : std::filesystem::directory_iterator(references)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".txt") continue;
    ++tried;
    const Tokenizer tokenizer = open_tokenizer(entry.path().string());
    const auto most = static_cast<std::int64_t>(tokenizer.size());
    std::vector<TokenId> common;  // bytes and short tokens, blanks among them
    for (TokenId id = 0; id < most; ++id)
      if (const auto token = tokenizer.token(id); token && (token->size() < 4 || token->starts_with("<0x")))
        common.push_back(id);
    for (int trial = 0; trial < test::trials(60, 5000); ++trial) {
      expect_stream(tokenizer, tokenizer.encode(random_text(random), trial % 2 == 0), trial % 4 < 2, name);
      std::vector<TokenId> ids;
      for (std::int64_t i = random.between(0, 20); i > 0; --i)
        ids.push_back(random.unit() < 0.5 || common.empty()
                          ? static_cast<TokenId>(random.between(0, most))
                          : common[static_cast<std::size_t>(
                                random.between(0, static_cast<std::int64_t>(common.size()) - 1))]);
      expect_stream(tokenizer, ids, trial % 2 == 0, name);
    }
  }
  EXPECT_GE(tried, 8);
}

TEST(Tokenizer, StreamsKeepBlanksAfterEachOther) {
  expect_stream(open_tokenizer(references + "spm_plain.model"), {7, 5, 5}, false, "spm_plain");
}

std::string words(const std::string& rest) {
  return R"({"model":{"type":"WordLevel","unk_token":"[U]","vocab":{"a":0,"b":1,"c":2,"d":3,"e":4,"[U]":8}},)"
         R"("pre_tokenizer":{"type":"WhitespaceSplit"},)" +
         rest + "}";
}
std::string truncation(int longest, const char* more) {
  return cat(R"("truncation":{"max_length":)", longest, R"(,"stride":)", more, "}");
}
const char* const bert_processor = R"({"type":"BertProcessing","sep":["[S]",7],"cls":["[C]",6]})";
std::string template_processor(const std::string& single) {
  std::string pieces;
  for (const char c : single)
    pieces += (pieces.empty() ? "" : ",") +
              (c == 'A' ? std::string(R"({"Sequence":{"id":"A","type_id":0}})")
                        : cat(R"({"SpecialToken":{"id":")", std::string(1, c), R"(","type_id":0}})"));
  return R"({"type":"TemplateProcessing","single":[)" + pieces +
         R"(],"pair":[{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"S"}},{"Sequence":{"id":"B"}}],)"
         R"("special_tokens":{"C":{"id":"C","ids":[6],"tokens":["C"]},"S":{"id":"S","ids":[7],"tokens":["S"]}}})";
}

/// What the `tokenizers` package (0.21) gives for "a b c d e" and "a b", without and with special tokens.
TEST(Tokenizer, TruncatesPostProcessesAndPadsAsThePackage) {
  const auto both = [](const std::string& first, const std::string& second) {
    return R"("post_processor":{"type":"Sequence","processors":[)" + first + "," + second + "]}";
  };
  const auto processor = [](const std::string& json) { return R"("post_processor":)" + json; };
  const std::string longest = R"(0,"strategy":"LongestFirst")";
  const std::string fixed = R"(,"pad_id":5,"pad_token":"[P]","pad_type_id":0})";
  struct Case {
    std::string json, long_plain, long_special, short_plain, short_special;
  };
  const Case cases[] = {
      {truncation(3, longest.c_str()), "0 1 2", "0 1 2", "0 1", "0 1"},
      {truncation(3, R"(2,"strategy":"OnlyFirst","direction":"Left")"), "2 3 4", "2 3 4", "0 1", "0 1"},
      {truncation(0, longest.c_str()), "", "", "", ""},
      {truncation(3, longest.c_str()) + "," + processor(bert_processor), "0 1 2", "6 0 7", "0 1", "6 0 7"},
      {truncation(2, longest.c_str()) + "," + processor(bert_processor), "0 1", "6 7", "0 1", "6 7"},
      {R"("padding":{"strategy":{"Fixed":7},"direction":"Right")" + fixed, "0 1 2 3 4 5 5", "0 1 2 3 4 5 5",
       "0 1 5 5 5 5 5", "0 1 5 5 5 5 5"},
      {R"("padding":{"strategy":{"Fixed":4},"direction":"Left")" + fixed, "0 1 2 3 4", "0 1 2 3 4", "5 5 0 1",
       "5 5 0 1"},
      {R"("padding":{"strategy":"BatchLongest","pad_to_multiple_of":4,"direction":"Right")" + fixed,
       "0 1 2 3 4 5 5 5", "0 1 2 3 4 5 5 5", "0 1 5 5", "0 1 5 5"},
      {truncation(4, longest.c_str()) + "," + processor(bert_processor) +
           R"(,"padding":{"strategy":{"Fixed":6},"direction":"Right")" + fixed,
       "0 1 2 3 5 5", "6 0 1 7 5 5", "0 1 5 5 5 5", "6 0 1 7 5 5"},
      {processor(template_processor("CAA")), "0 1 2 3 4 0 1 2 3 4", "6 0 1 2 3 4 0 1 2 3 4", "0 1 0 1",
       "6 0 1 0 1"},
      {processor(template_processor("C")), "", "6", "", "6"},
      {truncation(3, longest.c_str()) + "," + processor(template_processor("CAA")), "0 1 2 0 1 2",
       "6 0 1 0 1", "0 1 0 1", "6 0 1 0 1"},
      {both(bert_processor, bert_processor), "0 1 2 3 4", "6 6 0 1 2 3 4 7 7", "0 1", "6 6 0 1 7 7"},
      {both(template_processor("CAS"), bert_processor), "0 1 2 3 4", "6 6 7 0 1 2 3 4 7 7 7", "0 1",
       "6 6 7 0 1 7 7 7"},
      {both(bert_processor, template_processor("CAS")), "0 1 2 3 4", "6 6 0 1 2 3 4 7 7", "0 1",
       "6 6 0 1 7 7"},
      {both(template_processor("CA"), template_processor("CAS")), "0 1 2 3 4", "6 7 0 1 2 3 4", "0 1",
       "6 7 0 1"},
  };
  for (const Case& c : cases) {
    const Tokenizer tokenizer = read_tokenizer_json(words(c.json), "words");
    EXPECT_EQ(join(tokenizer.encode("a b c d e"), " "), c.long_plain) << c.json;
    EXPECT_EQ(join(tokenizer.encode("a b c d e", true), " "), c.long_special) << c.json;
    EXPECT_EQ(join(tokenizer.encode("a b"), " "), c.short_plain) << c.json;
    EXPECT_EQ(join(tokenizer.encode("a b", true), " "), c.short_special) << c.json;
  }
}

TEST(Tokenizer, TruncationsThatCannotBeDoneAreRefused) {
  const auto encode = [](const std::string& json) {
    return read_tokenizer_json(words(json), "words").encode("a b c d e", true);
  };
  EXPECT_THROW((void)encode(truncation(3, R"(0,"strategy":"OnlySecond")")), Error);
  EXPECT_THROW((void)encode(truncation(3, R"(3,"strategy":"LongestFirst")")), Error);
  EXPECT_THROW((void)encode(truncation(1, R"(0,"strategy":"LongestFirst")") + R"(,"post_processor":)" +
                            bert_processor),
               Error);
}

TEST(Tokenizer, AnUnknownTokenIsLookedUpWhenItIsNeeded) {
  const Tokenizer tokenizer = read_tokenizer_json(
      R"({"model":{"type":"BPE","unk_token":"[UNK]","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]},)"
      R"("added_tokens":[{"id":3,"content":"[UNK]","special":true}]})",
      "bpe");
  EXPECT_EQ(tokenizer.encode("abab"), (std::vector<TokenId>{2, 2}));
  EXPECT_THROW((void)tokenizer.encode("abxab"), Error);  // as the package
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
