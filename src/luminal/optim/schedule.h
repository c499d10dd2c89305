#pragma once
#include <cstdint>
#include <functional>
#include <limits>

namespace luminal::optim {

/// The learning rate of run number `step`, from 0: set it on the graph's rate input before each run. As
/// PyTorch's schedulers of these names.
using Schedule = std::function<double(std::int64_t step)>;

Schedule constant(double rate);
/// rate · gamma^⌊step / every⌋.
Schedule step_decay(double rate, std::int64_t every, double gamma = 0.1);
/// rate · gamma^step.
Schedule exponential(double rate, double gamma);
/// Half a cosine from `rate` to `lowest` in `steps` steps, then periodic as PyTorch's CosineAnnealingLR.
Schedule cosine(double rate, std::int64_t steps, double lowest = 0);
/// From `first`·rate to rate in `steps` steps, linearly; then `then`, counted from its own beginning.
Schedule linear_warm_up(std::int64_t steps, const Schedule& then, double first = 1.0 / 3);
/// PyTorch's OneCycleLR with cosine annealing and two phases.
Schedule one_cycle(double highest, std::int64_t steps, double warm_share = 0.3, double start_divisor = 25,
                   double end_divisor = 1e4);

/// Divides the rate when a measured value stops falling: PyTorch's ReduceLROnPlateau with mode "min" and a
/// relative threshold.
class Plateau {
 public:
  explicit Plateau(double rate, double factor = 0.1, std::int64_t patience = 10, double threshold = 1e-4,
                   std::int64_t cooldown = 0, double lowest = 0)
      : rate_(rate),
        factor_(factor),
        patience_(patience),
        threshold_(threshold),
        cooldown_(cooldown),
        lowest_(lowest) {}
  double rate() const { return rate_; }
  /// Takes one measurement and returns the rate from now on.
  double observe(double value);

 private:
  double rate_;
  double factor_;
  std::int64_t patience_;
  double threshold_;
  std::int64_t cooldown_;
  double lowest_;
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t bad_ = 0;
  std::int64_t cooling_ = 0;
};

}  // namespace luminal::optim
