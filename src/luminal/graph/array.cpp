#include "luminal/graph/array.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/large_memory.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

void measure(const Nested& values, std::size_t depth, std::vector<std::int64_t>& dims, DType& dtype,
             bool& first) {
  if (!values.is_list) {
    if (depth != dims.size()) throw Error("values in braces: a number stands where a list was expected");
    dtype = first ? values.dtype : promote(dtype, values.dtype).value_or(values.dtype);
    first = false;
    return;
  }
  const auto length = static_cast<std::int64_t>(values.children.size());
  if (depth == dims.size() && first) {
    dims.push_back(length);
  } else if (depth >= dims.size()) {
    throw Error("values in braces: a list stands where a number was expected");
  }
  if (dims[depth] != length)
    throw Error(
        cat("values in braces: lists at depth ", depth, " have ", dims[depth], " and ", length, " elements"));
  for (const auto& child : values.children) measure(child, depth + 1, dims, dtype, first);
}

void fill(const Nested& values, Array& array, std::int64_t& next) {
  if (!values.is_list) {
    array.set(next++, make_scalar(array.dtype(), values.number));
    return;
  }
  for (const auto& child : values.children) fill(child, array, next);
}

bool holds_exactly(DType from, DType to) {
  if (from == to) return true;
  if (is_boolean(to)) return false;
  if (is_boolean(from)) return true;
  if (is_floating(from)) return is_floating(to) && byte_size(to) >= 4 && byte_size(to) > byte_size(from);
  if (is_floating(to)) return byte_size(from) * 2 <= byte_size(to);
  const bool from_signed = row(from).kind == DTypeKind::signed_integer;
  const bool to_signed = row(to).kind == DTypeKind::signed_integer;
  if (from_signed == to_signed) return byte_size(to) >= byte_size(from);
  return to_signed && byte_size(to) > byte_size(from);
}

std::string element_text(const Scalar& value) {
  return is_floating(value.dtype) && value.dtype != DType::f64
             ? shortest(static_cast<float>(to_double(value)))
             : to_number(value).text();
}

void print_axis(std::ostream& out, const Array& array, std::size_t axis, std::int64_t start, bool all) {
  if (axis == array.rank()) {
    std::string text = element_text(array.at(start));
    if (text.ends_with("u")) text.pop_back();
    out << text;
    return;
  }
  const std::int64_t length = array.dims()[axis];
  std::int64_t block = 1;
  for (std::size_t i = axis + 1; i < array.rank(); ++i) block *= array.dims()[i];
  out << '[';
  for (std::int64_t i = 0; i < length; ++i) {
    if (i > 0) out << ", ";
    if (!all && length > 6 && i == 3) {
      out << "..., ";
      i = length - 3;
    }
    print_axis(out, array, axis + 1, start + i * block, all);
  }
  out << ']';
}

}  // namespace

Array::Array(DType dtype, std::vector<std::int64_t> dims)
    : dtype_(dtype), dims_(std::move(dims)), strides_(row_major(dims_)), size_(element_count(dims_)) {
  const auto bytes = static_cast<std::size_t>(byte_count(dims_, static_cast<std::int64_t>(byte_size(dtype))));
  auto* const memory = static_cast<std::byte*>(allocate_elements(bytes));
  if (memory == nullptr)
    throw Error(cat("array ", dtype, "[", join(dims_), "]: there is no memory for its ", bytes, " bytes"));
  std::memset(memory, 0, bytes);
  data_ = std::shared_ptr<std::byte>(memory, [](std::byte* given) { std::free(given); });
}

Array::Array(std::initializer_list<Nested> values, Location where) {
  std::vector<std::int64_t> dims;
  DType dtype = DType::f32;
  bool first = true;
  const Nested all(values);
  try {
    measure(all, 0, dims, dtype, first);
  } catch (const Error& error) {
    throw Error(error.problem(), where);
  }
  *this = Array(dtype, dims);
  std::int64_t next = 0;
  fill(all, *this, next);
}

Array Array::borrow(DType dtype, std::vector<std::int64_t> dims, std::vector<std::int64_t> strides,
                    const void* data, std::function<void()> release) {
  if (dims.size() != strides.size())
    throw Error(cat("borrow: ", dims.size(), " dims but ", strides.size(), " strides"));
  Array array;
  array.size_ = element_count(dims);
  if (data == nullptr && array.size_ > 0) throw Error("borrow: the address is null");
  array.dtype_ = dtype;
  array.dims_ = std::move(dims);
  array.strides_ = std::move(strides);
  array.owned_ = false;
  auto* address = const_cast<std::byte*>(static_cast<const std::byte*>(data));
  array.data_ = std::shared_ptr<std::byte>(address, [release = std::move(release)](std::byte*) {
    if (release) release();
  });
  return array;
}

