#include "luminal/io/added_tokens.h"

#include <algorithm>

#include "luminal/io/unicode.h"
#include "luminal/io/utf8.h"

namespace luminal::io {
namespace {

/// The start of the last character before `end`.
std::size_t previous_start(std::string_view text, std::size_t end) {
  std::size_t start = end - 1;
  while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U) --start;
  return start;
}

bool word_before(std::string_view text, std::size_t at) {
  return at > 0 && is_word(code_point_at(text, previous_start(text, at)).value);
}
bool word_after(std::string_view text, std::size_t at) {
  return at < text.size() && is_word(code_point_at(text, at).value);
}

}  // namespace

void AddedTokens::add(const AddedToken& token) {
  const std::string& pattern = token.pattern.empty() ? token.text : token.pattern;
  if (pattern.empty()) return;
  by_id_.emplace(token.id, tokens_.size());
  Trie& trie = tries_[token.normalised ? 1 : 0];
  std::uint32_t node = 0;
  for (const char c : pattern) {
    const auto next = static_cast<std::uint32_t>(trie.children.size());
    const auto [place, is_new] = trie.children[node].emplace(c, next);
    node = place->second;
    if (is_new) {
      trie.children.emplace_back();
      trie.token.push_back(-1);
    }
  }
  if (trie.token[node] < 0) trie.token[node] = static_cast<std::int32_t>(tokens_.size());
  trie.first[static_cast<unsigned char>(pattern.front())] = true;
  tokens_.push_back(token);
}

const AddedToken* AddedTokens::find(std::int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}
const AddedToken* AddedTokens::find(std::string_view text) const {
  const auto found = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const AddedToken& token) { return token.text == text; });
  return found == tokens_.end() ? nullptr : &*found;
}
bool AddedTokens::is_special(std::int32_t id) const {
  const AddedToken* token = find(id);
  return token != nullptr && token->special;
}

/// Takes in the spaces around a token that asks for it.
void AddedTokens::extend(const AddedToken& token, TextPart& match, std::string_view text,
                         std::size_t done) const {
  while (token.strip_left && match.begin > done) {
    const std::size_t start = previous_start(text, match.begin);
    if (!is_space(code_point_at(text, start).value)) break;
    match.begin = start;
  }
  if (token.strip_left) match.begin = std::max(match.begin, done);
  while (token.strip_right && match.end < text.size()) {
    const CodePoint next = code_point_at(text, match.end);
    if (!is_space(next.value)) break;
    match.end += next.bytes;
  }
}

std::vector<TextPart> AddedTokens::split(std::string_view text, bool normalised) const {
  const Trie& trie = tries_[normalised ? 1 : 0];
  std::vector<TextPart> parts;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (!trie.first[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    std::int32_t best = -1;
    std::size_t best_end = at;
    std::uint32_t node = 0;
    for (std::size_t i = at; i < text.size(); ++i) {
      const auto child = trie.children[node].find(text[i]);
      if (child == trie.children[node].end()) break;
      node = child->second;
      if (trie.token[node] >= 0) {
        best = trie.token[node];
        best_end = i + 1;
      }
    }
    if (best < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(best)];
    TextPart match{at, best_end, token.id};
    at = best_end;
    if (token.single_word && (word_before(text, match.begin) || word_after(text, match.end))) continue;
    extend(token, match, text, done);
    if (match.begin > done) parts.push_back({done, match.begin, -1});
    if (match.begin < match.end) parts.push_back(match);
    // The next token is looked for where this one's text ends: blanks that it took in may be one too, unless
    // they would be taken from it again.
    done = match.end;
  }
  if (done < text.size()) parts.push_back({done, text.size(), -1});
  return parts;
}

}  // namespace luminal::io
