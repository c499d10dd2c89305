#pragma once
#include <cstdint>
#include <source_location>
#include <string>

namespace luminal {

/// A line of the user's program. Functions that build nodes take one as their last, defaulted argument, so
/// errors can name the call that caused them. A foreign front end (Python) passes its own frame; `file` must
/// outlive every use.
struct Location {
  const char* file = "";
  std::uint32_t line = 0;

  Location() = default;
  Location(const char* file_, std::uint32_t line_) : file(file_), line(line_) {}
  Location(const std::source_location& where) : file(where.file_name()), line(where.line()) {}

  /// The place of the call that this default argument belongs to.
  static Location current(const std::source_location& where = std::source_location::current()) {
    return where;
  }

  bool known() const { return line != 0; }
  /// "file.cpp:12", with the file's last component only.
  std::string short_form() const;
};

}  // namespace luminal
