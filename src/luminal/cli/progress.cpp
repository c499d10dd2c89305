#include "luminal/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace luminal::cli {

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)),
      total_(std::max<std::size_t>(total, 1)),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_) std::cerr << '\n';
}

void Progress::show(std::size_t done, const std::string& now) {
  if (!terminal_) return;
  constexpr std::size_t width = 30;
  const std::size_t filled = std::min(done, total_) * width / total_;
  std::cerr << '\r' << what_ << " [" << std::string(filled, '#') << std::string(width - filled, '.') << "] "
            << done << '/' << total_ << ' ' << now.substr(0, 40) << "\x1b[K" << std::flush;
}

}  // namespace luminal::cli
