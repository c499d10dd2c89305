#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "luminal/train/dataset.h"

namespace luminal::train {

struct LoaderOptions {
  std::int64_t batch = 32;
  /// A new order in every epoch, from the seed and the epoch's number alone.
  bool shuffle = true;
  std::uint64_t seed = 0;
  /// Leave out the last batch of an epoch if it is not full.
  bool drop_partial = false;
  /// Threads that read ahead, and how many batches; 0 reads in the caller's. What comes out is the same.
  int threads = 1;
  int ahead = 3;
};

/// Where a loader stands: the next batch. All there is to save.
struct LoaderPosition {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  friend bool operator==(const LoaderPosition&, const LoaderPosition&) = default;
};

/// Some examples, field by field: row-major, examples first.
struct Batch {
  std::int64_t examples = 0;
  LoaderPosition position;
  std::span<const std::byte> field(std::size_t k) const { return {data[k].data(), bytes[k]}; }

  std::vector<std::vector<std::byte>> data;
  std::vector<std::size_t> bytes;  // of them, those that count
};

/// A dataset in batches, epoch after epoch. The same options, the same batches, whatever the threads.
/// Allocates nothing after it was made.
class DataLoader {
 public:
  /// `Error` for an empty dataset, and for one that has no batch at all.
  DataLoader(std::shared_ptr<const Dataset> dataset, const LoaderOptions& options,
             Location where = Location::current());
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;
  ~DataLoader();

  /// The next batch, valid until the next call; an epoch follows the other. An exception of the dataset comes
  /// out here.
  const Batch& next();
  LoaderPosition position() const { return position_; }
  /// Goes on from there.
  void seek(const LoaderPosition& position, Location where = Location::current());

  std::int64_t batches_per_epoch() const { return batches_; }
  const Dataset& dataset() const { return *dataset_; }
  const LoaderOptions& options() const { return options_; }

 private:
  enum class Stage : std::uint8_t { empty, filling, full };
  struct Slot {
    Batch batch;
    Stage stage = Stage::empty;
    std::exception_ptr error;
    std::vector<std::int64_t> order;  // of the batch's examples
  };
  LoaderPosition after(const LoaderPosition& position) const;
  void assign(Slot& slot, const LoaderPosition& position);
  void fill(Slot& slot) const;
  void work();
  void start();
  void stop();

  std::shared_ptr<const Dataset> dataset_;
  LoaderOptions options_;
  std::int64_t batches_ = 0;
  std::vector<std::int64_t> order_;
  std::int64_t order_epoch_ = -1;
  LoaderPosition position_;
  LoaderPosition reading_;   // the batch that is read ahead next
  std::vector<Slot> slots_;  // a ring
  std::size_t out_ = 0;      // the slot that the caller has, or gets next
  std::size_t in_ = 0;       // the slot that is filled next
  bool caller_has_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace luminal::train
