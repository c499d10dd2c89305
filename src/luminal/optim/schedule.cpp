#include "luminal/optim/schedule.h"

#include <cmath>
#include <numbers>

#include "luminal/support/error.h"

namespace luminal::optim {
namespace {

void require_steps(std::int64_t steps, const char* problem) {
  if (steps < 1) throw Error(problem);
}

double eased(double from, double to, double share) {
  return to + (from - to) / 2 * (std::cos(std::numbers::pi * share) + 1);
}

}  // namespace

Schedule constant(double rate) {
  return [rate](std::int64_t) { return rate; };
}

Schedule step_decay(double rate, std::int64_t every, double gamma) {
  require_steps(every, "step_decay: expected at least 1 step between decays");
  return [=](std::int64_t step) {
    const std::int64_t decays = step / every;
    return rate * std::pow(gamma, static_cast<double>(decays));
  };
}

Schedule exponential(double rate, double gamma) {
  return [=](std::int64_t step) { return rate * std::pow(gamma, static_cast<double>(step)); };
}

Schedule cosine(double rate, std::int64_t steps, double lowest) {
  require_steps(steps, "cosine: expected at least 1 step");
  return [=](std::int64_t step) {
    return eased(rate, lowest, static_cast<double>(step) / static_cast<double>(steps));
  };
}

Schedule linear_warm_up(std::int64_t steps, const Schedule& then, double first) {
  require_steps(steps, "linear_warm_up: expected at least 1 step");
  return [=](std::int64_t step) {
    if (step >= steps) return then(step - steps);
    return then(0) * (first + (1 - first) * static_cast<double>(step) / static_cast<double>(steps));
  };
}

Schedule one_cycle(double highest, std::int64_t steps, double warm_share, double start_divisor,
                   double end_divisor) {
  require_steps(steps, "one_cycle: expected at least 1 step");
  const double start = highest / start_divisor;
  const double end = start / end_divisor;
  const double turn = warm_share * static_cast<double>(steps) - 1;
  const double last = static_cast<double>(steps - 1);
  return [=](std::int64_t step) {
    const auto now = static_cast<double>(step);
    if (step >= steps) return end;
    if (now <= turn || last <= turn) return eased(start, highest, turn > 0 ? now / turn : 1);
    return eased(highest, end, (now - turn) / (last - turn));
  };
}

double Plateau::observe(double value) {
  if (value < best_ * (1 - threshold_)) {
    best_ = value;
    bad_ = 0;
  } else {
    ++bad_;
  }
  if (cooling_ > 0) {
    --cooling_;
    bad_ = 0;
  }
  if (bad_ > patience_) {
    const double reduced = std::max(rate_ * factor_, lowest_);
    if (rate_ - reduced > 1e-8) rate_ = reduced;
    cooling_ = cooldown_;
    bad_ = 0;
  }
  return rate_;
}

}  // namespace luminal::optim
