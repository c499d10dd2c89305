#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/cli/output_file.h"
#include "luminal/compile/executable.h"
#include "luminal/compile/options.h"
#include "luminal/compile/timing_record.h"

namespace luminal::cli {

/// The options of commands that compile: the device, dims, the search and its record, the cache.
struct SearchOptions {
  std::string device;
  std::vector<std::string> dims;
  bool search = false;
  std::optional<double> budget;
  std::optional<std::size_t> candidates;
  std::string record;
  std::string replay;
  bool no_cache = false;

  void add_to(CLI::App& command);
};

/// How a search fares, as a line on stderr that is drawn over.
void draw_progress(const SearchProgress& progress);

/// An option that takes the seconds of a search, with its range.
void add_budget(CLI::App& command, const std::string& name, std::optional<double>& budget,
                const std::string& help);
/// `Error` if one of these options was given though there is no search: {name, whether it was given}.
void require_search(bool search, std::initializer_list<std::pair<const char*, bool>> given,
                    std::string_view command);

/// Compiles with them: shows progress on stderr if that is a terminal; the first Ctrl-C ends the search and
/// keeps its best plan; records are read before and written after. `Error` for options that need --search
/// without it.
class CompileSession {
 public:
  CompileSession(const SearchOptions& given, std::string_view command);
  ~CompileSession();
  CompileSession(const CompileSession&) = delete;
  CompileSession& operator=(const CompileSession&) = delete;

  CompileOptions& options() { return options_; }
  std::shared_ptr<runtime::Device> device() const { return device_; }
  /// After compiling.
  void finish(const Executable& exe);

 private:
  const SearchOptions& given_;
  CompileOptions options_;
  std::shared_ptr<runtime::Device> device_;
  OutputFile record_file_;
  TimingRecord record_;
  std::optional<TimingRecord> replay_;
  bool drawn_ = false;
};

}  // namespace luminal::cli
