#include "luminal/compile/timing_record.h"

#include <charconv>
#include <cmath>
#include <vector>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

constexpr std::string_view heading = "luminal timings 2";

/// The shortest text that is read back as the same number.
std::string exact(double value) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, end};
}

class Words {
 public:
  Words(std::string_view line, std::size_t number) : line_(line), rest_(line), number_(number) {}
  std::string_view word() {
    const auto space = rest_.find(' ');
    const std::string_view result = rest_.substr(0, space);
    rest_ = space == std::string_view::npos ? std::string_view{} : rest_.substr(space + 1);
    if (result.empty()) refuse();
    return result;
  }
  double number() {
    const std::string_view digits = word();
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) refuse();
    if (!std::isfinite(value) || value < 0) refuse();
    return value;
  }
  std::string rest() const { return std::string(rest_); }
  [[noreturn]] void refuse() const {
    throw Error(cat("timing record: line ", number_, " is ", in_quotes(line_), ", expected a timing"));
  }

 private:
  std::string_view line_;
  std::string_view rest_;
  std::size_t number_;
};

Timing::Outcome outcome_named(Words& words) {
  const std::string_view word = words.word();
  for (const auto outcome : {Timing::Outcome::timed, Timing::Outcome::wrong, Timing::Outcome::crashed,
                             Timing::Outcome::hung, Timing::Outcome::refused, Timing::Outcome::unfit})
    if (name(outcome) == word) return outcome;
  words.refuse();
}

auto ceiling_members(search::MachineModel& model) {
  // A new member does not compile here until it is recorded.
  auto& [bandwidth, contraction_rate, vector_rate, launch, workers, on_chip, shared_cache, cache_bandwidth,
         middle_bandwidth] = model;
  return std::vector<double*>{&bandwidth, &contraction_rate, &vector_rate,     &launch,          &workers,
                              &on_chip,   &shared_cache,     &cache_bandwidth, &middle_bandwidth};
}

}  // namespace

std::optional<Timing> TimingRecord::find(const std::string& key) const {
  const auto found = timings_.find(key);
  return found == timings_.end() ? std::nullopt : std::optional(found->second);
}

void TimingRecord::add(const TimingRecord& other) {
  for (const auto& [key, timing] : other.timings_) add(key, timing);
  if (other.ceilings_) ceilings_ = other.ceilings_;
}

std::string TimingRecord::text() const {
  std::string text = cat(heading, "\n");
  if (ceilings_) {
    search::MachineModel model = *ceilings_;
    text += "ceilings";
    for (const double* member : ceiling_members(model)) text += cat(" ", exact(*member));
    text += "\n";
  }
  for (const auto& [key, timing] : timings_) {
    std::string problem = timing.problem;
    for (char& c : problem)
      if (c == '\n') c = ' ';
    text += cat(key, " ", name(timing.outcome), " ", exact(timing.seconds), " ", exact(timing.median),
                problem.empty() ? "" : " ", problem, "\n");
  }
  return text + cat("end ", timings_.size(), "\n");
}

TimingRecord TimingRecord::parse(std::string_view text) {
  if (text.empty()) throw Error("timing record: it is empty");
  TimingRecord record;
  bool ended = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (number == 1 && line != heading)
      throw Error(cat("timing record: begins with ", in_quotes(line), ", expected ", in_quotes(heading)));
    if (number == 1) continue;
    Words words(line, number);
    if (ended) words.refuse();
    const std::string key(words.word());
    if (key == "end") {
      ended = words.number() == static_cast<double>(record.size()) && end != std::string_view::npos;
      if (!ended) words.refuse();
      continue;
    }
    if (key == "ceilings") {
      search::MachineModel model;
      for (double* member : ceiling_members(model)) {
        *member = words.number();
        if (*member == 0) words.refuse();
      }
      record.ceilings_ = model;
      continue;
    }
    Timing timing;
    timing.outcome = outcome_named(words);
    timing.seconds = words.number();
    timing.median = words.number();
    timing.problem = words.rest();
    record.timings_.insert_or_assign(key, timing);
  }
  if (!ended) throw Error("timing record: it is cut off, its last line should say how many there are");
  return record;
}

}  // namespace luminal
