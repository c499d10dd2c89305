#include "luminal/shape/shape.h"

#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal {

Shape::Shape(std::span<const std::int64_t> dims) : dims_(dims.begin(), dims.end()) {}

Expr Shape::element_count() const {
  if (const auto dims = constant_dims()) return luminal::element_count(*dims);
  // A 0 first, so that the others' product cannot overflow.
  for (const auto& dim : dims_) {
    if (dim == Expr(0)) return 0;
  }
  Expr count = 1;
  try {
    for (const auto& dim : dims_) count = count * dim;
  } catch (const Error&) {
    throw Error(cat("shape ", *this, ": the number of elements exceeds 2^63 - 1"));
  }
  return count;
}

std::optional<std::vector<std::int64_t>> Shape::constant_dims() const {
  std::vector<std::int64_t> values;
  values.reserve(dims_.size());
  for (const auto& dim : dims_) {
    const auto value = dim.constant_value();
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::vector<std::int64_t> Shape::eval(const DimMap& values) const {
  std::vector<std::int64_t> result;
  result.reserve(dims_.size());
  for (const auto& dim : dims_) {
    std::int64_t value = 0;
    try {
      value = dim.eval(values);
    } catch (const Error& error) {
      throw Error(cat("shape ", *this, ": dim ", dim, " has no value: ", error.problem()));
    }
    if (value < 0) throw Error(cat("shape ", *this, ": dim ", dim, " is negative: ", value));
    result.push_back(value);
  }
  return result;
}

Shape Shape::substitute(const DimMap& values) const {
  std::vector<Expr> result;
  result.reserve(dims_.size());
  for (const auto& dim : dims_) result.push_back(dim.substitute(values));
  return Shape(std::move(result));
}

std::vector<Expr> Shape::contiguous_strides() const {
  std::vector<Expr> strides(dims_.size(), Expr(1));
  for (std::size_t axis = dims_.size(); axis-- > 1;) {
    try {
      strides[axis - 1] = strides[axis] * dims_[axis];
    } catch (const Error&) {
      if (!(element_count() == Expr(0))) throw;
      strides[axis - 1] = 0;  // an array without elements is never stepped through
    }
  }
  return strides;
}

std::uint64_t Shape::hash() const {
  Hash hash(dims_.size());
  for (const auto& dim : dims_) hash.add(dim.hash());
  return hash.value();
}

std::string Shape::text() const {
  return cat("[", join(dims_), "]");
}

}  // namespace luminal
