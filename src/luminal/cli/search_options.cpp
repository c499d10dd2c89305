#include "luminal/cli/search_options.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "luminal/cli/graph_file.h"
#include "luminal/devices/devices.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

// What the signal's handler can reach.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);  // a second one ends the program
}

void draw(const SearchProgress& progress) {
  constexpr int width = 30;
  const double share = progress.budget > 0 ? std::min(1.0, progress.elapsed / progress.budget) : 0;
  const int filled = static_cast<int>(share * width);
  std::ostringstream line;
  line << "\r[" << std::string(static_cast<std::size_t>(filled), '#')
       << std::string(static_cast<std::size_t>(width - filled), '.') << "] " << std::fixed
       << std::setprecision(0) << progress.elapsed << " s, " << progress.candidates << " candidates, "
       << progress.doing;
  if (progress.best > 0)
    line << ", best " << std::setprecision(3) << progress.best * 1e3 << " ms (fast " << progress.fast * 1e3
         << " ms)";
  std::cerr << line.str() << "\x1b[K" << std::flush;
}

}  // namespace

void SearchOptions::add_to(CLI::App& command) {
  command.add_option("--device", device, "The device to compile for (default: the best)");
  command.add_option("--dim", dims, "A typical value of a dim, as NAME=NUMBER; may be repeated");
  command.add_flag("--search", search, "Search for the plan by measuring");
  command.add_option("--budget", budget, "Seconds that a search may take (default: 60)")
      ->check(CLI::PositiveNumber);
  command.add_option("--candidates", candidates, "Candidates that a search may time (default: any number)");
  command.add_option("--record", record, "Write all timings of the search to this file");
  command.add_option("--replay", replay, "Take all timings from this file: nothing is measured");
  command.add_flag("--no-cache", no_cache, "Neither use nor fill the cache");
}

CompileSession::CompileSession(const SearchOptions& given, std::string_view command)
    : given_(given), command_(command) {
  device_ = given.device.empty() ? best_device() : luminal::device(given.device);
  options_.tune_dims = dims_of(given.dims, command);
  options_.cache = !given.no_cache;
  if (!given.search) {
    if (!given.record.empty() || !given.replay.empty())
      throw Error(cat(command, ": --record and --replay need --search"));
    return;
  }
  options_.mode = Mode::search;
  options_.budget = std::chrono::duration<double>(given.budget);
  options_.candidates = given.candidates;
  options_.cancel = &interrupted;
  interrupted = false;
  std::signal(SIGINT, on_interrupt);
  if (!given.record.empty()) options_.record = &record_;
  if (!given.replay.empty()) {
    replay_ = TimingRecord::parse(read_file(given.replay, command));
    options_.replay = &*replay_;
  }
  if (::isatty(STDERR_FILENO) != 0)
    options_.progress = [this](const SearchProgress& progress) {
      draw(progress);
      drawn_ = true;
    };
}

CompileSession::~CompileSession() {
  if (given_.search) std::signal(SIGINT, SIG_DFL);
}

void CompileSession::finish() {
  if (drawn_) std::cerr << '\n';
  if (options_.record != nullptr) write_file(given_.record, record_.text(), command_);
}

}  // namespace luminal::cli
