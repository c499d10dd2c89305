#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "luminal/io/tokenizer_parts.h"

namespace luminal::io {

struct BpeOptions {
  std::optional<std::string> unknown;
  std::string continuing_prefix;
  std::string word_suffix;
  bool fuse_unknown = false;
  bool byte_fallback = false;
  bool ignore_merges = false;  // a piece that is a token needs no merging
};

/// Byte-pair encoding by a list of merges, the first being the strongest. `Error` for a merge of unknown
/// tokens.
std::unique_ptr<TokenModel> make_bpe(std::shared_ptr<const Vocabulary> vocabulary,
                                     const std::vector<std::pair<std::string, std::string>>& merges,
                                     const BpeOptions& options, const std::string& file);

/// Byte-pair encoding without a list: two neighbours merge if their text is a token, the one of least
/// `priority` first (SentencePiece's scores negated, tiktoken's ranks). Starts from characters, or from
/// bytes; what is no token in the end becomes byte tokens, else the unknown token.
struct ConcatenationOptions {
  bool from_bytes = false;
  std::optional<TokenId> unknown;
  std::vector<std::optional<TokenId>> byte_tokens;  // 256, or none
};
std::unique_ptr<TokenModel> make_concatenation_bpe(std::shared_ptr<const Vocabulary> vocabulary,
                                                   std::vector<float> priority_by_id,
                                                   const ConcatenationOptions& options);

/// SentencePiece's unigram model: the segmentation of the greatest sum of scores. Ids count from 0.
std::unique_ptr<TokenModel> make_unigram(std::shared_ptr<const Vocabulary> vocabulary,
                                         std::vector<double> scores, std::optional<TokenId> unknown,
                                         bool byte_fallback);

struct WordPieceOptions {
  std::optional<TokenId> unknown;
  std::string first_prefix;       // before a word's first piece
  std::string continuing_prefix;  // before the others
  std::size_t longest_word = 100;
};
/// The longest token at every place of a word, or the unknown token for all of it.
std::unique_ptr<TokenModel> make_word_piece(std::shared_ptr<const Vocabulary> vocabulary,
                                            const WordPieceOptions& options);
/// Whole pieces only.
std::unique_ptr<TokenModel> make_word_level(std::shared_ptr<const Vocabulary> vocabulary,
                                            std::optional<TokenId> unknown);

}  // namespace luminal::io
