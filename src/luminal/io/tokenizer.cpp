#include "luminal/io/tokenizer.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "luminal/io/gguf.h"
#include "luminal/io/mapped_file.h"
#include "luminal/io/tokenizer_parts.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

/// Ids of pieces met before in one call: most words of a text are repeated.
class PieceCache {
 public:
  explicit PieceCache(const TokenModel& model) : model_(model) {}

  void encode(std::string_view piece, std::vector<TokenId>& out) {
    if (piece.size() > longest) return model_.encode(piece, out);
    const auto found = seen_.find(piece);
    if (found != seen_.end()) {
      const auto [begin, count] = found->second;
      out.insert(out.end(), ids_.begin() + begin, ids_.begin() + begin + count);
      return;
    }
    const std::size_t start = out.size();
    model_.encode(piece, out);
    texts_.emplace_back(piece);
    seen_.emplace(texts_.back(), std::pair(static_cast<std::ptrdiff_t>(ids_.size()),
                                           static_cast<std::ptrdiff_t>(out.size() - start)));
    ids_.insert(ids_.end(), out.begin() + static_cast<std::ptrdiff_t>(start), out.end());
  }

 private:
  static constexpr std::size_t longest = 256;
  const TokenModel& model_;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::pair<std::ptrdiff_t, std::ptrdiff_t>> seen_;
  std::vector<TokenId> ids_;
};

void encode_part(const TokenizerParts& parts, std::string text, bool at_start, PieceCache& cache,
                 std::vector<TokenId>& out) {
  if (text.empty()) return;
  const std::size_t size = text.size();
  Pieces pieces{std::move(text), {{0, size}}, at_start};
  for (const PreTokenizer& step : parts.pre_tokenizers) step(pieces);
  for (const Pieces::Span span : pieces.spans) cache.encode(pieces.view(span), out);
}

std::string tokenizer_file_of(const std::filesystem::path& folder) {
  for (const char* usual : {"tokenizer.json", "tokenizer.model"})
    if (std::filesystem::exists(folder / usual)) return (folder / usual).string();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".gguf") || name.ends_with(".tiktoken")) return entry.path().string();
  }
  throw Error(
      cat("the folder ", luminal::in_quotes(folder.string()),
          " holds no tokenizer: expected tokenizer.json, tokenizer.model, a .gguf or a .tiktoken file"));
}

/// Whether the text's first character is still there after normalisation: what follows one that is dropped
/// does not begin the input.
bool keeps_start(const TokenizerParts& parts, std::string_view text) {
  if (parts.normalisers.empty() || text.empty()) return true;
  return !normalised(parts.normalisers, std::string(text.substr(0, code_point_at(text, 0).bytes))).empty();
}

/// Whether the first line is a token in base64, a space and a number.
bool begins_with_rank(std::string_view text) {
  const std::size_t space = text.find(' ');
  const std::size_t end = std::min(text.find('\n'), text.size());
  if (space == 0 || space == std::string_view::npos || space + 1 >= end) return false;
  const auto is_base64 = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '/' || c == '=';
  };
  const std::string_view token = text.substr(0, space), rank = text.substr(space + 1, end - space - 1);
  return std::all_of(token.begin(), token.end(), is_base64) &&
         rank.substr(0, rank.find('\r')).find_first_not_of("0123456789") == std::string_view::npos;
}

/// The split that goes with a published rank file, by its name.
std::string tiktoken_pattern_for(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const auto is = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (is("gpt2") || is("r50k") || is("p50k")) return gpt2_pattern;
  if (is("o200k"))
    return R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
           R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
           R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  return R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
         R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
}

}  // namespace

