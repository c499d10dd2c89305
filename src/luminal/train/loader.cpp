#include "luminal/train/loader.h"

#include <algorithm>
#include <utility>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::train {

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, const LoaderOptions& options, Location where)
    : dataset_(std::move(dataset)), options_(options) {
  if (options.batch < 1)
    throw Error(cat("DataLoader: batches of ", options.batch, ", expected at least 1"), where);
  if (dataset_->size() == 0) throw Error("DataLoader: the dataset is empty", where);
  batches_ = dataset_->size() / options.batch;
  if (!options.drop_partial && dataset_->size() % options.batch != 0) ++batches_;
  if (batches_ == 0)
    throw Error(cat("DataLoader: ", dataset_->size(), " examples do not fill a batch of ", options.batch,
                    ", and partial ones are dropped"),
                where);
  order_.resize(static_cast<std::size_t>(dataset_->size()));
  slots_.resize(static_cast<std::size_t>(std::max(1, options.threads > 0 ? options.ahead : 1)) + 1);
  for (Slot& slot : slots_) {
    slot.order.resize(static_cast<std::size_t>(options.batch));
    for (const Field& field : dataset_->fields()) {
      slot.batch.data.emplace_back(field.bytes() * static_cast<std::size_t>(options.batch));
      slot.batch.bytes.push_back(0);
    }
  }
  start();
}

DataLoader::~DataLoader() {
  stop();
}

void DataLoader::start() {
  stopping_ = false;
  for (int k = 0; k < options_.threads; ++k) threads_.emplace_back([this] { work(); });
}

void DataLoader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

LoaderPosition DataLoader::after(const LoaderPosition& position) const {
  return position.batch + 1 < batches_ ? LoaderPosition{position.epoch, position.batch + 1}
                                       : LoaderPosition{position.epoch + 1, 0};
}

/// Chooses the examples of a batch. Under the lock: it may put a new epoch in order.
void DataLoader::assign(Slot& slot, const LoaderPosition& position) {
  if (order_epoch_ != position.epoch && options_.shuffle)
    shuffle_into(order_, options_.seed, static_cast<std::uint64_t>(position.epoch));
  else if (order_epoch_ == -1)
    for (std::size_t k = 0; k < order_.size(); ++k) order_[k] = static_cast<std::int64_t>(k);
  order_epoch_ = position.epoch;
  const std::int64_t first = position.batch * options_.batch;
  const std::int64_t count = std::min(options_.batch, dataset_->size() - first);
  std::copy_n(order_.begin() + first, count, slot.order.begin());
  slot.batch.examples = count;
  slot.batch.position = position;
  slot.error = nullptr;
}

void DataLoader::fill(Slot& slot) const {
  constexpr std::size_t most_fields = 16;
  std::array<std::span<std::byte>, most_fields> into;
  const std::size_t fields = slot.batch.data.size();
  ensure(fields <= most_fields, "a dataset has at most 16 fields");
  for (std::int64_t k = 0; k < slot.batch.examples; ++k) {
    for (std::size_t f = 0; f < fields; ++f) {
      const std::size_t bytes = slot.batch.data[f].size() / static_cast<std::size_t>(options_.batch);
      into[f] = std::span(slot.batch.data[f]).subspan(static_cast<std::size_t>(k) * bytes, bytes);
      slot.batch.bytes[f] = static_cast<std::size_t>(slot.batch.examples) * bytes;
    }
    dataset_->read(slot.order[static_cast<std::size_t>(k)], std::span(into).first(fields));
  }
}

void DataLoader::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || slots_[in_].stage == Stage::empty; });
    if (stopping_) return;
    Slot& slot = slots_[in_];
    in_ = (in_ + 1) % slots_.size();
    slot.stage = Stage::filling;
    assign(slot, reading_);
    reading_ = after(reading_);
    lock.unlock();
    std::exception_ptr error;
    try {
      fill(slot);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    slot.error = error;
    slot.stage = Stage::full;
    changed_.notify_all();
  }
}

const Batch& DataLoader::next() {
  std::unique_lock lock(mutex_);
  if (caller_has_) {
    slots_[out_].stage = Stage::empty;
    out_ = (out_ + 1) % slots_.size();
    caller_has_ = false;
    changed_.notify_all();
  }
  Slot& slot = slots_[out_];
  if (threads_.empty()) {
    assign(slot, position_);
    fill(slot);
    in_ = (out_ + 1) % slots_.size();
  } else {
    changed_.wait(lock, [&] { return slot.stage == Stage::full; });
    if (slot.error) std::rethrow_exception(slot.error);
  }
  caller_has_ = true;
  position_ = after(slot.batch.position);
  return slot.batch;
}

void DataLoader::seek(const LoaderPosition& position, Location where) {
  if (position.epoch < 0 || position.batch < 0 || position.batch >= batches_)
    throw Error(cat("DataLoader: epoch ", position.epoch, ", batch ", position.batch, " of epochs of ",
                    batches_, " batches"),
                where);
  stop();
  for (Slot& slot : slots_) slot.stage = Stage::empty;
  out_ = in_ = 0;
  caller_has_ = false;
  position_ = reading_ = position;
  start();
}

}  // namespace luminal::train
