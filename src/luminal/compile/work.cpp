#include "luminal/compile/work.h"

#include <algorithm>

namespace luminal {

double Work::gain(double hoped, int done) const {
  double seconds = 0;
  for (const auto* one : now) seconds += part * one->seconds();
  const double limit = std::min(kernel->prior.seconds, seconds);
  return hoped * count * (seconds - 0.7 * limit) / (1 + done);
}

double Work::worth() const {
  constexpr double compiling = 0.3;
  constexpr double runs = 30;
  return gain(std::min(hope, kernel->hope), kernel->steps) / (compiling + runs * kernel->seconds());
}

void Work::learn(double before, std::size_t tried) {
  // One alone tells nothing of the others.
  if (kernel->candidates.size() == tried + 1 && kernel->seconds() >= before) return;
  ++steps;
  ++kernel->steps;
  const double kept = kernel->seconds() < 0.97 * before ? 1.0 : 0.6;
  hope *= tried == kernel->candidates.size() ? 0 : kept;
  kernel->hope *= kept;
}

}  // namespace luminal
