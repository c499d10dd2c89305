#include "luminal/backend/cpu/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace luminal::cpu {
namespace {

struct Count {
  std::vector<std::atomic<int>> ran;
  std::atomic<bool> known_worker{true};
  int workers;
  Count(std::size_t tasks, int workers_) : ran(tasks), workers(workers_) {}
  static void work(void* context, std::int64_t task, int worker) {
    auto& count = *static_cast<Count*>(context);
    ++count.ran[static_cast<std::size_t>(task)];
    if (worker < 0 || worker >= count.workers) count.known_worker = false;
  }
  void expect_once() const {
    for (const auto& times : ran) EXPECT_EQ(times, 1);
    EXPECT_TRUE(known_worker);
  }
};

TEST(Pool, RunsEveryTaskOnce) {
  for (const int workers : {1, 2, 5}) {
    Pool pool(workers);
    EXPECT_EQ(pool.workers(), workers);
    for (const std::size_t tasks : {0U, 1U, 2U, 7U, 1000U}) {
      Count count(tasks, workers);
      pool.run(static_cast<std::int64_t>(tasks), Count::work, &count);
      count.expect_once();
    }
  }
}

TEST(Pool, WakesAfterSleep) {
  Pool pool(3);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Count count(100, 3);
    pool.run(100, Count::work, &count);
    count.expect_once();
  }
}

TEST(Pool, ManyShortRuns) {
  Pool pool(4);
  for (int round = 0; round < 2000; ++round) {
    Count count(5, 4);
    pool.run(5, Count::work, &count);
    count.expect_once();
  }
}

TEST(Pool, EveryWorkerHasItsPart) {
  struct Begun {
    std::atomic<int> workers{0};
    std::vector<int> first = std::vector<int>(3, -1);  // task, by worker
  };
  Pool pool(3);
  for (int round = 0; round < 20; ++round) {
    Begun state;
    // Nobody goes on before all have begun.
    pool.run(
        8,
        [](void* context, std::int64_t task, int worker) {
          auto& mine = *static_cast<Begun*>(context);
          int& first = mine.first[static_cast<std::size_t>(worker)];
          if (first >= 0) return;
          first = static_cast<int>(task);
          ++mine.workers;
          while (mine.workers < 3) std::this_thread::yield();
        },
        &state);
    EXPECT_EQ(state.first, (std::vector<int>{0, 3, 6}));
  }
}

TEST(Pool, OthersDoWhatABusyWorkerHasNotBegun) {
  struct Busy {
    std::atomic<int> done{0};
    int before_the_first = -1;
  };
  constexpr int tasks = 100;
  Pool pool(2);
  Busy state;
  pool.run(
      tasks,
      [](void* context, std::int64_t task, int) {
        auto& count = *static_cast<Busy*>(context);
        if (task == 0) {  // the first of its part: all the others are done before it ends
          const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
          while (count.done < tasks - 1 && std::chrono::steady_clock::now() < deadline)
            std::this_thread::yield();
          count.before_the_first = count.done;
        }
        ++count.done;
      },
      &state);
  EXPECT_EQ(state.before_the_first, tasks - 1);
  EXPECT_EQ(state.done, tasks);
}

TEST(Pool, CallersOfSeveralThreads) {
  Pool pool(3);
  std::vector<std::thread> callers;
  for (int k = 0; k < 4; ++k) {
    callers.emplace_back([&pool] {
      for (int round = 0; round < 100; ++round) {
        Count count(20, 3);
        pool.run(20, Count::work, &count);
        count.expect_once();
      }
    });
  }
  for (auto& caller : callers) caller.join();
}

}  // namespace
}  // namespace luminal::cpu