std::vector<TokenId> Tokenizer::encode(std::string_view text, bool add_special) const {
  const TokenizerParts& parts = *parts_;
  std::string valid;
  if (!is_utf8(text)) {
    valid = to_valid_utf8(text);
    text = valid;
  }
  if (parts.encode_whole) return parts.encode_whole(text, add_special);
  std::vector<TokenId> ids;
  PieceCache cache(*parts.model);
  for (const TextPart& raw : parts.added.split(text, false)) {
    if (raw.token >= 0) {
      ids.push_back(raw.token);
      continue;
    }
    const std::string normal =
        normalised(parts.normalisers, std::string(text.substr(raw.begin, raw.end - raw.begin)));
    const bool first = raw.begin == 0 && keeps_start(parts, text);
    const auto inner = parts.added.split(normal, true);
    if (inner.size() == 1 && inner.front().token < 0) {
      encode_part(parts, normal, first, cache, ids);
      continue;
    }
    for (const TextPart& part : inner) {
      if (part.token >= 0)
        ids.push_back(part.token);
      else
        encode_part(parts, normal.substr(part.begin, part.end - part.begin), first && part.begin == 0, cache,
                    ids);
    }
  }
  return finished_ids(parts, std::move(ids), add_special);
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool keep_special) const {
  const TokenizerParts& parts = *parts_;
  if (parts.decode_whole) return parts.decode_whole({ids.begin(), ids.end()}, keep_special);
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const TokenId id : ids)
    if (!is_left_out(id, keep_special)) tokens.push_back(*token(id));
  const auto size = [&] {
    std::size_t bytes = 0;
    for (const std::string& token : tokens) bytes += token.size();
    return bytes;
  };
  const std::size_t before = size();
  for (const DecodeStep& step : parts.decoders) {
    step(tokens);
    require_growth(before, size());
  }
  return join(tokens, parts.separator);
}

bool Tokenizer::is_left_out(TokenId id, bool keep_special) const {
  if (!keep_special && parts_->added.is_special(id)) return true;
  return parts_->added.find(id) == nullptr && !parts_->vocabulary->text(id);
}

std::size_t Tokenizer::size() const {
  std::size_t extra = 0;
  for (const AddedToken& token : parts_->added.tokens())
    if (!parts_->vocabulary->text(token.id)) ++extra;
  return parts_->vocabulary->size() + extra;
}

std::optional<TokenId> Tokenizer::find(std::string_view token) const {
  if (const AddedToken* added = parts_->added.find(token); added != nullptr) return added->id;
  return parts_->vocabulary->find(token);
}

std::optional<std::string> Tokenizer::token(TokenId id) const {
  if (const AddedToken* added = parts_->added.find(id); added != nullptr) return added->text;
  if (const auto text = parts_->vocabulary->text(id)) return std::string(*text);
  return std::nullopt;
}

Tokenizer open_tokenizer(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) return open_tokenizer(tokenizer_file_of(path));
  const MappedFile file(path);
  if (is_gguf(file)) return read_gguf_tokenizer(open_gguf(file));
  if (path.ends_with(".json")) return read_tokenizer_json(file.text(), path);
  if (path.ends_with(".tiktoken") || begins_with_rank(file.text().substr(0, 4096)))
    return read_tiktoken(file.text(), path, tiktoken_pattern_for(path));
  if (path.ends_with(".model")) return read_sentencepiece(file.text(), path);
  throw Error(
      cat(path,
          ": what tokenizer this is cannot be told: expected tokenizer.json, a GGUF file, a SentencePiece "
          ".model or a .tiktoken file"));
}

std::string StreamDecoder::push(TokenId id) {
  if (tokenizer_.is_left_out(id, keep_special_)) return "";
  ids_.push_back(id);
  // A byte may yet turn out to belong to a run of bytes that is no text.
  if (byte_of_token(tokenizer_.token(id).value_or(""))) return "";
  const std::string text = tokenizer_.decode(ids_, keep_special_);
  if (text.size() <= given_.size() || text.ends_with("\xEF\xBF\xBD")) return "";
  std::string fresh = text.substr(given_.size());
  // Decoders treat a text's start in a special way, so what was just given out stays as context, and what
  // came before it goes once that context has more than blanks.
  std::vector<TokenId> context(ids_.begin() + static_cast<std::ptrdiff_t>(settled_), ids_.end());
  given_ = tokenizer_.decode(context, keep_special_);
  if (given_.find_first_not_of(' ') == std::string::npos)
    given_ = text;
  else
    ids_ = std::move(context);
  settled_ = ids_.size();
  return fresh;
}

std::string StreamDecoder::finish() {
  const std::string text = tokenizer_.decode(ids_, keep_special_);
  std::string rest = text.size() > given_.size() ? text.substr(given_.size()) : "";
  ids_.clear();
  settled_ = 0;
  given_.clear();
  return rest;
}

}  // namespace luminal::io
