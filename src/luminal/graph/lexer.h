#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace luminal {

/// Reads one line of the text format from left to right. Every refusal is an `Error` that names line and
/// column.
class Lexer {
 public:
  Lexer(std::string_view line, std::size_t number) : text_(line), number_(number) {}

  bool at_end();
  bool at(std::string_view token);
  /// Takes `token` if it comes next.
  bool take(std::string_view token);
  void expect(std::string_view token);
  /// A word of letters, digits and underscores.
  std::string word();
  std::uint64_t natural(std::uint64_t limit);
  /// A string in double quotes.
  std::string string();
  /// The text up to the closing bracket that matches an already taken opening one, which is taken too.
  std::string_view until_closing(char open, char close);
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  void skip_spaces();
  char escape();
  std::string_view text_;
  std::size_t number_;
  std::size_t position_ = 0;
};

/// The parts of `text` between commas that stand outside brackets and quotes, without surrounding spaces;
/// none for blank text.
std::vector<std::string_view> split_arguments(std::string_view text);

}  // namespace luminal
