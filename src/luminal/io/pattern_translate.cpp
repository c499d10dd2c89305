#include "luminal/io/pattern_translate.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "luminal/io/pattern_set.h"

namespace luminal::io {
namespace {

class Translator {
 public:
  Translator(const std::string& expression, PatternDialect dialect,
             const std::function<bool(const std::string&)>& is_script)
      : in_(expression), sets_(in_, at_, dialect, is_script), rust_(dialect == PatternDialect::rust) {}

  std::string run() {
    while (at_ < in_.size()) step();
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  bool starts(std::string_view text) const { return std::string_view(in_).substr(at_).starts_with(text); }
  void emit(std::string_view text) {
    atom_ = out_.size();
    out_ += text;
  }

  void step() {
    switch (peek()) {
      case '\\':
        return escape();
      case '[': {
        ++at_;
        return emit(sets_.parse().text());
      }
      case '(':
        return open_group();
      case ')':
        ++at_;
        out_ += ')';
        if (groups_.empty()) return;
        atom_ = groups_.back();
        groups_.pop_back();
        return;
      case '*':
      case '+':
      case '?':
        out_ += in_[at_++];
        return;
      case '{':
        return interval();
      default:
        emit(sets_.character());
    }
  }

  void open_group() {
    if (starts("(?#")) {
      at_ = std::min(in_.find(')', at_), in_.size() - 1) + 1;
      return;
    }
    const std::size_t begin = out_.size();
    if (starts("(?")) {
      std::size_t end = at_ + 2;
      while (end < in_.size() && std::string_view("imx-").find(in_[end]) != std::string_view::npos) ++end;
      const bool options = end > at_ + 2 && end < in_.size() && (in_[end] == ':' || in_[end] == ')');
      if (options) {
        for (; at_ <= end; ++at_) out_ += !rust_ && in_[at_] == 'm' ? 's' : in_[at_];
        if (in_[end] == ':') groups_.push_back(begin);
        return;
      }
    }
    groups_.push_back(begin);
    out_ += in_[at_++];
    if (peek() == '?') out_ += in_[at_++];
  }

  std::string digits() {
    std::string result;
    while (std::isdigit(static_cast<unsigned char>(peek())) != 0) result += in_[at_++];
    return result;
  }

  // Anything else that begins with a brace stands for itself.
  void interval() {
    const std::size_t begin = at_++;
    const std::string least = digits();
    const bool range = peek() == ',';
    if (range) ++at_;
    const std::string most = range ? digits() : "";
    if (peek() != '}' || (least.empty() && most.empty())) {
      at_ = begin + 1;
      return emit("\\{");
    }
    ++at_;
    out_ += "{" + (least.empty() ? "0" : least) + (range ? "," + most : "") + "}";
    const bool repeats = peek() == '+' || (peek() == '?' && !range);
    if (rust_ || !repeats || atom_ > out_.size()) return;
    out_.insert(atom_, "(?:");
    out_ += ')';
    out_ += in_[at_++];
  }

  void escape() {
    const char c = peek(1);
    if (const auto set = sets_.named()) return emit(set->text());
    if (const auto code = sets_.code()) return emit(*code);
    if (c == 'b' || c == 'B') {
      const std::string is = "[" + sets_.word() + "]";
      const std::string edge = "(?<=" + is + ")(?!" + is + ")|(?<!" + is + ")(?=" + is + ")";
      emit(c == 'b' ? "(?:" + edge + ")" : "(?!" + edge + ")");
      at_ += 2;
      return;
    }
    if (c == 'O' && !rust_) {
      at_ += 2;
      return emit("(?s:.)");
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {  // an octal code, or a group's number
      ++at_;
      return emit("\\" + digits());
    }
    ++at_;
    if (c == 'c') {
      const std::string letter = sets_.character();
      return emit("\\" + letter + sets_.character());
    }
    // Letters that mean something to PCRE2 alone.
    const bool plain = !rust_ && std::string_view("EFIJLQTUVijlmopqP").find(c) != std::string_view::npos;
    emit((plain ? "" : "\\") + sets_.character());
  }

  const std::string& in_;
  std::size_t at_ = 0;
  SetReader sets_;
  bool rust_;
  std::string out_;
  std::size_t atom_ = 0;
  std::vector<std::size_t> groups_;
};

}  // namespace

std::string translate_pattern(const std::string& expression, PatternDialect dialect,
                              const std::function<bool(const std::string&)>& is_script) {
  return Translator(expression, dialect, is_script).run();
}

}  // namespace luminal::io
