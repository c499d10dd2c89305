#pragma once
#include <string>
#include <string_view>

namespace luminal::cli {

/// A file that a command will write when its work is done. That it can be written is known before: `Error`
/// naming `command` if not. Regular files hold all of the old or all of the new content, whatever happens;
/// others, as /dev/stdout, are written to at the end.
class OutputFile {
 public:
  /// No file if `path` is empty: writing does nothing then.
  OutputFile(std::string path, std::string_view command);
  bool is_wanted() const { return !path_.empty(); }
  void write(std::string_view content) const;
  /// What there is until now, if the file can be replaced later.
  void write_part(std::string_view content) const;

 private:
  /// One of ours, which may lead to a file that is not to be replaced.
  bool is_stream() const;
  [[noreturn]] void refuse() const;

  std::string path_;
  std::string command_;
  bool is_regular_ = true;
};

}  // namespace luminal::cli
