#pragma once
#include <cstddef>
#include <string>

namespace luminal::cli {

/// A progress bar on stderr, drawn only if that is a terminal.
class Progress {
 public:
  Progress(std::string what, std::size_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Ends the line.
  ~Progress();
  void show(std::size_t done, const std::string& now);

 private:
  std::string what_;
  std::size_t total_;
  bool terminal_;
};

}  // namespace luminal::cli
