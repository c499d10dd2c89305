#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "luminal/io/pattern.h"

namespace luminal::io {

/// A set of characters in PCRE2's words: what stands between the brackets of a class, and patterns of one
/// character for what a class cannot hold.
struct CharacterSet {
  std::string members;
  std::vector<std::string> others;
  bool negated = false;

  void add(const CharacterSet& other);
  /// A pattern that matches one character of the set.
  std::string text() const;
};

/// Reads the sets of a pattern: classes in brackets, with classes inside and `&&` between, and escapes. `at`
/// is where the pattern is being read; what is read is behind it.
class SetReader {
 public:
  SetReader(const std::string& pattern, std::size_t& at, PatternDialect dialect,
            const std::function<bool(const std::string&)>& is_script)
      : in_(pattern), at_(at), dialect_(dialect), is_script_(is_script) {}

  /// A class, whose opening bracket was read.
  CharacterSet parse();
  /// An escape that stands for a set, as \s or \p{Greek}, if one begins here.
  std::optional<CharacterSet> named();
  /// A character that is given by its number, if one begins here, as PCRE2 writes it.
  std::optional<std::string> code();
  /// The character here, as it stands.
  std::string character();
  /// The members of \w.
  std::string word() const;

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  CharacterSet parse_open();
  bool posix(CharacterSet& set);
  void member(CharacterSet& set);
  std::string literal();
  std::string hex_digits(std::size_t from, std::size_t most) const;
  std::string hexadecimal_code();
  CharacterSet property(const std::string& name, bool negated) const;
  std::optional<CharacterSet> known(const std::string& name) const;

  const std::string& in_;
  std::size_t& at_;
  PatternDialect dialect_;
  const std::function<bool(const std::string&)>& is_script_;
  int depth_ = 0;
};

}  // namespace luminal::io
