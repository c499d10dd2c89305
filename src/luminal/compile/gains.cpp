#include "luminal/compile/gains.h"

#include <algorithm>

namespace luminal {

double Gains::part(double before, double after) {
  return before > 0 ? std::max(0.0, 1 - after / before) : 0;
}

void Gains::end_round(double seconds) {
  constexpr double nothing = 0.005;
  constexpr double remembered = 0.5;
  constexpr std::size_t most = 5;
  stale_ = seconds < (1 - nothing) * least_.back() ? 0 : std::min(stale_ + 1, most);
  least_.push_back(std::min(least_.back(), seconds));
  by_tuning_ *= remembered;
  by_mapping_ *= remembered;
}

double Gains::tuning_share() const {
  constexpr double little = 0.005;  // may be found by either, whatever was
  constexpr double least = 0.2;
  const double share = (by_tuning_ + little) / (by_tuning_ + by_mapping_ + 2 * little);
  return std::clamp(share, least, 1 - least);
}

bool Gains::are_worthwhile() const {
  constexpr std::size_t rounds = 6;
  constexpr double enough = 0.01;
  return least_.size() <= rounds || least_.back() < (1 - enough) * least_[least_.size() - 1 - rounds];
}

}  // namespace luminal
