#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "luminal/graph/array.h"

namespace luminal::train {

/// One part of an example: "image", "label".
struct Field {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> dims;

  std::size_t bytes() const;
};

/// Examples by number. Immutable: `read` gives the same for the same number, and may be called from several
/// threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  virtual const std::vector<Field>& fields() const = 0;
  /// Writes the fields of example `index`, row-major, one span a field, each of `Field::bytes()`.
  virtual void read(std::int64_t index, std::span<const std::span<std::byte>> into) const = 0;
};

/// Arrays in memory, or mapped: their first axis counts examples.
class ArrayDataset : public Dataset {
 public:
  /// `Error` if there are no arrays, or they count differently.
  ArrayDataset(std::vector<std::string> names, std::vector<Array> arrays,
               Location where = Location::current());
  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override;

 private:
  std::vector<Field> fields_;
  std::vector<Array> arrays_;
  std::int64_t size_ = 0;
};

/// Examples [first, first + count) of another dataset, or of a list of numbers.
class Subset : public Dataset {
 public:
  Subset(std::shared_ptr<const Dataset> of, std::int64_t first, std::int64_t count,
         Location where = Location::current());
  Subset(std::shared_ptr<const Dataset> of, std::vector<std::int64_t> indices,
         Location where = Location::current());
  std::int64_t size() const override { return static_cast<std::int64_t>(indices_.size()); }
  const std::vector<Field>& fields() const override { return of_->fields(); }
  void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
    of_->read(indices_[static_cast<std::size_t>(index)], into);
  }

 private:
  std::shared_ptr<const Dataset> of_;
  std::vector<std::int64_t> indices_;
};

/// Windows of a sequence of tokens: "tokens" are `length` of them from example's number · `stride` on,
/// "targets" those one place further.
class TokenWindows : public Dataset {
 public:
  /// `Error` if there are not even length + 1 tokens.
  TokenWindows(std::vector<std::int32_t> tokens, std::int64_t length, std::int64_t stride = 1,
               Location where = Location::current());
  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override;

 private:
  std::vector<std::int32_t> tokens_;
  std::int64_t stride_;
  std::int64_t size_ = 0;
  std::vector<Field> fields_;
};

/// A list of 0 … count − 1 in an order that depends on the seed and the stream alone.
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::uint64_t stream = 0);
/// The same into a list that is already of that length: allocates nothing.
void shuffle_into(std::span<std::int64_t> order, std::uint64_t seed, std::uint64_t stream);

}  // namespace luminal::train
