#include "luminal/io/bpe.h"

#include <array>

#include "luminal/io/merge.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

std::uint64_t pair_key(TokenId left, TokenId right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U |
         static_cast<std::uint32_t>(right);
}

struct PairHash {
  std::size_t operator()(std::uint64_t key) const noexcept {
    key ^= key >> 29U;
    key *= 0xBF58476D1CE4E5B9ULL;
    return key ^ key >> 32U;
  }
};

class MergeListBpe : public TokenModel {
 public:
  MergeListBpe(std::shared_ptr<const Vocabulary> vocabulary,
               const std::vector<std::pair<std::string, std::string>>& merges, const BpeOptions& options,
               const std::string& file)
      : vocabulary_(std::move(vocabulary)), options_(options) {
    if (merges.size() >= 1U << 24U) throw Error(cat(file, ": more than 2^24 merges are refused"));
    merges_.reserve(merges.size());
    for (std::size_t rank = 0; rank < merges.size(); ++rank) add(merges[rank], rank, file);
    for (unsigned byte = 0; byte < 256; ++byte)
      bytes_[byte] = vocabulary_->find(token_of_byte(static_cast<std::uint8_t>(byte)));
    if (options_.unknown) unknown_ = vocabulary_->find(*options_.unknown);
    for (char32_t code = 0; code < short_ids_.size(); ++code) {
      std::string text;
      append_utf8(text, code);
      short_ids_[code] = vocabulary_->find(text).value_or(-1);
    }
  }

  void encode(std::string_view piece, std::vector<TokenId>& out) const override {
    if (options_.ignore_merges)
      if (const auto id = vocabulary_->find(piece)) return out.push_back(*id);
    std::vector<Symbol> symbols;
    symbols.reserve(piece.size());
    start(piece, symbols);
    merge_symbols(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
      const auto found = merges_.find(pair_key(left.id, right.id));
      return found == merges_.end() ? std::nullopt : std::optional(found->second);
    });
    for (const Symbol& symbol : symbols)
      if (symbol.size > 0) out.push_back(symbol.id);
  }

 private:
  void add(const std::pair<std::string, std::string>& merge, std::size_t rank, const std::string& file) {
    const auto id_of = [&](const std::string& text) {
      const auto id = vocabulary_->find(text);
      if (!id)
        throw Error(cat(file, ": merge ", rank, ": the token ", luminal::in_quotes(text),
                        " is not in the vocabulary"));
      return *id;
    };
    const auto& [left, right] = merge;
    const std::string& prefix = options_.continuing_prefix;
    const std::string rest = right.starts_with(prefix) ? right.substr(prefix.size()) : right;
    const TokenId first = id_of(left), second = id_of(right), both = id_of(left + rest);
    merges_[pair_key(first, second)] = {static_cast<float>(rank), both};
  }

  /// A character's id as it stands in the vocabulary, with prefix and suffix where they belong.
  std::optional<TokenId> character_id(std::string_view character, char32_t code, bool first, bool last,
                                      std::string& spelled) const {
    const bool plain =
        (first || options_.continuing_prefix.empty()) && (!last || options_.word_suffix.empty());
    if (plain && code < short_ids_.size()) {
      if (short_ids_[code] >= 0) return short_ids_[code];
      spelled = character;
      return std::nullopt;
    }
    spelled = (first ? "" : options_.continuing_prefix) + std::string(character) +
              (last ? options_.word_suffix : "");
    return vocabulary_->find(spelled);
  }

  bool add_bytes(const std::string& spelled, std::size_t begin, std::vector<Symbol>& symbols) const {
    for (const char c : spelled)
      if (!bytes_[static_cast<unsigned char>(c)]) return false;
    for (std::size_t i = 0; i < spelled.size(); ++i)
      symbols.push_back(
          {static_cast<std::uint32_t>(begin + i), 1, *bytes_[static_cast<unsigned char>(spelled[i])]});
    return true;
  }

  void start(std::string_view piece, std::vector<Symbol>& symbols) const {
    std::optional<Symbol> pending;  // an unknown stretch that the next one may join
    std::string spelled;
    for (std::size_t at = 0; at < piece.size();) {
      const CodePoint point = code_point_at(piece, at);
      const auto begin = static_cast<std::uint32_t>(at);
      const std::string_view character = piece.substr(at, point.bytes);
      at += point.bytes;
      if (const auto id = character_id(character, point.value, begin == 0, at == piece.size(), spelled)) {
        if (pending) symbols.push_back(*pending);
        pending.reset();
        symbols.push_back({begin, point.bytes, *id});
      } else if (options_.byte_fallback && add_bytes(spelled, begin, symbols)) {
        continue;
      } else if (unknown_) {
        if (pending && options_.fuse_unknown) {
          pending->size += point.bytes;
        } else {
          if (pending) symbols.push_back(*pending);
          pending = Symbol{begin, point.bytes, *unknown_};
        }
      } else if (options_.unknown) {
        throw Error(cat("the text ", luminal::in_quotes(std::string(character)), " needs the unknown token ",
                        luminal::in_quotes(*options_.unknown), ", which is not in the vocabulary"));
      }
    }
    if (pending) symbols.push_back(*pending);
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  BpeOptions options_;
  std::unordered_map<std::uint64_t, Merge, PairHash> merges_;
  std::array<std::optional<TokenId>, 256> bytes_;
  std::array<TokenId, 0x800> short_ids_{};  // of characters of one and two bytes
  std::optional<TokenId> unknown_;
};

