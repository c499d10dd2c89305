#include "luminal/graph/reader.h"

#include "luminal/support/error.h"

namespace luminal {

BoundView::BoundView(const View& view, const DimMap& dims, DType dtype) {
  const View bound = view.substitute(dims);
  dims_ = bound.shape().eval({});
  source_dims_ = bound.source().eval({});
  const auto affine = bound.is_total() ? bound.affine() : std::nullopt;
  if (affine) {
    is_affine_ = true;
    offset_ = affine->offset.eval({});
    for (const auto& stride : affine->strides) strides_.push_back(stride.eval({}));
  }
  for (const auto& guard : bound.map().guards)
    guards_.push_back({IndexProgram(guard.valid), make_scalar(dtype, guard.fill)});
  for (const auto& index : bound.map().index) index_.emplace_back(index);
}

std::variant<std::int64_t, Scalar> BoundView::locate(std::span<const std::int64_t> coordinates) const {
  if (is_affine_) {
    std::int64_t offset = offset_;
    for (std::size_t i = 0; i < coordinates.size(); ++i) offset += strides_[i] * coordinates[i];
    return offset;
  }
  for (const auto& guard : guards_)
    if (guard.valid.run(coordinates) == 0) return guard.fill;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < index_.size(); ++i)
    offset = offset * source_dims_[i] + index_[i].run(coordinates);
  return offset;
}

std::optional<Scalar> BoundView::locate(std::span<const std::int64_t> coordinates,
                                        std::vector<std::int64_t>& source) const {
  for (const auto& guard : guards_)
    if (guard.valid.run(coordinates) == 0) return guard.fill;
  source.resize(index_.size());
  for (std::size_t i = 0; i < index_.size(); ++i) source[i] = index_[i].run(coordinates);
  return std::nullopt;
}

}  // namespace luminal
