#pragma once
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "luminal/compile/options.h"

namespace luminal::train {

/// What there is to say after a step.
struct StepReport {
  std::int64_t step = 0;   // steps taken
  std::int64_t steps = 0;  // steps in all
  std::int64_t epoch = 0;
  float loss = 0;
  double rate = 0;
  double examples_per_second = 0;
  double seconds_left = 0;
  std::optional<double> evaluation_loss = std::nullopt;  // if this step was followed by an evaluation
  std::optional<double> evaluation_correct = std::nullopt;
};

/// Draws a bar on `out` if `live`, where it stays on one line, else writes a line every `every` steps. For
/// `TrainerOptions::on_step`.
std::function<void(const StepReport&)> progress_bar(std::ostream& out, bool live, std::int64_t every = 100);

/// A CSV file with a line every few steps. One that goes on after `step` loses the lines after it.
class CsvLog {
 public:
  /// `Error` if the file cannot be written.
  CsvLog(const std::string& path, std::int64_t after_step);
  void add(const StepReport& report);

 private:
  std::ofstream file_;
};

/// A Chrome trace (chrome://tracing, Perfetto) of what took how long. Keeps up to a number of events; those
/// beyond it are left out, and the file says how many.
class Trace {
 public:
  explicit Trace(std::size_t limit);
  void add(const char* name, const char* category, double start, double seconds, std::int64_t step);
  void write(const std::string& path, const std::vector<StageReport>& compile_stages) const;

 private:
  struct Event {
    const char* name;
    const char* category;
    double start;
    double seconds;
    std::int64_t step;
  };
  std::vector<Event> events_;
  std::size_t limit_;
  std::size_t left_out_ = 0;
};

/// What a page shows beside the curves.
struct PageFact {
  std::string name;
  std::string value;
};
/// One self-contained page: curves of the losses, the rate and the share of right answers, and a table of
/// facts.
std::string html_page(const std::string& title, const std::vector<StepReport>& history,
                      const std::vector<PageFact>& facts);

}  // namespace luminal::train
