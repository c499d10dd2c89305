#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "luminal/graph/index_program.h"
#include "luminal/op/scalar.h"
#include "luminal/shape/view.h"

namespace luminal {

/// A view whose dims all have values, ready to be asked where each of its elements comes from.
class BoundView {
 public:
  /// `Error` for a check that fails at these dims.
  BoundView(const View& view, const DimMap& dims, DType dtype);

  const std::vector<std::int64_t>& dims() const { return dims_; }
  /// The source's flat row-major element, or the fill value.
  std::variant<std::int64_t, Scalar> locate(std::span<const std::int64_t> coordinates) const;
  /// The source's coordinates, or the fill value.
  std::optional<Scalar> locate(std::span<const std::int64_t> coordinates,
                               std::vector<std::int64_t>& source) const;

 private:
  struct Guard {
    IndexProgram valid;
    Scalar fill;
  };
  std::vector<std::int64_t> dims_;
  std::vector<std::int64_t> source_dims_;
  bool is_affine_ = false;
  std::vector<std::int64_t> strides_;
  std::int64_t offset_ = 0;
  std::vector<Guard> guards_;
  std::vector<IndexProgram> index_;
};

/// Counts through all coordinates of `dims` in row-major order.
class Odometer {
 public:
  explicit Odometer(std::span<const std::int64_t> dims)
      : dims_(dims.begin(), dims.end()), coordinates_(dims.size(), 0) {}
  std::span<const std::int64_t> coordinates() const { return coordinates_; }
  void step() {
    for (std::size_t i = dims_.size(); i-- > 0;) {
      if (++coordinates_[i] < dims_[i]) return;
      coordinates_[i] = 0;
    }
  }

 private:
  std::vector<std::int64_t> dims_;
  std::vector<std::int64_t> coordinates_;
};

}  // namespace luminal
