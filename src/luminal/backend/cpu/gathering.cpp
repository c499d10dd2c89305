#include "luminal/backend/cpu/gathering.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace luminal::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// A number that goes around: each worker waits for its own, and makes it the next one's.
struct Ring {
  static constexpr std::int64_t laps = 40;

  explicit Ring(std::int64_t workers_) : workers(workers_) {}

  std::int64_t workers;
  Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(5);
  alignas(64) std::atomic<std::int64_t> number{0};
  std::atomic<bool> late{false};
  double seconds = 0;  // from one to the next

  bool await(std::int64_t wanted) {
    for (int spin = 1; number.load(std::memory_order_acquire) != wanted; ++spin) {
      if (spin % 256 == 0 && Clock::now() > deadline) late = true;
      if (late) return false;
    }
    return true;
  }

  /// Every worker has one task, for none ends before all have begun.
  static void pass(void* context, std::int64_t task, int) {
    Ring& ring = *static_cast<Ring*>(context);
    Clock::time_point start;
    for (std::int64_t lap = 0; lap < laps; ++lap) {
      const std::int64_t own = lap * ring.workers + task;
      if (!ring.await(own)) return;
      if (lap == 1) start = Clock::now();  // all are awake
      ring.number.store(own + 1, std::memory_order_release);
    }
    if (task != 0 || !ring.await(laps * ring.workers)) return;
    const double taken = std::chrono::duration<double>(Clock::now() - start).count();
    ring.seconds = taken / static_cast<double>((laps - 1) * ring.workers);
  }
};

}  // namespace

std::optional<double> handoff(Pool& pool) {
  if (pool.workers() < 2) return std::nullopt;
  std::optional<double> least;
  for (int time = 0; time < 3; ++time) {  // what is interrupted takes longer
    Ring ring(pool.workers());
    pool.run(ring.workers, Ring::pass, &ring);
    if (ring.late) return least;
    least = std::min(least.value_or(ring.seconds), ring.seconds);
  }
  return least;
}

void Gathering::gather(const World& world) {
  constexpr double longest_wait = 8;
  if (world.clock() < not_before_) return;
  for (int rested = 0; rested <= rests; ++rested) {
    if (rested > 0) world.rest();
    const auto seconds = world.handoff();
    if (!seconds) {
      not_before_ = world.clock() + shortest_wait;
      return;
    }
    if (*seconds > near) continue;
    wait_ = shortest_wait;
    return;
  }
  not_before_ = world.clock() + wait_;
  wait_ = std::min(2 * wait_, longest_wait);
}

void Gathering::gather(Pool& pool) {
  if (pool.workers() < 2) return;
  const auto seconds = [] { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); };
  const auto rest = [&seconds] {
    // The caller stays awake: whoever wakes the others must be where they are to be.
    for (const double end = seconds() + 0.02; seconds() < end;) {
    }
  };
  gather({[&pool] { return handoff(pool); }, rest, seconds});
}

}  // namespace luminal::cpu
