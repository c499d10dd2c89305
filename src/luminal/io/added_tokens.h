#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace luminal::io {

/// A token that is found in the text before everything else.
struct AddedToken {
  std::string text;
  std::int32_t id = 0;
  bool special = false;
  bool normalised = false;  // is looked for after normalisation, not before
  bool single_word = false;
  bool strip_left = false;
  bool strip_right = false;
  std::string pattern{};  // what is looked for, if not `text`: its normalised form
};

/// A part of a text: an added token, or text between them (token < 0).
struct TextPart {
  std::size_t begin;
  std::size_t end;
  std::int32_t token = -1;
};

/// Finds the leftmost, then longest, of the added tokens.
class AddedTokens {
 public:
  void add(const AddedToken& token);
  /// The text in order, cut at the tokens that are looked for at this stage.
  std::vector<TextPart> split(std::string_view text, bool normalised) const;
  const std::vector<AddedToken>& tokens() const { return tokens_; }
  bool is_special(std::int32_t id) const;
  const AddedToken* find(std::int32_t id) const;
  const AddedToken* find(std::string_view text) const;

 private:
  struct Trie {
    std::vector<std::unordered_map<char, std::uint32_t>> children{1};
    std::vector<std::int32_t> token{-1};  // index into tokens_
    std::array<bool, 256> first{};
  };
  void extend(const AddedToken& token, TextPart& match, std::string_view text, std::size_t done) const;

  std::vector<AddedToken> tokens_;
  std::array<Trie, 2> tries_;
  std::unordered_map<std::int32_t, std::size_t> by_id_;
};

}  // namespace luminal::io
