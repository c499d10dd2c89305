#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "luminal/op/dtype.h"
#include "luminal/op/scalar.h"
#include "luminal/support/location.h"
#include "luminal/support/number.h"

namespace luminal {

/// The dtype that a C++ element type is stored as.
template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, bool>)
    return DType::boolean;
  else if constexpr (std::same_as<T, double>)
    return DType::f64;
  else if constexpr (std::same_as<T, float>)
    return DType::f32;
  else if constexpr (std::signed_integral<T>)
    return sizeof(T) == 8   ? DType::i64
           : sizeof(T) == 4 ? DType::i32
           : sizeof(T) == 2 ? DType::i16
                            : DType::i8;
  else
    return sizeof(T) == 8   ? DType::u64
           : sizeof(T) == 4 ? DType::u32
           : sizeof(T) == 2 ? DType::u16
                            : DType::u8;
}

template <typename T>
concept Element = std::same_as<T, bool> || std::same_as<T, double> || std::same_as<T, float> ||
                  (std::integral<T> && !std::same_as<T, char>);

/// Values in braces, nested as deep as the rank: {{1, 2}, {3, 4}}.
struct Nested {
  Nested(std::initializer_list<Nested> children_) : children(children_), is_list(true) {}
  template <Element T>
  Nested(T value) : number(value), dtype(dtype_of<T>()) {}

  std::vector<Nested> children;
  Number number;
  DType dtype = DType::f32;
  bool is_list = false;
};

/// An array in host memory: a dtype, concrete dims, and elements that are owned, shared with a copy of this
/// handle, or borrowed from the caller with any strides. Rank 0 holds one element.
class Array {
 public:
  /// A scalar 0 of f32.
  Array() : Array(DType::f32, {}) {}
  /// Zeros, owned. `Error` if the size overflows.
  Array(DType dtype, std::vector<std::int64_t> dims);

  template <Element T>
  Array(T value) : Array(dtype_of<T>(), {}) {
    store(Scalar{dtype_, 0}, bytes());
    set(0, make_scalar(dtype_, Number(value)));
  }
  template <Element T>
  Array(const std::vector<T>& values) : Array(values, {static_cast<std::int64_t>(values.size())}) {}
  template <Element T>
  Array(const std::vector<T>& values, std::vector<std::int64_t> dims)
      : Array(dtype_of<T>(), std::move(dims)) {
    require_count(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      set(static_cast<std::int64_t>(i), make_scalar(dtype_, Number(values[i])));
  }
  template <Element T>
  Array(std::span<const T> values) : Array(values, {static_cast<std::int64_t>(values.size())}) {}
  template <Element T>
  Array(std::span<const T> values, std::vector<std::int64_t> dims) : Array(dtype_of<T>(), std::move(dims)) {
    require_count(values.size());
    copy_in(values.data());
  }
  template <Element T, std::size_t N>
  Array(const std::array<T, N>& values) : Array(std::span<const T>(values)) {}
  /// Every list at one depth must have the same length.
  Array(std::initializer_list<Nested> values, Location where = Location::current());

  /// Memory of the caller's, read where it lies: element c is at data + byte_size·Σ strides[k]·c[k].
  /// `release` is called when the last handle goes. Strides are in elements and may be 0 or negative.
  static Array borrow(DType dtype, std::vector<std::int64_t> dims, std::vector<std::int64_t> strides,
                      const void* data, std::function<void()> release = {});

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  const std::vector<std::int64_t>& strides() const { return strides_; }
  std::size_t rank() const { return dims_.size(); }
  std::int64_t size() const { return size_; }
  bool is_contiguous() const;
  /// This, or an owned row-major copy.
  Array contiguous() const;
  /// A deep, owned, row-major copy.
  Array clone() const;
  /// Row-major elements under other dims of the same count.
  Array reshaped(std::vector<std::int64_t> dims) const;

  /// Element number `flat` in row-major order.
  Scalar at(std::int64_t flat) const;
  Scalar at_offset(std::int64_t offset) const;
  /// Owned arrays only.
  void set(std::int64_t flat, const Scalar& value);
  /// The first element's address. To write is to own: a handle that shares its elements gets a copy of its
  /// own first.
  std::byte* bytes();
  const std::byte* bytes() const { return data_.get(); }

  /// The elements in row-major order. T must hold every value of the dtype exactly (float for f16, i64 for
  /// i32 …): `Error` otherwise, cast first.
  template <Element T>
  std::vector<T> values(Location where = Location::current()) const {
    require_readable_as(dtype_of<T>(), where);
    std::vector<T> result;
    result.reserve(static_cast<std::size_t>(size_));
    for (std::int64_t i = 0; i < size_; ++i) {
      const Scalar element = convert(at(i), dtype_of<T>());
      T value{};
      store(element, &value);
      result.push_back(value);
    }
    return result;
  }

  /// As given to a tensor of `dtype`: rounds to floats, but an integer or bool that does not fit, and a float
  /// for an integer tensor, is an `Error` that names the element.
  Array converted_for(DType dtype) const;

  /// Nested brackets; beyond `limit` elements an axis shows its first and last three.
  std::string text(std::int64_t limit = 100) const;
  friend std::ostream& operator<<(std::ostream& out, const Array& array) { return out << array.text(); }

 private:
  void require_count(std::size_t count) const;
  void require_readable_as(DType wanted, Location where) const;
  void copy_in(const void* source);
  std::int64_t offset_of(std::int64_t flat) const;

  DType dtype_ = DType::f32;
  std::vector<std::int64_t> dims_;
  std::vector<std::int64_t> strides_;
  std::int64_t size_ = 0;
  bool owned_ = true;
  std::shared_ptr<std::byte> data_;
};

/// The same dtype, dims and bits, where any NaN equals any other.
bool same_values(const Array& a, const Array& b);

}  // namespace luminal
