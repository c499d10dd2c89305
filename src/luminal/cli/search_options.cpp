#include "luminal/cli/search_options.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
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

constexpr double most_seconds = 1e6;

/// What is wrong with a budget; empty if nothing is.
std::string problem_of_budget(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  const bool right = !word.empty() && *end == '\0' && value > 0 && value <= most_seconds;
  return right ? "" : cat(in_quotes(word), " is no number of seconds above 0 and up to 1000000");
}

}  // namespace

void draw_progress(const SearchProgress& progress) {
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

void add_budget(CLI::App& command, const std::string& name, std::optional<double>& budget,
                const std::string& help) {
  command.add_option(name, budget, help)->check(CLI::Validator(problem_of_budget, "SECONDS"));
}

void require_search(bool search, std::initializer_list<std::pair<const char*, bool>> given,
                    std::string_view command) {
  for (const auto& [name, is_given] : given)
    if (is_given && !search) throw Error(cat(command, ": ", name, " needs --search"));
}

void SearchOptions::add_to(CLI::App& command) {
  command.add_option("--device", device, "The device to compile for (default: the best)");
  command.add_option("--dim", dims, "A typical value of a dim, as NAME=NUMBER; may be repeated");
  command.add_flag("--search", search, "Search for the plan by measuring");
  add_budget(command, "--budget", budget, "Seconds that a search may take (default: 60)");
  command
      .add_option("--candidates", candidates, "Candidates that a search may time (default: 0, any number)")
      ->check(CLI::Validator(
          [](const std::string& word) {
            const bool right = !word.empty() && word.size() <= 9 &&
                               word.find_first_not_of("0123456789") == std::string::npos;
            return right ? "" : cat(in_quotes(word), " is no whole number from 0 to 999999999");
          },
          "NUMBER"));
  command.add_option("--record", record, "Write all timings of the search to this file");
  command.add_option("--replay", replay, "Take all timings from this file: nothing is measured");
  command.add_flag("--no-cache", no_cache, "Neither use nor fill the cache");
}

CompileSession::CompileSession(const SearchOptions& given, std::string_view command)
    : given_(given), record_file_(given.record, command) {
  require_search(given.search,
                 {{"--budget", given.budget.has_value()},
                  {"--candidates", given.candidates.has_value()},
                  {"--record", !given.record.empty()},
                  {"--replay", !given.replay.empty()}},
                 command);
  device_ = given.device.empty() ? best_device() : luminal::device(given.device);
  options_.tune_dims = dims_of(given.dims, command);
  options_.cache = !given.no_cache;
  if (!given.search) return;
  options_.mode = Mode::search;
  if (given.budget) options_.budget = std::chrono::duration<double>(*given.budget);
  options_.candidates = given.candidates.value_or(0);
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
      draw_progress(progress);
      drawn_ = true;
    };
}

CompileSession::~CompileSession() {
  if (given_.search) std::signal(SIGINT, SIG_DFL);
}

void CompileSession::finish(const Executable& exe) {
  if (given_.search) std::signal(SIGINT, SIG_DFL);
  if (drawn_) std::cerr << '\n';
  if (interrupted && exe.search_report() != nullptr)
    std::cerr
        << "the search was interrupted: this is the best plan it knew, and the cache does not keep it\n";
  if (options_.record != nullptr) record_file_.write(record_.text());
}

}  // namespace luminal::cli
