#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "luminal/shape/expr.h"

namespace luminal {

/// The dims of an array, outermost first; each may be symbolic. Rank 0 is a scalar.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Expr> dims) : dims_(dims) {}
  explicit Shape(std::vector<Expr> dims) : dims_(std::move(dims)) {}
  explicit Shape(std::span<const std::int64_t> dims);

  std::size_t rank() const { return dims_.size(); }
  const Expr& operator[](std::size_t axis) const { return dims_[axis]; }
  const std::vector<Expr>& dims() const { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }

  /// The product of the dims, symbolic; `Error` if a constant part of it overflows.
  Expr element_count() const;
  /// The dims' values; nullopt unless all are constants.
  std::optional<std::vector<std::int64_t>> constant_dims() const;
  /// The dims' values; `Error` naming a dim that is unknown or negative.
  std::vector<std::int64_t> eval(const DimMap& values) const;
  Shape substitute(const DimMap& values) const;
  /// Row-major strides in elements.
  std::vector<Expr> contiguous_strides() const;

  friend bool operator==(const Shape&, const Shape&) = default;
  std::uint64_t hash() const;
  /// "[batch, 784]".
  std::string text() const;
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.text(); }

 private:
  std::vector<Expr> dims_;
};

}  // namespace luminal
