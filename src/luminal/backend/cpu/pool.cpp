#include "luminal/backend/cpu/pool.h"

namespace luminal::cpu {
namespace {

/// About 20 µs: longer than the gap between two kernels of a plan, shorter than anyone would notice.
constexpr int spins = 4000;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

Pool::Pool(int workers) {
  if (workers <= 0) workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (int number = 1; number < workers; ++number) threads_.emplace_back([this, number] { worker(number); });
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    round_.fetch_add(1, std::memory_order_release);
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Pool::work_through(int number) {
  for (;;) {
    const std::int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
    if (task >= tasks_) return;
    work_(context_, task, number);
  }
}

void Pool::worker(int number) {
  std::uint64_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < spins && round_.load(std::memory_order_acquire) == seen; ++spin) pause();
    if (round_.load(std::memory_order_acquire) == seen) {
      std::unique_lock lock(mutex_);
      ++asleep_;
      wake_.wait(lock, [&] { return round_.load(std::memory_order_acquire) != seen; });
      --asleep_;
    }
    seen = round_.load(std::memory_order_acquire);
    if (stop_) return;
    work_through(number);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
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
  tasks_ = tasks;
  next_.store(0, std::memory_order_relaxed);
  busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
  bool sleepers = false;
  {
    const std::lock_guard lock(mutex_);
    round_.fetch_add(1, std::memory_order_release);
    sleepers = asleep_ > 0;
  }
  if (sleepers) wake_.notify_all();
  work_through(0);
  for (int spin = 0; spin < spins && busy_.load(std::memory_order_acquire) != 0; ++spin) pause();
  if (busy_.load(std::memory_order_acquire) == 0) return;
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_.load(std::memory_order_acquire) == 0; });
}

}  // namespace luminal::cpu
