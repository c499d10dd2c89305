#include "luminal/compile/stopwatch.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace luminal {
namespace {

/// The system counts what threads compute by its ticks, some milliseconds apart.
constexpr double shortest = 0.02;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double computed() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

long interruptions() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

Stopwatch::Stopwatch() : wall_(0), processor_(0), interruptions_(interruptions()) {
  processor_ = computed();
  wall_ = now();
}

double Stopwatch::seconds(double parallel) const {
  const double wall = now() - wall_;
  if (wall < shortest) return wall;
  const double processor = (computed() - processor_) * parallel;
  return interrupted() ? std::min(wall, processor) : wall;
}

bool Stopwatch::disturbed() const {
  return now() - wall_ < shortest && interrupted();
}

bool Stopwatch::interrupted() const {
  return interruptions() != interruptions_;
}

}  // namespace luminal
