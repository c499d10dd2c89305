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
///
/// Each worker has its part of the tasks, the same one in every run of as many: what it wrote in one kernel
/// is in its cache when it reads that in the next. Who has done its part helps others from the far end.
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
  std::int64_t first_task_ = 0;
  /// What is left of a worker's tasks: from the upper half up to the lower one. It takes the first itself,
  /// others take the last.
  struct alignas(64) Part {
    std::atomic<std::uint64_t> left{0};
  };
  std::vector<Part> parts_;
  /// The round's number, whether it is open, and how many threads joined and have not left. Threads join
  /// while it is open; the caller closes it when no task is left, and waits for those inside only.
  std::atomic<std::uint64_t> state_{0};
  int asleep_ = 0;

  void worker(int number);
  void work_through(int number);
  void run_some(std::int64_t tasks);
};

}  // namespace luminal::cpu
