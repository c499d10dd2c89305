#include "luminal/train/loader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "folder.h"

namespace luminal::train {
namespace {

std::shared_ptr<const Dataset> numbers(std::int64_t count) {
  std::vector<std::int64_t> values;
  for (std::int64_t k = 0; k < count; ++k) values.push_back(k);
  return std::make_shared<ArrayDataset>(std::vector<std::string>{"n"},
                                        std::vector<Array>{Array(std::span<const std::int64_t>(values))});
}

std::vector<std::int64_t> of(const Batch& batch) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(batch.examples));
  std::memcpy(result.data(), batch.field(0).data(), batch.field(0).size());
  return result;
}

std::vector<std::vector<std::int64_t>> some(DataLoader& loader, int count) {
  std::vector<std::vector<std::int64_t>> result;
  for (int k = 0; k < count; ++k) result.push_back(of(loader.next()));
  return result;
}

TEST(DataLoader, EveryExampleOnceAnEpochAndThePartialBatchAtItsEnd) {
  DataLoader loader(numbers(103), {.batch = 10, .seed = 5});
  EXPECT_EQ(loader.batches_per_epoch(), 11);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::set<std::int64_t> seen;
    for (int k = 0; k < 11; ++k) {
      const Batch& batch = loader.next();
      EXPECT_EQ(batch.examples, k < 10 ? 10 : 3);
      EXPECT_EQ(batch.position.epoch, epoch);
      for (const auto n : of(batch)) seen.insert(n);
    }
    EXPECT_EQ(seen.size(), 103U);
  }
}

TEST(DataLoader, ADroppedPartialBatch) {
  DataLoader loader(numbers(103), {.batch = 10, .drop_partial = true});
  EXPECT_EQ(loader.batches_per_epoch(), 10);
  for (int k = 0; k < 25; ++k) EXPECT_EQ(loader.next().examples, 10);
}

TEST(DataLoader, InOrderWithoutShuffling) {
  DataLoader loader(numbers(5), {.batch = 2, .shuffle = false});
  EXPECT_EQ(some(loader, 4), (std::vector<std::vector<std::int64_t>>{{0, 1}, {2, 3}, {4}, {0, 1}}));
}

TEST(DataLoader, TheOrderFollowsTheSeedAndNotTheThreads) {
  DataLoader reference(numbers(500), {.batch = 7, .seed = 3, .threads = 0});
  const auto expected = some(reference, 200);
  for (const int threads : {1, 2, 4}) {
    DataLoader loader(numbers(500), {.batch = 7, .seed = 3, .threads = threads, .ahead = 2 * threads});
    EXPECT_EQ(some(loader, 200), expected) << threads << " threads";
  }
  DataLoader other(numbers(500), {.batch = 7, .seed = 4});
  EXPECT_NE(some(other, 200), expected);
  EXPECT_NE(expected[0], expected[72]) << "epochs have orders of their own";
}

TEST(DataLoader, GoesOnFromAPosition) {
  const LoaderOptions options{.batch = 8, .seed = 9, .threads = 2};
  DataLoader whole(numbers(50), options);
  some(whole, 10);
  const LoaderPosition position = whole.position();
  EXPECT_EQ(position, (LoaderPosition{1, 3}));
  const auto expected = some(whole, 12);
  DataLoader later(numbers(50), options);
  some(later, 2);
  later.seek(position);
  EXPECT_EQ(some(later, 12), expected);
  EXPECT_EQ(refusal([&] { later.seek({0, 99}); }), "DataLoader: epoch 0, batch 99 of epochs of 7 batches");
}

TEST(DataLoader, Refusals) {
  EXPECT_EQ(refusal([] { DataLoader(numbers(0), {}); }), "DataLoader: the dataset is empty");
  EXPECT_EQ(refusal([] { DataLoader(numbers(3), {.batch = 0}); }),
            "DataLoader: batches of 0, expected at least 1");
  EXPECT_EQ(refusal([] { DataLoader(numbers(3), {.batch = 4, .drop_partial = true}); }),
            "DataLoader: 3 examples do not fill a batch of 4, and partial ones are dropped");
}

/// Its 20th example cannot be read.
class Broken : public Dataset {
 public:
  std::int64_t size() const override { return 40; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, std::span<const std::span<std::byte>>) const override {
    if (index == 20) throw Error("example 20 is damaged");
  }

 private:
  std::vector<Field> fields_ = {{"n", DType::u8, {}}};
};

TEST(DataLoader, AnErrorOfTheDatasetReachesTheCaller) {
  for (const int threads : {0, 2}) {
    DataLoader loader(std::make_shared<Broken>(), {.batch = 8, .shuffle = false, .threads = threads});
    loader.next();
    loader.next();
    EXPECT_EQ(refusal([&] { loader.next(); }), "example 20 is damaged");
  }
}

TEST(Datasets, SubsetsAndWindows) {
  const Subset subset(numbers(10), 4, 3);
  std::int64_t n = 0;
  const std::array<std::span<std::byte>, 1> into = {std::as_writable_bytes(std::span(&n, 1))};
  subset.read(2, into);
  EXPECT_EQ(n, 6);
  EXPECT_EQ(refusal([] { Subset(numbers(10), 4, 7); }), "Subset: examples 4 to 11 of a dataset of 10");

  const TokenWindows windows({10, 11, 12, 13, 14}, 3);
  EXPECT_EQ(windows.size(), 2);
  std::array<std::int32_t, 3> tokens{};
  std::array<std::int32_t, 3> targets{};
  const std::array<std::span<std::byte>, 2> both = {std::as_writable_bytes(std::span(tokens)),
                                                    std::as_writable_bytes(std::span(targets))};
  windows.read(1, both);
  EXPECT_EQ(tokens, (std::array<std::int32_t, 3>{11, 12, 13}));
  EXPECT_EQ(targets, (std::array<std::int32_t, 3>{12, 13, 14}));
  EXPECT_EQ(refusal([] { TokenWindows({1, 2, 3}, 3); }),
            "TokenWindows: 3 tokens, expected at least 4 for windows of length 3");
}

}  // namespace
}  // namespace luminal::train
