#include "luminal/io/tokenizer_parts.h"

#include <array>

#include "luminal/io/utf8.h"

namespace luminal::io {
namespace {

struct ByteCharacters {
  std::array<std::string, 256> text;
  std::unordered_map<char32_t, std::uint8_t> byte;
};

/// Printable bytes stand for themselves; the others, in order, for the characters from U+0100 on.
const ByteCharacters& byte_characters() {
  static const ByteCharacters table = [] {
    ByteCharacters result;
    char32_t next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      const char32_t code = printable ? byte : next++;
      append_utf8(result.text[byte], code);
      result.byte[code] = static_cast<std::uint8_t>(byte);
    }
    return result;
  }();
  return table;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

const char* const gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

bool Vocabulary::add(std::string text, TokenId id) {
  if (by_text_.contains(text) || by_id_.contains(id)) return false;
  texts_.push_back(std::move(text));
  by_text_.emplace(texts_.back(), id);
  by_id_.emplace(id, texts_.back());
  return true;
}
std::optional<TokenId> Vocabulary::find(std::string_view text) const {
  const auto found = by_text_.find(text);
  return found == by_text_.end() ? std::nullopt : std::optional(found->second);
}
std::optional<std::string_view> Vocabulary::text(TokenId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::nullopt : std::optional(found->second);
}
void Vocabulary::reserve(std::size_t count) {
  by_text_.reserve(count);
  by_id_.reserve(count);
}

std::string normalised(const std::vector<Normaliser>& steps, std::string text) {
  const std::size_t before = text.size();
  for (const Normaliser& step : steps) {
    text = step(std::move(text));
    require_growth(before, text.size());
  }
  return text;
}

const std::string& byte_character(std::uint8_t byte) {
  return byte_characters().text[byte];
}
std::optional<std::uint8_t> byte_of_character(char32_t code) {
  const auto found = byte_characters().byte.find(code);
  return found == byte_characters().byte.end() ? std::nullopt : std::optional(found->second);
}
std::optional<std::uint8_t> byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const int high = hex_digit(token[3]);
  const int low = hex_digit(token[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<std::uint8_t>(high * 16 + low);
}
std::string token_of_byte(std::uint8_t byte) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  return {'<', '0', 'x', digits[byte >> 4U], digits[byte & 15U], '>'};
}

MatchFinder each_character(bool (*matches)(char32_t)) {
  return [matches](std::string_view text, const std::function<void(std::size_t, std::size_t)>& on_match) {
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint point = code_point_at(text, at);
      if (matches(point.value)) on_match(at, at + point.bytes);
      at += point.bytes;
    }
  };
}

namespace {

struct Cut {
  std::size_t begin;
  std::size_t end;
  bool matched;
};

/// The whole piece as matched and unmatched stretches.
void cut(std::string_view piece, const MatchFinder& matches, std::vector<Cut>& cuts) {
  std::size_t done = 0;
  matches(piece, [&](std::size_t begin, std::size_t end) {
    if (begin > done) cuts.push_back({done, begin, false});
    cuts.push_back({begin, end, true});
    done = end;
  });
  if (done < piece.size()) cuts.push_back({done, piece.size(), false});
}

void arrange(const std::vector<Cut>& cuts, SplitBehaviour behaviour, std::size_t offset,
             std::vector<Pieces::Span>& out) {
  const std::size_t first = out.size();
  bool previous_matched = false;
  for (const Cut& piece : cuts) {
    const Pieces::Span span{offset + piece.begin, offset + piece.end};
    const bool has_previous = out.size() > first;
    bool join = false;
    switch (behaviour) {
      case SplitBehaviour::removed:
        if (piece.matched) continue;
        break;
      case SplitBehaviour::isolated:
        break;
      case SplitBehaviour::merged_with_previous:
        join = has_previous && piece.matched && !previous_matched;
        break;
      case SplitBehaviour::merged_with_next:
        join = has_previous && !piece.matched && previous_matched;
        break;
      case SplitBehaviour::contiguous:
        join = has_previous && piece.matched == previous_matched;
        break;
    }
    if (join)
      out.back().end = span.end;
    else
      out.push_back(span);
    previous_matched = piece.matched;
  }
  out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                           [](const Pieces::Span& span) { return span.begin == span.end; }),
            out.end());
}

}  // namespace

void split_pieces(Pieces& pieces, const MatchFinder& matches, SplitBehaviour behaviour, bool invert) {
  std::vector<Pieces::Span> result;
  result.reserve(pieces.spans.size() * 2);
  std::vector<Cut> cuts;
  for (const Pieces::Span span : pieces.spans) {
    cuts.clear();
    cut(pieces.view(span), matches, cuts);
    if (invert)
      for (Cut& piece : cuts) piece.matched = !piece.matched;
    arrange(cuts, behaviour, span.begin, result);
  }
  pieces.spans = std::move(result);
}

}  // namespace luminal::io
