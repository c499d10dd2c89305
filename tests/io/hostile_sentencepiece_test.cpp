#include <gtest/gtest.h>

#include "hostile.h"
#include "luminal/io/tokenizer.h"
#include "tests/random.h"

namespace luminal::io {
namespace {

using namespace test;

std::string message_field(unsigned number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3U | 2U), static_cast<char>(bytes.size())} + bytes;
}

/// libsentencepiece follows a character map without looking where it leads.
TEST(HostileSentencePiece, MapsThatLeadOutsideAreRefused) {
  const std::string fine = read_file(LUMINAL_SOURCE_DIR "/tests/io/tokenizers/spm_plain.model");
  const std::string end(1, '\0');
  const auto map = [&](const std::string& blob, unsigned field = 3) {
    return fine + message_field(field, message_field(2, blob));
  };
  // A root whose block lies in the file, an entry for "a", and its value.
  const auto trie = [&](std::uint32_t value) {
    std::string units;
    for (std::uint32_t i = 0; i < 16; ++i) units += raw<std::uint32_t>(i == 0 ? 0 : 0x80000000U | value);
    return units;
  };
  const std::vector<Hostile> files = {
      {"root outside", map(raw<std::uint32_t>(4) + "\xff\xff\xff\xff" + end), "outside its trie"},
      {"root outside, back", map(raw<std::uint32_t>(4) + "\xff\xff\xff\xff" + end, 5), "denormalizer_spec"},
      {"block cut", map(raw<std::uint32_t>(64) + trie(0) + end), "outside its trie"},
      {"no trie", map(raw<std::uint32_t>(0) + end), "are cut"},
      {"no texts", map(raw<std::uint32_t>(64) + trie(0)), "are cut"},
      {"map of 3 bytes", map("abc"), "3 bytes"},
      {"trie beyond the map", map(raw<std::uint32_t>(4096) + end), "does not fit"},
      {"field beyond the file", fine + "\x1a\x7f", "does not fit"},
      {"number without end", fine + std::string(12, '\xff'), "10 bytes"},
      {"wire type 7", fine + "\x1f", "wire type 7"},
      {"not a message", "hello", "not a SentencePiece model"},
  };
  (void)check(files, "x.model", [](const std::string& path) { (void)open_tokenizer(path); });
}

TEST(HostileSentencePiece, RandomlyMutatedModelsAreRefusedOrWork) {
  Random random(11);
  for (const char* name : {"spm_char.model", "spm_plain.model", "spm_unigram.model"}) {
    const std::string fine = read_file(std::string(LUMINAL_SOURCE_DIR "/tests/io/tokenizers/") + name);
    for (int trial = 0; trial < trials(200, 5000); ++trial) {
      std::string model = fine;
      for (std::int64_t i = random.between(1, 4); i > 0; --i)
        model[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(model.size()) - 1))] =
            static_cast<char>(random.between(0, 255));
      try {
        const Tokenizer tokenizer = read_sentencepiece(model, "mutated");
        (void)tokenizer.decode(tokenizer.encode("Hello, w\xc3\xb6rld! 123", true), true);
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("mutated"), std::string::npos) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace luminal::io
