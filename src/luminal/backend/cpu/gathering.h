#pragma once
#include <functional>
#include <optional>

#include "luminal/backend/cpu/pool.h"

namespace luminal::cpu {

/// Seconds in which a word goes from one worker to the next, all around; nothing if others hold the
/// processors, or there is one worker.
std::optional<double> handoff(Pool& pool);

/// Keeps a pool's workers near each other. A hypervisor moves them as it likes, to processors that share a
/// cache or to such that share none, and leaves them there for seconds or minutes. Where they share none,
/// what one wrote and another reads takes five times as long, and a plan of short kernels twice. Whoever
/// slept is mostly moved next to the one who wakes it.
class Gathering {
 public:
  /// If the workers are further apart than one cache is wide, all but the caller rest, for 0.3 s at most. If
  /// that does not help it is not tried again for a second, then two, eight at most; where nobody can tell,
  /// for a second.
  void gather(Pool& pool);

  /// How often they rest, one after the other: mostly one is enough, and ten were needed.
  static constexpr int rests = 15;

  /// What it goes by. The clock is in seconds.
  struct World {
    std::function<std::optional<double>()> handoff;
    std::function<void()> rest;
    std::function<double()> clock;
  };
  void gather(const World& world);

 private:
  static constexpr double near = 1e-7;  // in one cache a word takes 20 to 60 ns
  static constexpr double shortest_wait = 1;
  double wait_ = shortest_wait;
  double not_before_ = 0;
};

}  // namespace luminal::cpu
