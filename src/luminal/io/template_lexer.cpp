#include <algorithm>

#include "luminal/io/template_syntax.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  Lexer(std::string_view source, const std::string& file) : file_(file) {
    for (std::size_t i = 0; i < source.size(); ++i) {  // line ends become \n, and the last one goes
      if (source[i] == '\r') {
        source_ += '\n';
        if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
      } else {
        source_ += source[i];
      }
    }
    if (source_.ends_with('\n')) source_.pop_back();
  }

  std::vector<TemplateToken> run() {
    while (at_ < source_.size()) {
      const std::size_t tag = next_tag();
      add_text(tag);
      if (tag == source_.size()) break;
      if (source_[tag + 1] == '#')
        comment();
      else if (!raw_block())
        code(source_[tag + 1] == '%');
    }
    tokens_.push_back({TokenKind::end, "", line_});
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why, std::size_t line) const {
    throw Error(cat(file_, ": line ", line, ": ", why));
  }

  std::size_t next_tag() const {
    for (std::size_t i = at_; i + 1 < source_.size(); ++i)
      if (source_[i] == '{' && (source_[i + 1] == '{' || source_[i + 1] == '%' || source_[i + 1] == '#'))
        return i;
    return source_.size();
  }

  void advance(std::size_t to) {
    line_ += static_cast<std::size_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                 source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
  }

  /// The text up to a tag, less what the tags on both sides strip.
  void add_text(std::size_t tag) {
    std::string text = source_.substr(at_, tag - at_);
    const std::size_t line = line_;
    const bool starts_line = at_ == 0 || source_[at_ - 1] == '\n';
    advance(tag);
    const char mark = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    if (tag < source_.size() && mark == '-') {
      while (!text.empty() && is_blank(text.back())) text.pop_back();
    } else if (tag < source_.size() && source_[tag + 1] != '{' && mark != '+') {
      const std::size_t end = text.find_last_not_of(" \t\v\f");
      const bool alone = end == std::string::npos ? starts_line || trimmed_line_ : text[end] == '\n';
      if (alone) text.resize(end == std::string::npos ? 0 : end + 1);
    }
    if (strip_next_)
      text.erase(
          0, static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_blank) - text.begin()));
    strip_next_ = trimmed_line_ = false;
    if (!text.empty()) tokens_.push_back({TokenKind::text, std::move(text), line});
  }

  /// After a tag: "-" strips all blanks, a block's line end goes unless "+" stands there.
  void after_tag(char mark, bool trims) {
    strip_next_ = mark == '-';
    if (trims && mark != '+' && mark != '-' && at_ < source_.size() && source_[at_] == '\n') {
      advance(at_ + 1);
      trimmed_line_ = true;
    }
  }

  void comment() {
    const std::size_t end = source_.find("#}", at_ + 2);
    if (end == std::string::npos) refuse("a comment '{#' is not closed", line_);
    const char mark = end > at_ + 2 ? source_[end - 1] : '\0';
    advance(end + 2);
    after_tag(mark == '-' || mark == '+' ? mark : '\0', true);
  }

  /// `{% raw %} … {% endraw %}`: the text between as it is.
  bool raw_block() {
    const auto word_at = [&](std::size_t i, std::string_view word, std::size_t& end, char& mark) {
      if (source_.compare(i, 2, "{%") != 0) return false;
      i += 2;
      if (i < source_.size() && (source_[i] == '-' || source_[i] == '+')) ++i;
      while (i < source_.size() && is_blank(source_[i])) ++i;
      if (source_.compare(i, word.size(), word) != 0) return false;
      i += word.size();
      while (i < source_.size() && is_blank(source_[i])) ++i;
      mark = i < source_.size() ? source_[i] : '\0';
      if (mark == '-' || mark == '+') ++i;
      end = i + 2;
      return source_.compare(i, 2, "%}") == 0;
    };
    std::size_t begin = 0, end = 0;
    char mark = '\0';
    if (!word_at(at_, "raw", begin, mark)) return false;
    const std::size_t line = line_;
    advance(begin);
    after_tag(mark, false);
    for (std::size_t i = source_.find("{%", at_); i != std::string::npos; i = source_.find("{%", i + 2)) {
      if (!word_at(i, "endraw", end, mark)) continue;
      add_text(i);
      advance(end);
      after_tag(mark, true);
      return true;
    }
    refuse("'{% raw %}' is not closed", line);
  }

  void code(bool is_block) {
    const std::size_t line = line_;
    const std::string_view close = is_block ? "%}" : "}}";
    tokens_.push_back({is_block ? TokenKind::block_begin : TokenKind::print_begin, "", line});
    advance(at_ + 2);
    if (at_ < source_.size() && (source_[at_] == '-' || source_[at_] == '+')) advance(at_ + 1);
    std::string brackets;
    for (;;) {
      while (at_ < source_.size() && is_blank(source_[at_])) advance(at_ + 1);
      if (at_ >= source_.size()) refuse(cat("'", is_block ? "{%" : "{{", "' is not closed"), line);
      const char mark = source_[at_] == '-' || source_[at_] == '+' ? source_[at_] : '\0';
      const std::size_t closing = at_ + (mark == '\0' ? 0 : 1);
      if (brackets.empty() && source_.compare(closing, 2, close) == 0) {
        tokens_.push_back({is_block ? TokenKind::block_end : TokenKind::print_end, "", line_});
        advance(closing + 2);
        return after_tag(mark, is_block);
      }
      token(brackets);
    }
  }

  void token(std::string& brackets) {
    const char c = source_[at_];
    const std::size_t line = line_;
    std::size_t end = at_ + 1;
    if (is_letter(c)) {
      while (end < source_.size() && (is_letter(source_[end]) || is_digit(source_[end]))) ++end;
      tokens_.push_back({TokenKind::name, source_.substr(at_, end - at_), line});
    } else if (is_digit(c)) {
      return number();
    } else if (c == '\'' || c == '"') {
      return string();
    } else {
      static constexpr std::string_view pairs[] = {"**", "//", "==", "!=", "<=", ">="};
      if (std::any_of(std::begin(pairs), std::end(pairs),
                      [&](auto pair) { return source_.compare(at_, 2, pair) == 0; }))
        ++end;
      else if (std::string_view("+-*/%~<>=.,:|()[]{}").find(c) == std::string_view::npos)
        refuse(cat("the character ", luminal::in_quotes(std::string(1, c)), " was not expected"), line);
      if (c == '(' || c == '[' || c == '{') brackets += c;
      if ((c == ')' || c == ']' || c == '}') && !brackets.empty()) brackets.pop_back();
      tokens_.push_back({TokenKind::symbol, source_.substr(at_, end - at_), line});
    }
    advance(end);
  }

  /// 0x1F, 0o17, 0b11: kept with their prefix, in lower case.
  bool prefixed_number() {
    const std::string_view rest = std::string_view(source_).substr(at_);
    const char kind = rest.size() > 2 && rest[0] == '0' ? static_cast<char>(rest[1] | 0x20) : '\0';
    const int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
    if (base == 0) return false;
    std::string text{'0', kind};
    std::size_t end = 2;
    for (; end < rest.size(); ++end) {
      const char c = static_cast<char>(is_digit(rest[end]) ? rest[end] : rest[end] | 0x20);
      const int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
      if (rest[end] == '_' && end + 1 < rest.size()) continue;
      if (digit >= base) break;
      text += c;
    }
    if (text.size() < 3) return false;
    tokens_.push_back({TokenKind::integer, std::move(text), line_});
    advance(at_ + end);
    return true;
  }

  void number() {
    if (prefixed_number()) return;
    std::size_t end = at_;
    bool real = false;
    while (end < source_.size() && (is_digit(source_[end]) || source_[end] == '_')) ++end;
    if (end + 1 < source_.size() && source_[end] == '.' && is_digit(source_[end + 1])) {
      real = true;
      for (++end; end < source_.size() && is_digit(source_[end]);) ++end;
    }
    if (end + 1 < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      std::size_t digits = end + 1;
      if (source_[digits] == '-' || source_[digits] == '+') ++digits;
      if (digits < source_.size() && is_digit(source_[digits])) {
        real = true;
        for (end = digits; end < source_.size() && is_digit(source_[end]);) ++end;
      }
    }
    std::string text = source_.substr(at_, end - at_);
    std::erase(text, '_');
    tokens_.push_back({real ? TokenKind::real : TokenKind::integer, std::move(text), line_});
    advance(end);
  }

  void string() {
    const char quote = source_[at_];
    const std::size_t line = line_;
    std::string text;
    std::size_t i = at_ + 1;
    for (; i < source_.size() && source_[i] != quote; ++i) {
      if (source_[i] != '\\' || i + 1 >= source_.size()) {
        text += source_[i];
        continue;
      }
      i = escape(i + 1, text, line);
    }
    if (i >= source_.size()) refuse("a string is not closed", line);
    tokens_.push_back({TokenKind::string, std::move(text), line});
    advance(i + 1);
  }

  /// The escape whose letter is at `i`; returns where it ends.
  std::size_t escape(std::size_t i, std::string& text, std::size_t line) const {
    static constexpr std::string_view letters = "ntr\\'\"abfv";
    static constexpr std::string_view meanings("\n\t\r\\'\"\a\b\f\v", 10);
    const char c = source_[i];
    if (const std::size_t at = letters.find(c); at != std::string_view::npos) {
      text += meanings[at];
      return i;
    }
    if (c >= '0' && c <= '7') {  // up to three octal digits
      char32_t code = 0;
      std::size_t length = 0;
      while (length < 3 && i + length < source_.size() && source_[i + length] >= '0' &&
             source_[i + length] <= '7')
        code = code * 8 + static_cast<char32_t>(source_[i + length++] - '0');
      append_utf8(text, code);
      return i + length - 1;
    }
    if (c == 'N') refuse("the escape '\\N' in a string is not supported", line);
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (c == '\n') return i;
    if (digits == 0) {
      text.append({'\\', c});
      return i;
    }
    char32_t code = 0;
    for (std::size_t k = 1; k <= digits; ++k) {
      const char d = i + k < source_.size() ? source_[i + k] : '\0';
      const char lower = static_cast<char>(d | 0x20);
      if (!is_digit(d) && !(lower >= 'a' && lower <= 'f'))
        refuse(cat("bad escape '\\", c, "' in a string"), line);
      code = code * 16 + static_cast<char32_t>(is_digit(d) ? d - '0' : lower - 'a' + 10);
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) refuse("an escape is not a character", line);
    append_utf8(text, code);
    return i + digits;
  }

  const std::string& file_;
  std::string source_;
  std::vector<TemplateToken> tokens_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool strip_next_ = false;
  bool trimmed_line_ = false;  // the line end before this text was taken by trim_blocks
};

}  // namespace

std::vector<TemplateToken> lex_template(std::string_view source, const std::string& file) {
  return Lexer(source, file).run();
}

}  // namespace luminal::io
