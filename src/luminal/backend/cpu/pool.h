#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace luminal::cpu {

/// Threads that stay. Callers of `run` work too, so a pool of n workers has n − 1 threads. Safe to call from
/// several threads: one run follows the other.
class Pool {
 public:
  /// 0: as many workers as the machine has.
  explicit Pool(int workers = 0);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int workers() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls work(context, task, worker) once for each task in [0, tasks), from several threads at a time;
  /// `worker` is in [0, workers()). Allocates nothing, returns when all are done. `work` must not throw.
  using Work = void (*)(void* context, std::int64_t task, int worker);
  void run(std::int64_t tasks, Work work, void* context);

 private:
  std::vector<std::thread> threads_;
  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  bool stop_ = false;

  // One run: written by the caller before it opens the round, read by threads that joined it.
  Work work_ = nullptr;
  void* context_ = nullptr;
  std::int64_t tasks_ = 0;
  std::atomic<std::int64_t> next_{0};
  /// The round's number, whether it is open, and how many threads joined and have not left. Threads join
  /// while it is open; the caller closes it when no task is left, and waits for those inside only.
  std::atomic<std::uint64_t> state_{0};
  int asleep_ = 0;

  void worker(int number);
  void work_through(int number);
};

}  // namespace luminal::cpu