bool Array::is_contiguous() const {
  std::int64_t expected = 1;
  for (std::size_t i = dims_.size(); i-- > 0;) {
    if (dims_[i] != 1 && strides_[i] != expected) return size_ == 0;
    expected *= dims_[i];
  }
  return true;
}

Array Array::contiguous() const {
  return is_contiguous() ? *this : clone();
}

Array Array::clone() const {
  Array copy(dtype_, dims_);
  if (is_contiguous()) {
    if (size_ > 0) copy.copy_in(bytes());
    return copy;
  }
  for (std::int64_t i = 0; i < size_; ++i) copy.set(i, at(i));
  return copy;
}

Array Array::reshaped(std::vector<std::int64_t> dims) const {
  if (element_count(dims) != size_)
    throw Error(cat("array of ", size_, " elements cannot have shape [", join(dims), "]"));
  Array result = contiguous();
  result.strides_ = row_major(dims);
  result.dims_ = std::move(dims);
  return result;
}

std::int64_t Array::offset_of(std::int64_t flat) const {
  std::int64_t offset = 0;
  for (std::size_t i = dims_.size(); i-- > 0;) {
    offset += flat % dims_[i] * strides_[i];
    flat /= dims_[i];
  }
  return offset;
}

Scalar Array::at(std::int64_t flat) const {
  return at_offset(owned_ ? flat : offset_of(flat));
}

Scalar Array::at_offset(std::int64_t offset) const {
  return load(dtype_, data_.get() + offset * static_cast<std::int64_t>(byte_size(dtype_)));
}

void Array::set(std::int64_t flat, const Scalar& value) {
  store(value, bytes() + flat * static_cast<std::int64_t>(byte_size(dtype_)));
}

std::byte* Array::bytes() {
  ensure(owned_, "borrowed memory is read-only");
  if (data_.use_count() > 1) *this = clone();
  return data_.get();
}

void Array::require_count(std::size_t count) const {
  if (static_cast<std::int64_t>(count) != size_)
    throw Error(
        cat("array: ", count, " values for shape [", join(dims_), "], which has ", size_, " elements"));
}

void Array::copy_in(const void* source) {
  if (size_ > 0) std::memcpy(bytes(), source, static_cast<std::size_t>(size_) * byte_size(dtype_));
}

void Array::require_readable_as(DType wanted, Location where) const {
  if (!holds_exactly(dtype_, wanted))
    throw Error(cat("data: elements of ", dtype_, " cannot be read as ", wanted,
                    " without loss; cast the tensor first"),
                where);
}

Array Array::converted_for(DType dtype) const {
  if (dtype == dtype_) return *this;
  const bool refused =
      (is_boolean(dtype) && !is_boolean(dtype_)) || (is_floating(dtype_) && !is_floating(dtype));
  if (refused)
    throw Error(cat("set: values of ", dtype_, " given to a tensor of ", dtype, "; cast them first"));
  Array result(dtype, dims_);
  const bool check = is_integer(dtype) && is_integer(dtype_);
  for (std::int64_t i = 0; i < size_; ++i) {
    const Scalar given = at(i);
    const Scalar stored = convert(given, dtype);
    if (check) {
      const Number a = to_number(given);
      const Number b = to_number(stored);
      const bool negative_a = a.kind() == Number::Kind::integer && a.integer() < 0;
      const bool negative_b = b.kind() == Number::Kind::integer && b.integer() < 0;
      if (negative_a != negative_b || a.natural() != b.natural())
        throw Error(
            cat("set: element ", i, " is ", element_text(given), ", which ", dtype, " does not hold"));
    }
    result.set(i, stored);
  }
  return result;
}

std::string Array::text(std::int64_t limit) const {
  std::ostringstream out;
  if (size_ == 0 && rank() > 0) {
    out << "[] (shape [" << join(dims_) << "])";
    return out.str();
  }
  print_axis(out, *this, 0, 0, size_ <= limit);
  return out.str();
}

bool same_values(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const Scalar x = a.at(i);
    const Scalar y = b.at(i);
    if (x == y) continue;
    if (!is_floating(a.dtype()) || !std::isnan(to_double(x)) || !std::isnan(to_double(y))) return false;
  }
  return true;
}

}  // namespace luminal
