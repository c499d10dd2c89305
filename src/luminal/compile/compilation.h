#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "luminal/runtime/runner.h"

namespace luminal {

/// Plans that are being compiled. `begin` has it done beside what the caller does, at a low priority, so that
/// candidates that are timed meanwhile are hardly disturbed; `finish` joins in.
class Compilation {
 public:
  Compilation(std::shared_ptr<runtime::Device> device, std::vector<runtime::Plan> plans,
              runtime::BinaryStore* store);
  ~Compilation();
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  void begin();
  /// Until all are compiled, or `stop` says true.
  template <typename Stop>
  void finish(Stop&& stop) {
    start_helpers();
    while (!stop() && compile_next()) {
    }
    end_helpers(stop());
  }

  struct Made {
    std::shared_ptr<runtime::Runner> runner;  // null: not compiled, for this reason
    std::string problem;
  };
  /// By plan; after `finish`.
  const std::vector<Made>& made() const { return made_; }

 private:
  bool compile_next();
  void start_helpers();
  void end_helpers(bool now);

  std::shared_ptr<runtime::Device> device_;
  std::vector<runtime::Plan> plans_;
  runtime::BinaryStore* store_;
  std::vector<Made> made_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> quit_{false};
  std::vector<std::thread> threads_;
};

}  // namespace luminal
