#include "luminal/graph/lexer.h"

#include <cctype>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Follows brackets and quotes, so that commas and closers inside them are passed over.
class Nesting {
 public:
  void step(char c) {
    if (in_string_) {
      if (escaped_)
        escaped_ = false;
      else if (c == '\\')
        escaped_ = true;
      else if (c == '"')
        in_string_ = false;
      return;
    }
    if (c == '"') in_string_ = true;
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') --depth_;
  }
  bool outside() const { return depth_ == 0 && !in_string_; }

 private:
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace

void Lexer::fail(const std::string& problem) const {
  throw Error(cat("graph text, line ", number_, ", column ", position_ + 1, ": ", problem));
}

void Lexer::skip_spaces() {
  while (position_ < text_.size() && text_[position_] == ' ') ++position_;
}

bool Lexer::at_end() {
  skip_spaces();
  return position_ == text_.size();
}

bool Lexer::at(std::string_view token) {
  skip_spaces();
  if (text_.substr(position_, token.size()) != token) return false;
  const std::size_t end = position_ + token.size();
  return !is_word(token.back()) || end >= text_.size() || !is_word(text_[end]);
}

bool Lexer::take(std::string_view token) {
  if (!at(token)) return false;
  position_ += token.size();
  return true;
}

void Lexer::expect(std::string_view token) {
  if (!take(token)) fail(cat("expected '", token, "'", at_end() ? ", but the line ends" : ""));
}

std::string Lexer::word() {
  skip_spaces();
  const std::size_t start = position_;
  while (position_ < text_.size() && is_word(text_[position_])) ++position_;
  if (position_ == start) fail("expected a word");
  return std::string(text_.substr(start, position_ - start));
}

std::uint64_t Lexer::natural(std::uint64_t limit) {
  skip_spaces();
  const std::size_t start = position_;
  std::uint64_t value = 0;
  while (position_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[position_])) != 0) {
    const auto digit = static_cast<std::uint64_t>(text_[position_] - '0');
    if (value > (limit - digit) / 10) fail(cat("the number exceeds ", limit));
    value = value * 10 + digit;
    ++position_;
  }
  if (position_ == start) fail("expected a number");
  return value;
}

char Lexer::escape() {
  const char c = position_ < text_.size() ? text_[position_++] : '\0';
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case '"':
    case '\\':
      return c;
    case 'u': {
      const auto digits = text_.substr(position_, 4);
      int value = 0;
      for (const char digit : digits) {
        if (std::isxdigit(static_cast<unsigned char>(digit)) == 0) fail("expected four hexadecimal digits");
        value = value * 16 + (digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
      }
      if (digits.size() != 4 || value >= 0x20) fail("\\u stands for control characters below 0020 only");
      position_ += 4;
      return static_cast<char>(value);
    }
    default:
      fail("unknown escape in a string");
  }
}

std::string Lexer::string() {
  expect("\"");
  std::string value;
  while (position_ < text_.size() && text_[position_] != '"') {
    const char c = text_[position_++];
    value += c == '\\' ? escape() : c;
  }
  if (position_ == text_.size()) fail("a string has no closing quote");
  ++position_;
  return value;
}

std::string_view Lexer::until_closing(char open, char close) {
  const std::size_t start = position_;
  Nesting nesting;
  nesting.step(open);
  while (position_ < text_.size()) {
    nesting.step(text_[position_++]);
    if (nesting.outside()) {
      if (text_[position_ - 1] != close) break;
      return text_.substr(start, position_ - 1 - start);
    }
  }
  fail(cat("'", open, "' has no '", close, "'"));
}

std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  if (trimmed(text).empty()) return parts;
  Nesting nesting;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    nesting.step(text[i]);
    if (text[i] != ',' || !nesting.outside()) continue;
    parts.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  parts.push_back(trimmed(text.substr(start)));
  return parts;
}

}  // namespace luminal
