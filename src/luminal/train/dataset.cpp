#include "luminal/train/dataset.h"

#include <cstring>
#include <numeric>
#include <utility>

#include "luminal/op/philox.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::train {

std::size_t Field::bytes() const {
  std::size_t count = byte_size(dtype);
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  return count;
}

ArrayDataset::ArrayDataset(std::vector<std::string> names, std::vector<Array> arrays, Location where) {
  if (arrays.empty() || names.size() != arrays.size())
    throw Error(cat("ArrayDataset: ", names.size(), " names for ", arrays.size(), " arrays"), where);
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const auto& dims = arrays[k].dims();
    if (dims.empty())
      throw Error(cat("ArrayDataset: '", names[k], "' is a scalar, expected examples"), where);
    if (k == 0) size_ = dims[0];
    if (dims[0] != size_)
      throw Error(
          cat("ArrayDataset: '", names[k], "' has ", dims[0], " examples, '", names[0], "' has ", size_),
          where);
    fields_.push_back({names[k], arrays[k].dtype(), {dims.begin() + 1, dims.end()}});
    arrays_.push_back(arrays[k].contiguous());
  }
}

void ArrayDataset::read(std::int64_t index, std::span<const std::span<std::byte>> into) const {
  for (std::size_t k = 0; k < arrays_.size(); ++k) {
    const std::size_t bytes = into[k].size();
    std::memcpy(into[k].data(), arrays_[k].bytes() + static_cast<std::size_t>(index) * bytes, bytes);
  }
}

Subset::Subset(std::shared_ptr<const Dataset> of, std::int64_t first, std::int64_t count, Location where)
    : of_(std::move(of)) {
  if (first < 0 || count < 0 || first > of_->size() - count)
    throw Error(cat("Subset: examples ", first, " to ", first + count, " of a dataset of ", of_->size()),
                where);
  indices_.resize(static_cast<std::size_t>(count));
  std::iota(indices_.begin(), indices_.end(), first);
}

Subset::Subset(std::shared_ptr<const Dataset> of, std::vector<std::int64_t> indices, Location where)
    : of_(std::move(of)), indices_(std::move(indices)) {
  for (const std::int64_t index : indices_)
    if (index < 0 || index >= of_->size())
      throw Error(cat("Subset: example ", index, " of a dataset of ", of_->size()), where);
}

TokenWindows::TokenWindows(std::vector<std::int32_t> tokens, std::int64_t length, std::int64_t stride,
                           Location where)
    : tokens_(std::move(tokens)), stride_(stride) {
  const auto count = static_cast<std::int64_t>(tokens_.size());
  if (length < 1 || stride < 1)
    throw Error(cat("TokenWindows: length ", length, " and stride ", stride, ", expected at least 1"), where);
  if (count < length + 1)
    throw Error(cat("TokenWindows: ", count, " tokens, expected at least ", length + 1,
                    " for windows of length ", length),
                where);
  size_ = (count - length - 1) / stride + 1;
  fields_ = {{"tokens", DType::i32, {length}}, {"targets", DType::i32, {length}}};
}

void TokenWindows::read(std::int64_t index, std::span<const std::span<std::byte>> into) const {
  const std::int32_t* first = tokens_.data() + index * stride_;
  std::memcpy(into[0].data(), first, into[0].size());
  std::memcpy(into[1].data(), first + 1, into[1].size());
}

void shuffle_into(std::span<std::int64_t> order, std::uint64_t seed, std::uint64_t stream) {
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::uint64_t left = order.size(); left > 1; --left) {
    const std::uint64_t high = philox(seed, stream, 2 * left);
    const std::uint64_t word = (high << 32U) | philox(seed, stream, 2 * left + 1);
    std::swap(order[left - 1], order[word % left]);
  }
}

std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::uint64_t stream) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  shuffle_into(order, seed, stream);
  return order;
}

}  // namespace luminal::train
