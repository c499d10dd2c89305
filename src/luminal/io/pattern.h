#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace luminal::io {

/// Which engine a pattern was written for: they differ in what a word character is.
enum class PatternDialect : unsigned char { oniguruma, rust };

/// A compiled regular expression over UTF-8, as the tokenizers of this field write them. Matching is bounded:
/// a pattern that backtracks without end is an `Error`. Thread-safe to share.
class Pattern {
 public:
  /// `Error` with the pattern and the place if it does not compile, or if this build has no PCRE2.
  explicit Pattern(const std::string& expression, PatternDialect dialect = PatternDialect::oniguruma);
  /// Matches this text and nothing else.
  static Pattern literal(const std::string& text);

  /// Calls `on_match(begin, end)` for every match in `text`, left to right. A match may be empty, but
  /// not where the one before it ended.
  void each_match(std::string_view text, const std::function<void(std::size_t, std::size_t)>& on_match) const;
  std::string replace_all(std::string_view text, std::string_view by) const;

 private:
  Pattern() = default;
  std::string literal_;
  std::shared_ptr<const void> code_;  // null: a literal
};

}  // namespace luminal::io
