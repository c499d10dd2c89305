#include <algorithm>
#include <limits>

#include "luminal/io/bpe.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"

namespace luminal::io {
namespace {

/// Token texts by their bytes: a child is found by a hash of its parent and the byte.
class Trie {
 public:
  void add(std::string_view text, TokenId id) {
    std::uint32_t node = 0;
    for (const char c : text) {
      const auto next = static_cast<std::uint32_t>(tokens_.size());
      const auto [place, is_new] = children_.emplace(key(node, c), next);
      node = place->second;
      if (is_new) tokens_.push_back(-1);
    }
    tokens_[node] = id;
  }
  /// Calls `on_token(size, id)` for every token that `text` begins with, shortest first.
  template <typename OnToken>
  void each_prefix(std::string_view text, const OnToken& on_token) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto child = children_.find(key(node, text[i]));
      if (child == children_.end()) return;
      node = child->second;
      if (tokens_[node] >= 0) on_token(i + 1, tokens_[node]);
    }
  }

 private:
  static std::uint64_t key(std::uint32_t node, char c) {
    return std::uint64_t{node} << 8U | static_cast<unsigned char>(c);
  }
  struct KeyHash {
    std::size_t operator()(std::uint64_t value) const noexcept {
      return value * 0x9E3779B97F4A7C15ULL >> 20U;
    }
  };
  std::unordered_map<std::uint64_t, std::uint32_t, KeyHash> children_;
  std::vector<TokenId> tokens_{-1};
};

class Unigram : public TokenModel {
 public:
  Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
          std::optional<TokenId> unknown, bool byte_fallback)
      : vocabulary_(std::move(vocabulary)),
        scores_(std::move(scores)),
        unknown_(unknown),
        byte_fallback_(byte_fallback) {
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t id = 0; id < scores_.size(); ++id) {
      trie_.add(*vocabulary_->text(static_cast<TokenId>(id)), static_cast<TokenId>(id));
      lowest = std::min(lowest, scores_[id]);
    }
    unknown_score_ = lowest - 10.0;
  }

  void encode(std::string_view piece, std::vector<TokenId>& out) const override {
    struct Best {
      double score = 0;
      std::size_t begin = 0;
      TokenId id = -1;
      bool reached = false;
    };
    std::vector<Best> best(piece.size() + 1);
    const auto offer = [&](std::size_t begin, std::size_t end, TokenId id, double score) {
      if (!best[end].reached || score > best[end].score) best[end] = {score, begin, id, true};
    };
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t width = code_point_at(piece, at).bytes;
      const double here = best[at].score;
      bool has_character = false;
      trie_.each_prefix(piece.substr(at), [&](std::size_t size, TokenId id) {
        offer(at, at + size, id, here + scores_[static_cast<std::size_t>(id)]);
        has_character = has_character || size == width;
      });
      if (!has_character) {
        if (!unknown_)
          throw Error("a unigram tokenizer without an unknown token met a character that it does not know");
        offer(at, at + width, *unknown_, here + unknown_score_);
      }
      at += width;
    }
    std::vector<Pieces::Span> path;  // from the end; neighbouring unknown stretches are one
    bool previous_unknown = false;
    for (std::size_t end = piece.size(); end > 0; end = best[end].begin) {
      const bool is_unknown = best[end].id == unknown_;
      if (is_unknown && previous_unknown)
        path.back().begin = best[end].begin;
      else
        path.push_back({best[end].begin, end});
      previous_unknown = is_unknown;
    }
    for (auto span = path.rbegin(); span != path.rend(); ++span)
      emit(piece.substr(span->begin, span->end - span->begin), out);
  }

 private:
  void emit(std::string_view text, std::vector<TokenId>& out) const {
    if (const auto id = vocabulary_->find(text)) return out.push_back(*id);
    if (byte_fallback_) {
      std::vector<TokenId> bytes;
      for (const char c : text)
        if (const auto id = vocabulary_->find(token_of_byte(static_cast<std::uint8_t>(c))))
          bytes.push_back(*id);
      if (bytes.size() == text.size()) {
        out.insert(out.end(), bytes.begin(), bytes.end());
        return;
      }
    }
    if (unknown_) out.push_back(*unknown_);
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<double> scores_;
  std::optional<TokenId> unknown_;
  bool byte_fallback_;
  double unknown_score_ = 0;
  Trie trie_;
};

class WordPiece : public TokenModel {
 public:
  WordPiece(std::shared_ptr<const Vocabulary> vocabulary, WordPieceOptions options)
      : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {}

  void encode(std::string_view piece, std::vector<TokenId>& out) const override {
    std::vector<std::size_t> starts;
    for (std::size_t at = 0; at < piece.size(); at += code_point_at(piece, at).bytes) starts.push_back(at);
    if (starts.size() > options_.longest_word) return unknown(out);
    starts.push_back(piece.size());
    const std::size_t kept = out.size();
    std::string candidate;
    for (std::size_t first = 0; first + 1 < starts.size();) {
      std::size_t last = starts.size() - 1;
      for (; last > first; --last) {
        candidate = first == 0 ? options_.first_prefix : options_.continuing_prefix;
        candidate += piece.substr(starts[first], starts[last] - starts[first]);
        if (const auto id = vocabulary_->find(candidate)) {
          out.push_back(*id);
          break;
        }
      }
      if (last == first) {
        out.resize(kept);
        return unknown(out);
      }
      first = last;
    }
  }

 private:
  void unknown(std::vector<TokenId>& out) const {
    if (!options_.unknown)
      throw Error("a word-piece tokenizer without an unknown token met a word that it does not know");
    out.push_back(*options_.unknown);
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  WordPieceOptions options_;
};

class WordLevel : public TokenModel {
 public:
  WordLevel(std::shared_ptr<const Vocabulary> vocabulary, std::optional<TokenId> unknown)
      : vocabulary_(std::move(vocabulary)), unknown_(unknown) {}
  void encode(std::string_view piece, std::vector<TokenId>& out) const override {
    const auto id = vocabulary_->find(piece);
    if (!id && !unknown_)
      throw Error("a word-level tokenizer without an unknown token met a word that it does not know");
    out.push_back(id ? *id : *unknown_);
  }

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::optional<TokenId> unknown_;
};

}  // namespace

std::unique_ptr<TokenModel> make_unigram(std::shared_ptr<const Vocabulary> vocabulary,
                                         std::vector<double> scores, std::optional<TokenId> unknown,
                                         bool byte_fallback) {
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(scores), unknown, byte_fallback);
}
std::unique_ptr<TokenModel> make_word_piece(std::shared_ptr<const Vocabulary> vocabulary,
                                            const WordPieceOptions& options) {
  return std::make_unique<WordPiece>(std::move(vocabulary), options);
}
std::unique_ptr<TokenModel> make_word_level(std::shared_ptr<const Vocabulary> vocabulary,
                                            std::optional<TokenId> unknown) {
  return std::make_unique<WordLevel>(std::move(vocabulary), unknown);
}

}  // namespace luminal::io
