#include <cstring>
#include <vector>

#include "luminal/io/tokenizer_steps.h"
#include "luminal/io/unicode.h"
#include "luminal/io/utf8.h"

namespace luminal::io {
namespace {

/// SentencePiece's compiled character map: a double-array trie from byte strings to places in a list of
/// texts.
class CharacterMap {
 public:
  CharacterMap(std::string_view blob, const std::string& where) {
    std::uint32_t trie_bytes = 0;
    if (blob.size() < sizeof trie_bytes)
      throw Error(cat(where, ": the character map has ", blob.size(), " bytes"));
    std::memcpy(&trie_bytes, blob.data(), sizeof trie_bytes);
    if (trie_bytes > blob.size() - sizeof trie_bytes || trie_bytes % 4 != 0)
      throw Error(
          cat(where, ": the character map's trie of ", trie_bytes, " bytes does not fit in ", blob.size()));
    units_.resize(trie_bytes / 4);
    if (trie_bytes > 0) std::memcpy(units_.data(), blob.data() + sizeof trie_bytes, trie_bytes);
    texts_ = blob.substr(sizeof trie_bytes + trie_bytes);
  }

  /// That no walk of a reader which checks nothing leaves the trie or the texts.
  void require_closed(const std::string& where) const {
    const auto require = [&](bool holds, const char* what) {
      if (!holds) throw Error(cat(where, ": the character map is broken: ", what));
    };
    require(!units_.empty() && !texts_.empty() && texts_.back() == '\0', "its trie or its texts are cut");
    std::vector<bool> seen(units_.size());
    std::vector<std::size_t> open = {offset(units_[0])};
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      require((node | 0xFFU) < units_.size(), "a place lies outside its trie");
      if (seen[node]) continue;
      seen[node] = true;
      for (std::size_t byte = 0; byte < 256; ++byte) {
        const std::uint32_t unit = units_[node ^ byte];
        if ((unit & (1U << 31U | 0xFFU)) != byte) continue;
        const std::size_t next = node ^ byte ^ offset(unit);
        require(next < units_.size(), "a place lies outside its trie");
        if ((unit >> 8U & 1U) == 1U)
          require((units_[next] & ((1U << 31U) - 1U)) < texts_.size(), "an entry lies outside its texts");
        open.push_back(next);
      }
    }
  }

  /// What the first of the entries that `key` begins with is replaced by.
  std::optional<std::string_view> find(std::string_view key) const {
    if (units_.empty()) return std::nullopt;
    std::size_t at = offset(units_[0]);
    for (const char c : key) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte == 0) return std::nullopt;
      at ^= byte;
      if (at >= units_.size() || (units_[at] & (1U << 31U | 0xFFU)) != byte) return std::nullopt;
      const std::uint32_t unit = units_[at];
      at ^= offset(unit);
      if ((unit >> 8U & 1U) == 1U) {
        if (at >= units_.size()) return std::nullopt;
        return text_at(units_[at] & ((1U << 31U) - 1U));
      }
    }
    return std::nullopt;
  }

 private:
  static std::size_t offset(std::uint32_t unit) { return (unit >> 10U) << ((unit & (1U << 9U)) >> 6U); }
  std::optional<std::string_view> text_at(std::size_t start) const {
    if (start >= texts_.size()) return std::nullopt;
    const std::size_t end = texts_.find('\0', start);
    return std::string_view(texts_).substr(start, end == std::string::npos ? end : end - start);
  }

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

/// Short graphemes are looked up whole, then every character of those that were not found.
std::string apply(const CharacterMap& map, const std::string& text) {
  std::string result;
  const auto add = [&](std::string_view grapheme) {
    if (grapheme.size() < 6)
      if (const auto replacement = map.find(grapheme)) {
        result += *replacement;
        return require_growth(text.size(), result.size());
      }
    for (std::size_t at = 0; at < grapheme.size();) {
      const std::size_t size = code_point_at(grapheme, at).bytes;
      result += map.find(grapheme.substr(at, size)).value_or(grapheme.substr(at, size));
      at += size;
    }
    require_growth(text.size(), result.size());
  };
  std::size_t start = 0;
  std::int32_t state = 0;
  char32_t previous = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (at > start && grapheme_break(previous, point.value, state)) {
      add(std::string_view(text).substr(start, at - start));
      start = at;
    }
    previous = point.value;
    at += point.bytes;
  }
  add(std::string_view(text).substr(start));
  return result;
}

}  // namespace

std::string decode_base64(std::string_view text, const std::string& where) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  if (text.size() % 4 != 0)
    throw Error(cat(where, ": base64 text of ", text.size(), " characters: expected a multiple of 4"));
  std::string result;
  result.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const std::size_t value = digits.find(c);
    if (value == std::string_view::npos)
      throw Error(cat(where, ": bad base64 character ", luminal::in_quotes(std::string(1, c))));
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      result.push_back(static_cast<char>(bits >> static_cast<unsigned>(held) & 0xFFU));
    }
  }
  return result;
}

void require_character_map(std::string_view blob, const std::string& where) {
  CharacterMap(blob, where).require_closed(where);
}

Normaliser precompiled_normaliser(const std::string& base64, const std::string& where) {
  const auto map = std::make_shared<const CharacterMap>(decode_base64(base64, where), where);
  return [map](const std::string& text) { return apply(*map, text); };
}

}  // namespace luminal::io
