// A step of the trainer takes no memory after the first.
#include <gtest/gtest.h>

#include "folder.h"
#include "tasks.h"
#include "tests/count_allocations.h"

namespace luminal::train {
namespace {

TEST(Steps, AllocateNothingAfterTheFirst) {
  const TemporaryFolder folder;
  TrainerOptions options = tiny_options(40);
  options.loader = {.batch = 32};  // eight batches an epoch: the epochs' ends take part
  options.log = folder / "log.csv";
  options.log_every = 4;
  options.trace = folder / "trace.json";
  options.page = folder / "page.html";
  std::ostringstream shown;
  shown << std::string(100000, ' ');
  shown.seekp(0);
  const auto bar = progress_bar(shown, false, 5);
  std::vector<std::size_t> counts;
  counts.reserve(100);
  options.on_step = [&](const StepReport& report) {
    bar(report);
    counts.push_back(test::allocations);
  };
  Trainer trainer(tiny_build(), tiny_data(), nullptr, options, device("cpu"));
  trainer.run();
  ASSERT_EQ(counts.size(), 40U);
  for (std::size_t k = 2; k < counts.size(); ++k)
    EXPECT_EQ(counts[k], counts[1]) << "step " << k + 1 << " allocated";
}

}  // namespace
}  // namespace luminal::train