class ConcatenationBpe : public TokenModel {
 public:
  ConcatenationBpe(std::shared_ptr<const Vocabulary> vocabulary, std::vector<float> priority,
                   ConcatenationOptions options)
      : vocabulary_(std::move(vocabulary)), priority_(std::move(priority)), options_(std::move(options)) {}

  void encode(std::string_view piece, std::vector<TokenId>& out) const override {
    if (options_.from_bytes)
      if (const auto id = vocabulary_->find(piece)) return out.push_back(*id);
    std::vector<Symbol> symbols;
    symbols.reserve(piece.size());
    for (std::size_t at = 0; at < piece.size();) {
      const std::uint8_t size = options_.from_bytes ? std::uint8_t{1} : code_point_at(piece, at).bytes;
      symbols.push_back(
          {static_cast<std::uint32_t>(at), size, vocabulary_->find(piece.substr(at, size)).value_or(-1)});
      at += size;
    }
    merge_symbols(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
      const auto id = vocabulary_->find(piece.substr(left.begin, left.size + right.size));
      if (!id) return std::nullopt;
      return Merge{priority_[static_cast<std::size_t>(*id)], *id};
    });
    for (const Symbol& symbol : symbols)
      if (symbol.size > 0) emit(piece.substr(symbol.begin, symbol.size), symbol.id, out);
  }

 private:
  void emit(std::string_view text, TokenId id, std::vector<TokenId>& out) const {
    if (id >= 0) return out.push_back(id);
    if (options_.byte_tokens.size() == 256) {
      bool all = true;
      for (const char c : text) all = all && options_.byte_tokens[static_cast<unsigned char>(c)].has_value();
      if (all) {
        for (const char c : text) out.push_back(*options_.byte_tokens[static_cast<unsigned char>(c)]);
        return;
      }
    }
    if (options_.unknown) out.push_back(*options_.unknown);
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<float> priority_;
  ConcatenationOptions options_;
};

}  // namespace

std::unique_ptr<TokenModel> make_bpe(std::shared_ptr<const Vocabulary> vocabulary,
                                     const std::vector<std::pair<std::string, std::string>>& merges,
                                     const BpeOptions& options, const std::string& file) {
  return std::make_unique<MergeListBpe>(std::move(vocabulary), merges, options, file);
}

std::unique_ptr<TokenModel> make_concatenation_bpe(std::shared_ptr<const Vocabulary> vocabulary,
                                                   std::vector<float> priority_by_id,
                                                   const ConcatenationOptions& options) {
  return std::make_unique<ConcatenationBpe>(std::move(vocabulary), std::move(priority_by_id), options);
}

}  // namespace luminal::io
