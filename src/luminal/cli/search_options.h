#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/compile/options.h"
#include "luminal/compile/timing_record.h"

namespace luminal::cli {

/// The options of commands that compile: the device, dims, the search and its record, the cache.
struct SearchOptions {
  std::string device;
  std::vector<std::string> dims;
  bool search = false;
  double budget = 60;
  std::size_t candidates = 0;
  std::string record;
  std::string replay;
  bool no_cache = false;

  void add_to(CLI::App& command);
};

/// Compiles with them: shows progress on stderr if that is a terminal; the first Ctrl-C ends the search and
/// keeps its best plan; records are read before and written after.
class CompileSession {
 public:
  CompileSession(const SearchOptions& given, std::string_view command);
  ~CompileSession();
  CompileSession(const CompileSession&) = delete;
  CompileSession& operator=(const CompileSession&) = delete;

  CompileOptions& options() { return options_; }
  std::shared_ptr<runtime::Device> device() const { return device_; }
  /// After compiling.
  void finish();

 private:
  const SearchOptions& given_;
  std::string command_;
  CompileOptions options_;
  std::shared_ptr<runtime::Device> device_;
  TimingRecord record_;
  std::optional<TimingRecord> replay_;
  bool drawn_ = false;
};

}  // namespace luminal::cli
