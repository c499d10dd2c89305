#include "luminal/egraph/sexpr.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "luminal/support/text.h"

namespace luminal::egraph {
namespace {

constexpr std::size_t deepest_nesting = 4000;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

template <typename T>
std::optional<T> whole_number(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Sexpr> read() {
    std::vector<Sexpr> done;
    std::vector<Sexpr> open;
    for (skip_blank(); position_ < text_.size(); skip_blank()) {
      const Span span = here();
      const char c = text_[position_];
      if (c == '(') {
        if (open.size() >= deepest_nesting)
          throw ProgramError("parse error: lists are nested too deeply", span);
        Sexpr list;
        list.span = span;
        open.push_back(std::move(list));
        advance();
        continue;
      }
      Sexpr item;
      if (c == ')') {
        if (open.empty()) throw ProgramError("parse error: unexpected `)`", span);
        item = std::move(open.back());
        open.pop_back();
        advance();
      } else {
        item = c == '"' ? read_text() : read_word();
      }
      (open.empty() ? done : open.back().items).push_back(std::move(item));
    }
    if (!open.empty()) throw ProgramError("parse error: unexpected end of file", here());
    return done;
  }

 private:
  Span here() const { return {line_, column_}; }

  void advance() {
    if (text_[position_] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
    ++position_;
  }

  void skip_blank() {
    bool comment = false;
    for (; position_ < text_.size(); advance()) {
      const char c = text_[position_];
      if (c == ';') comment = true;
      if (c == '\n') comment = false;
      if (!comment && !is_space(c)) return;
    }
  }

  Sexpr read_text() {
    Sexpr item;
    item.kind = Sexpr::Kind::literal;
    item.span = here();
    std::string content;
    for (advance(); position_ < text_.size() && text_[position_] != '"'; advance()) {
      char c = text_[position_];
      if (c == '\\') {
        advance();
        if (position_ >= text_.size()) break;
        c = escaped(text_[position_]);
      }
      content.push_back(c);
    }
    if (position_ >= text_.size()) throw ProgramError("parse error: string is missing end quote", item.span);
    advance();
    item.literal = std::move(content);
    return item;
  }

  char escaped(char c) const {
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case '\\':
      case '"':
        return c;
      default:
        throw ProgramError(cat("parse error: unrecognized escape character ", c), here());
    }
  }

  Sexpr read_word() {
    Sexpr item;
    item.span = here();
    const std::size_t start = position_;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (is_space(c) || c == ';' || c == '(' || c == ')') break;
      advance();
    }
    const std::string_view word = text_.substr(start, position_ - start);
    item.kind = Sexpr::Kind::literal;
    if (word == "true" || word == "false") {
      item.literal = word == "true";
    } else if (const auto integer = whole_number<std::int64_t>(word)) {
      item.literal = *integer;
    } else if (word == "NaN" || word == "inf" || word == "-inf") {
      const double infinity = std::numeric_limits<double>::infinity();
      item.literal = word == "NaN" ? std::nan("") : word == "inf" ? infinity : -infinity;
    } else if (const auto real = whole_number<double>(word); real && std::isfinite(*real)) {
      item.literal = *real;
    } else {
      item.kind = Sexpr::Kind::symbol;
      item.symbol = std::string(word);
    }
    return item;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
};

}  // namespace

std::vector<Sexpr> read_sexprs(std::string_view text) {
  return Reader(text).read();
}

}  // namespace luminal::egraph
