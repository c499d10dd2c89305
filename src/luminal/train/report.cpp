#include "luminal/train/report.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "luminal/io/atomic_file.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::train {
namespace {

/// "1m05s", "12s".
void write_duration(std::array<char, 32>& into, double seconds) {
  const long whole = std::lround(seconds);
  if (whole >= 3600)
    std::snprintf(into.data(), into.size(), "%ldh%02ldm", whole / 3600, whole / 60 % 60);
  else if (whole >= 60)
    std::snprintf(into.data(), into.size(), "%ldm%02lds", whole / 60, whole % 60);
  else
    std::snprintf(into.data(), into.size(), "%lds", whole);
}

}  // namespace

std::function<void(const StepReport&)> progress_bar(std::ostream& out, bool live, std::int64_t every) {
  return [&out, live, every](const StepReport& report) {
    const bool last = report.step == report.steps;
    if (!live && report.step % every != 0 && !last && !report.evaluation_loss) return;
    constexpr std::size_t width = 24;
    std::array<char, width + 1> bar{};
    const auto filled =
        static_cast<std::size_t>(report.step * static_cast<std::int64_t>(width) / report.steps);
    for (std::size_t k = 0; k < width; ++k) bar[k] = k < filled ? '#' : '.';
    std::array<char, 32> left{};
    write_duration(left, report.seconds_left);
    std::array<char, 256> line{};
    std::snprintf(line.data(), line.size(), "[%s] %lld/%lld  loss %.4f  %.0f examples/s  %s left", bar.data(),
                  static_cast<long long>(report.step), static_cast<long long>(report.steps),
                  static_cast<double>(report.loss), report.examples_per_second, left.data());
    if (live) out << '\r';
    out << line.data();
    if (report.evaluation_correct) {
      std::snprintf(line.data(), line.size(), "  %.1f %% right", *report.evaluation_correct * 100);
      out << line.data();
    } else if (report.evaluation_loss) {
      std::snprintf(line.data(), line.size(), "  evaluation %.4f", *report.evaluation_loss);
      out << line.data();
    }
    if (live) out << "\x1b[K";
    if (!live || last || report.evaluation_loss) out << '\n';
    out << std::flush;
  };
}

CsvLog::CsvLog(const std::string& path, std::int64_t after_step) {
  std::string kept;
  if (after_step > 0) {
    std::ifstream old(path);
    std::string line;
    while (std::getline(old, line)) {
      std::int64_t step = 0;
      const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
      if (error == std::errc() && step <= after_step) kept += line + "\n";
    }
  }
  file_.open(path, std::ios::binary | std::ios::trunc);
  file_ << "step,epoch,loss,rate,examples_per_second,evaluation_loss,evaluation_correct\n"
        << kept << std::flush;
  if (!file_) throw Error(cat("the log ", in_quotes(path), " cannot be written"));
}

void CsvLog::add(const StepReport& report) {
  std::array<char, 256> line{};
  int used = std::snprintf(line.data(), line.size(), "%lld,%lld,%.9g,%.9g,%.1f,",
                           static_cast<long long>(report.step), static_cast<long long>(report.epoch),
                           static_cast<double>(report.loss), report.rate, report.examples_per_second);
  file_.write(line.data(), used);
  if (report.evaluation_loss) {
    used = std::snprintf(line.data(), line.size(), "%.9g", *report.evaluation_loss);
    file_.write(line.data(), used);
  }
  file_ << ',';
  if (report.evaluation_correct) {
    used = std::snprintf(line.data(), line.size(), "%.9g", *report.evaluation_correct);
    file_.write(line.data(), used);
  }
  file_ << '\n' << std::flush;
}

Trace::Trace(std::size_t limit) : limit_(limit) {
  events_.reserve(limit);
}

void Trace::add(const char* name, const char* category, double start, double seconds, std::int64_t step) {
  if (events_.size() < limit_)
    events_.push_back({name, category, start, seconds, step});
  else
    ++left_out_;
}

void Trace::write(const std::string& path, const std::vector<StageReport>& compile_stages) const {
  std::string text = "{\"traceEvents\": [\n";
  text += R"({"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "compile"}},)";
  text += "\n";
  text += R"({"name": "thread_name", "ph": "M", "pid": 1, "tid": 2, "args": {"name": "train"}})";
  const auto add = [&](std::string_view name, std::string_view category, int thread, double start,
                       double seconds, const std::string& arguments) {
    text += cat(",\n{\"name\": ", in_quotes(name), ", \"cat\": ", in_quotes(category),
                ", \"ph\": \"X\", \"pid\": 1, \"tid\": ", thread, ", \"ts\": ", shortest(start * 1e6),
                ", \"dur\": ", shortest(seconds * 1e6), ", \"args\": {", arguments, "}}");
  };
  double start = 0;
  for (const auto& stage : compile_stages) {
    add(stage.name, "compile", 1, start, stage.seconds, "\"detail\": " + in_quotes(stage.detail));
    start += stage.seconds;
  }
  for (const Event& event : events_)
    add(event.name, event.category, 2, start + event.start, event.seconds, cat("\"step\": ", event.step));
  text += cat("\n], \"leftOut\": ", left_out_, "}\n");
  io::write_atomically(path, [&](io::FileWriter& writer) { writer.write(text); });
}

}  // namespace luminal::train
