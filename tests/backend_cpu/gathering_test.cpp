#include "luminal/backend/cpu/gathering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace luminal::cpu {
namespace {

/// Workers that are so many nanoseconds apart when they are asked: one time after the other, then as the last
/// time; below 0, nobody can tell.
struct Script {
  std::vector<double> nanoseconds;
  double now = 0;
  std::size_t asked = 0;

  /// How often they rest.
  int gather(Gathering& gathering) {
    int rests = 0;
    asked = 0;
    gathering.gather({[this]() -> std::optional<double> {
                        const double each = nanoseconds[std::min(asked++, nanoseconds.size() - 1)];
                        return each < 0 ? std::nullopt : std::optional(each * 1e-9);
                      },
                      [&rests] { ++rests; }, [this] { return now; }});
    return rests;
  }
};

TEST(Gathering, LeavesNearWorkersAlone) {
  Gathering gathering;
  EXPECT_EQ(Script({40}).gather(gathering), 0);
  EXPECT_EQ(Script({90}).gather(gathering), 0);
}

TEST(Gathering, RestsUntilTheyAreNear) {
  Gathering gathering;
  EXPECT_EQ(Script({180, 45}).gather(gathering), 1);
  EXPECT_EQ(Script({180, 190, 45}).gather(gathering), 2);
}

TEST(Gathering, WaitsLongerEachTimeThatNothingHelps) {
  Gathering gathering;
  constexpr int all = Gathering::rests;
  EXPECT_EQ(Script({180}, 0).gather(gathering), all);
  EXPECT_EQ(Script({180}, 0.9).gather(gathering), 0);
  EXPECT_EQ(Script({180}, 1.1).gather(gathering), all);
  EXPECT_EQ(Script({180}, 3).gather(gathering), 0);
  EXPECT_EQ(Script({180, 40}, 3.2).gather(gathering), 1);
  EXPECT_EQ(Script({180}, 3.3).gather(gathering), all);  // there was hope
  EXPECT_EQ(Script({180}, 4.4).gather(gathering), all);
}

TEST(Gathering, NeverWaitsLong) {
  Gathering gathering;
  double now = 0;
  for (; now < 1000; now += 0.5) Script({180}, now).gather(gathering);
  int rested = 0;
  for (const double end = now + 9; now < end; now += 0.5) rested += Script({180}, now).gather(gathering);
  EXPECT_GE(rested, Gathering::rests);
}

TEST(Gathering, DoesNotAskAgainAtOnceWhatNobodyCanTell) {
  Gathering gathering;
  Script script({-1});
  EXPECT_EQ(script.gather(gathering), 0);
  EXPECT_EQ(script.asked, 1U);
  EXPECT_EQ(script.gather(gathering), 0);
  EXPECT_EQ(script.asked, 0U);
  for (const double now : {1.1, 2.2, 3.3}) {
    script.now = now;
    EXPECT_EQ(script.gather(gathering), 0);
    EXPECT_EQ(script.asked, 1U) << "others hold the processors now, which is no reason to give up";
  }
}

TEST(Gathering, HandsAWordAround) {
  Pool alone(1);
  EXPECT_FALSE(handoff(alone));
  Pool pool(2);
  std::optional<double> seconds;
  for (int attempt = 0; attempt < 50 && !seconds; ++attempt) seconds = handoff(pool);
  if (!seconds) GTEST_SKIP() << "others hold the processors";
  EXPECT_GT(*seconds, 1e-9);
  EXPECT_LT(*seconds, 1e-4);
}

TEST(Gathering, LeavesThePoolAsItWas) {
  Pool pool(2);
  Gathering gathering;
  for (int time = 0; time < 3; ++time) {
    gathering.gather(pool);
    std::vector<int> ran(100, 0);
    pool.run(
        100, [](void* context, std::int64_t task, int) { ++static_cast<int*>(context)[task]; }, ran.data());
    EXPECT_EQ(ran, std::vector<int>(100, 1));
  }
}

}  // namespace
}  // namespace luminal::cpu
