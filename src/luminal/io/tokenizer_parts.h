#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "luminal/io/added_tokens.h"
#include "luminal/io/tokenizer.h"

namespace luminal::io {

/// Token texts and their ids, both unique.
class Vocabulary {
 public:
  /// False if the text or the id is there already.
  bool add(std::string text, TokenId id);
  std::optional<TokenId> find(std::string_view text) const;
  std::optional<std::string_view> text(TokenId id) const;
  std::size_t size() const { return by_text_.size(); }
  void reserve(std::size_t count);

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, TokenId> by_text_;
  std::unordered_map<TokenId, std::string_view> by_id_;
};

/// A text cut into pieces. Cutters refine the spans; rewriters replace the text.
struct Pieces {
  struct Span {
    std::size_t begin;
    std::size_t end;
  };
  std::string text;
  std::vector<Span> spans;
  bool at_start = true;  // the first piece begins the whole input

  std::string_view view(Span span) const {
    return std::string_view(text).substr(span.begin, span.end - span.begin);
  }
};

/// What a cutter does with the places that its pattern matches.
enum class SplitBehaviour : std::uint8_t {
  removed,
  isolated,
  merged_with_previous,
  merged_with_next,
  contiguous
};
using MatchFinder =
    std::function<void(std::string_view text, const std::function<void(std::size_t, std::size_t)>& on_match)>;
/// Cuts every piece at the matches; empty pieces vanish.
void split_pieces(Pieces& pieces, const MatchFinder& matches, SplitBehaviour behaviour, bool invert = false);
/// Matches of single characters.
MatchFinder each_character(bool (*matches)(char32_t));

/// A model turns one piece into ids.
class TokenModel {
 public:
  TokenModel() = default;
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;
  virtual ~TokenModel() = default;
  virtual void encode(std::string_view piece, std::vector<TokenId>& out) const = 0;
};

using Normaliser = std::function<std::string(std::string)>;
using PreTokenizer = std::function<void(Pieces&)>;
/// Rewrites the tokens' texts, whose concatenation is the decoded text.
using DecodeStep = std::function<void(std::vector<std::string>&)>;

/// What is put around or in place of a text's ids. A step hands several parts on to the next one; in the end
/// they are one after the other.
using IdParts = std::vector<std::vector<TokenId>>;
struct PostProcessor {
  std::size_t added = 0;  // how many special tokens stand around a text
  std::function<IdParts(IdParts parts, bool add_special)> run;
};
struct Truncation {
  std::size_t longest = 0;  // with special tokens
  std::size_t stride = 0;
  bool from_left = false;    // the last ids are kept
  bool only_second = false;  // of two texts, so that a single one cannot be cut
};
struct Padding {
  std::size_t least = 0;  // ids, and then up to a multiple
  std::size_t multiple = 1;
  TokenId id = 0;
  bool on_left = false;
};

struct TokenizerParts {
  std::shared_ptr<Vocabulary> vocabulary = std::make_shared<Vocabulary>();
  AddedTokens added;
  std::vector<Normaliser> normalisers;
  std::vector<PreTokenizer> pre_tokenizers;
  std::unique_ptr<TokenModel> model;
  std::optional<Truncation> truncation;
  std::vector<PostProcessor> post_processors;
  std::optional<Padding> padding;
  std::vector<DecodeStep> decoders;
  std::string separator;  // between tokens where there is no decoder
  /// A library that does all of it; the rest is unused then.
  std::function<std::vector<TokenId>(std::string_view, bool)> encode_whole;
  std::function<std::string(const std::vector<TokenId>&, bool)> decode_whole;
};

/// Byte b as the printable character that byte-level vocabularies use for it, and back.
const std::string& byte_character(std::uint8_t byte);
std::optional<std::uint8_t> byte_of_character(char32_t code);
/// The byte of a token such as "<0x0A>".
std::optional<std::uint8_t> byte_of_token(std::string_view token);
std::string token_of_byte(std::uint8_t byte);

/// The text after all of them; `Error` if they make it long beyond measure.
std::string normalised(const std::vector<Normaliser>& steps, std::string text);
/// Truncated, post-processed and padded, in this order.
std::vector<TokenId> finished_ids(const TokenizerParts& parts, std::vector<TokenId> ids, bool add_special);
/// Special tokens before and after a text.
PostProcessor surround(std::vector<TokenId> before, std::vector<TokenId> after);

// --- the steps; each factory's file says how it behaves ---
Normaliser prepend_text(std::string text);
PreTokenizer byte_level(bool add_prefix_space, bool split);
PreTokenizer split_by(const std::string& pattern);
PreTokenizer bert_words();
Normaliser bert_normaliser(bool clean, bool chinese, bool strip_accents, bool lower);
DecodeStep decode_byte_level();
DecodeStep decode_byte_fallback();
DecodeStep decode_replace(std::string from, std::string to);
DecodeStep decode_fuse();
DecodeStep decode_strip(const std::string& character, std::size_t start, std::size_t stop);

/// GPT-2's split of a text into words.
extern const char* const gpt2_pattern;

}  // namespace luminal::io
