#include "luminal/backend/cpu/pool.h"

#include <algorithm>

namespace luminal::cpu {
namespace {

/// 20 to 100 µs, by processor: longer than the gap between two kernels of a plan, shorter than anyone would
/// notice.
constexpr int spins = 4000;

constexpr std::uint64_t open_bit = std::uint64_t{1} << 31;
constexpr std::uint64_t joined_mask = open_bit - 1;
constexpr std::uint64_t round_of(std::uint64_t state) {
  return state >> 32;
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Tasks of which a part can hold the numbers.
constexpr std::int64_t most_at_once = std::int64_t{1} << 31;

/// The next task of one's own part, or the last of another's; -1 if none is left there.
std::int64_t take(std::atomic<std::uint64_t>& part, bool own) {
  constexpr std::uint64_t one = std::uint64_t{1} << 32;
  std::uint64_t left = part.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t next = left >> 32;
    const std::uint64_t end = left & (one - 1);
    if (next >= end) return -1;
    if (part.compare_exchange_weak(left, own ? left + one : left - 1, std::memory_order_relaxed))
      return static_cast<std::int64_t>(own ? next : end - 1);
  }
}

}  // namespace

Pool::Pool(int workers) {
  if (workers <= 0) workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  parts_ = std::vector<Part>(static_cast<std::size_t>(workers));
  for (int number = 1; number < workers; ++number) threads_.emplace_back([this, number] { worker(number); });
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Pool::work_through(int number) {
  const auto own = static_cast<std::size_t>(number);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    auto& part = parts_[(own + k) % parts_.size()].left;
    for (std::int64_t task = take(part, k == 0); task >= 0; task = take(part, k == 0))
      work_(context_, first_task_ + task, number);
  }
}

void Pool::worker(int number) {
  std::uint64_t seen = 0;
  const auto is_new = [&seen](std::uint64_t state) {
    return (state & open_bit) != 0 && round_of(state) != seen;
  };
  for (;;) {
    std::uint64_t state = state_.load(std::memory_order_acquire);
    for (int spin = 0; spin < spins && !is_new(state); ++spin) {
      pause();
      state = state_.load(std::memory_order_acquire);
    }
    if (!is_new(state)) {
      std::unique_lock lock(mutex_);
      ++asleep_;
      wake_.wait(lock, [&] { return stop_ || is_new(state_.load(std::memory_order_acquire)); });
      --asleep_;
      if (stop_) return;
      continue;
    }
    if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) continue;
    seen = round_of(state);
    work_through(number);
    const std::uint64_t left = state_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if ((left & (open_bit | joined_mask)) == 0) {
      const std::lock_guard lock(mutex_);
      done_.notify_one();
    }
  }
}

void Pool::run(std::int64_t tasks, Work work, void* context) {
  const std::lock_guard one_at_a_time(callers_);
  if (tasks <= 1 || threads_.empty()) {
    for (std::int64_t task = 0; task < tasks; ++task) work(context, task, 0);
    return;
  }
  work_ = work;
  context_ = context;
  for (first_task_ = 0; first_task_ < tasks; first_task_ += most_at_once)
    run_some(std::min(tasks - first_task_, most_at_once));
}

void Pool::run_some(std::int64_t tasks) {
  const auto workers = static_cast<std::int64_t>(parts_.size());
  std::int64_t begin = 0;
  for (std::int64_t k = 0; k < workers; ++k) {
    const std::int64_t end = begin + tasks / workers + (k < tasks % workers ? 1 : 0);
    parts_[static_cast<std::size_t>(k)].left.store(
        static_cast<std::uint64_t>(begin) << 32 | static_cast<std::uint64_t>(end), std::memory_order_relaxed);
    begin = end;
  }
  const std::uint64_t round = round_of(state_.load(std::memory_order_relaxed)) + 1;
  state_.store(round << 32 | open_bit, std::memory_order_release);
  bool sleepers = false;
  {
    const std::lock_guard lock(mutex_);
    sleepers = asleep_ > 0;
  }
  if (sleepers) wake_.notify_all();
  work_through(0);
  state_.fetch_and(~open_bit, std::memory_order_acq_rel);
  const auto all_left = [this] { return (state_.load(std::memory_order_acquire) & joined_mask) == 0; };
  for (int spin = 0; spin < spins; ++spin) {
    if (all_left()) return;
    pause();
  }
  std::unique_lock lock(mutex_);
  done_.wait(lock, all_left);
}

}  // namespace luminal::cpu
