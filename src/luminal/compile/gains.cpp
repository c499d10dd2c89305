#include "luminal/compile/gains.h"

#include <algorithm>

namespace luminal {

double Gains::part(double before, double after) {
  return before > 0 ? std::max(0.0, 1 - after / before) : 0;
}

void Gains::end_round(double seconds, std::size_t tried, double passed) {
  constexpr double nothing = 0.005;
  constexpr double remembered = 0.5;
  constexpr std::size_t most = 5;
  const double least = rounds_.back().least;
  stale_ = seconds < (1 - nothing) * least ? 0 : std::min(stale_ + 1, most);
  rounds_.push_back({std::min(least, seconds), tried, passed});
  by_tuning_ *= remembered;
  by_mapping_ *= remembered;
}

double Gains::tuning_share(bool are_quick) const {
  constexpr double little = 0.005;  // may be found by either, whatever was
  constexpr double least = 0.2;
  // What one mapping learns the next ones need, and what is tuned before there are good ones is lost: where
  // they are slow, the first rounds have time for two or three, else for none but one.
  constexpr std::size_t early = 5;
  constexpr std::size_t first = 2;
  if (!are_quick && rounds_.size() <= first) return least;
  const double most = !are_quick ? 1 - least : rounds_.size() < early ? 0.4 : 0.7;
  const double share = (by_tuning_ + little) / (by_tuning_ + by_mapping_ + 2 * little);
  return std::clamp(share, least, most);
}

bool Gains::are_worthwhile(double patience) const {
  constexpr std::size_t some = 6;
  constexpr double enough = 0.01;
  if (rounds_.size() <= some) return true;
  const Round& last = rounds_.back();
  std::size_t from = rounds_.size() - 1 - some;
  if (rounds_[from].tried == last.tried) return false;
  while (from > 0 && last.passed - rounds_[from].passed < patience) --from;
  return last.passed - rounds_[from].passed < patience || last.least < (1 - enough) * rounds_[from].least;
}

}  // namespace luminal
