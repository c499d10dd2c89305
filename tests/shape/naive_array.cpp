#include "tests/shape/naive_array.h"

#include <algorithm>
#include <functional>

#include "luminal/support/checked.h"

namespace luminal::test {

using Coordinates = std::vector<std::int64_t>;

std::vector<Coordinates> all_coordinates(const std::vector<std::int64_t>& dims) {
  std::vector<Coordinates> result;
  const auto count = element_count(dims);
  Coordinates at(dims.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(at);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      if (++at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
  }
  return result;
}

NaiveArray counting_array(const std::vector<std::int64_t>& dims) {
  NaiveArray array{dims, {}};
  for (std::int64_t i = 0; i < element_count(dims); ++i) array.data.push_back(1000 + i);
  return array;
}

namespace {

std::int64_t flat(const Coordinates& at, const std::vector<std::int64_t>& dims) {
  std::int64_t index = 0;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) index = index * dims[axis] + at[axis];
  return index;
}

std::int64_t value(const Expr& e) {
  return e.constant_value().value();
}

std::vector<std::int64_t> values(const std::vector<Expr>& list) {
  std::vector<std::int64_t> result;
  result.reserve(list.size());
  for (const auto& e : list) result.push_back(value(e));
  return result;
}

/// A new array whose element at c is the old one's at `origin(c)`, or `fill` if there is none.
NaiveArray gathered(const NaiveArray& array, std::vector<std::int64_t> dims,
                    const std::function<std::optional<Coordinates>(const Coordinates&)>& origin,
                    std::int64_t fill = 0) {
  NaiveArray result{std::move(dims), {}};
  for (const auto& at : all_coordinates(result.dims)) {
    const auto from = origin(at);
    result.data.push_back(from ? array.data.at(static_cast<std::size_t>(flat(*from, array.dims))) : fill);
  }
  return result;
}

std::optional<NaiveArray> apply(const NaiveArray& array, const movement::Permute& m) {
  std::vector<std::int64_t> dims;
  dims.reserve(m.axes.size());
  for (const auto axis : m.axes) dims.push_back(array.dims[axis]);
  return gathered(array, dims, [&](const Coordinates& c) {
    Coordinates from(c.size());
    for (std::size_t k = 0; k < c.size(); ++k) from[m.axes[k]] = c[k];
    return from;
  });
}

std::optional<NaiveArray> apply(const NaiveArray& array, const movement::Expand& m) {
  if (array.dims[m.axis] != 1 || value(m.size) < 0) return std::nullopt;
  auto dims = array.dims;
  dims[m.axis] = value(m.size);
  return gathered(array, dims, [&](Coordinates c) {
    c[m.axis] = 0;
    return c;
  });
}

std::optional<NaiveArray> apply(const NaiveArray& array, const movement::Slice& m) {
  const auto start = value(m.start);
  const auto size = value(m.size);
  const auto step = value(m.step);
  if (start < 0 || size < 0 || step < 1) return std::nullopt;
  if (size > 0 && start + (size - 1) * step >= array.dims[m.axis]) return std::nullopt;
  auto dims = array.dims;
  dims[m.axis] = size;
  return gathered(array, dims, [&](Coordinates c) {
    c[m.axis] = start + c[m.axis] * step;
    return c;
  });
}

std::optional<NaiveArray> apply(const NaiveArray& array, const movement::Pad& m) {
  const auto before = value(m.before);
  if (before < 0 || value(m.after) < 0) return std::nullopt;
  auto dims = array.dims;
  dims[m.axis] += before + value(m.after);
  const auto origin = [&](Coordinates c) -> std::optional<Coordinates> {
    c[m.axis] -= before;
    if (c[m.axis] < 0 || c[m.axis] >= array.dims[m.axis]) return std::nullopt;
    return c;
  };
  return gathered(array, dims, origin, m.fill.integer());
}

std::optional<NaiveArray> apply(const NaiveArray& array, const movement::Reshape& m) {
  const auto dims = values(m.shape.dims());
  if (std::any_of(dims.begin(), dims.end(), [](std::int64_t dim) { return dim < 0; })) return std::nullopt;
  if (element_count(dims) != element_count(array.dims)) return std::nullopt;
  return NaiveArray{dims, array.data};
}

std::optional<NaiveArray> apply(const NaiveArray& array, const movement::Unfold& m) {
  const auto size = value(m.size);
  const auto stride = value(m.stride);
  const auto dilation = value(m.dilation);
  const auto room = array.dims[m.axis] - dilation * (size - 1) - 1;
  if (size < 0 || stride < 1 || dilation < 1 || room < 0) return std::nullopt;
  auto dims = array.dims;
  dims[m.axis] = room / stride + 1;
  dims.push_back(size);
  return gathered(array, dims, [&](Coordinates c) {
    const auto position = c.back();
    c.pop_back();
    c[m.axis] = c[m.axis] * stride + position * dilation;
    return c;
  });
}

std::optional<NaiveArray> apply(const NaiveArray& array, const movement::Fold& m) {
  const auto stride = value(m.stride);
  const auto dilation = value(m.dilation);
  if (m.axis + 1 >= array.dims.size() || stride < 1 || dilation < 1 || value(m.size) < 0) return std::nullopt;
  auto dims = array.dims;
  dims[m.axis] = value(m.size);
  const auto origin = [&](Coordinates c) -> std::optional<Coordinates> {
    const auto start = c[m.axis] - c.back() * dilation;
    if (start < 0 || start % stride != 0 || start / stride >= array.dims[m.axis]) return std::nullopt;
    c[m.axis] = start / stride;
    return c;
  };
  return gathered(array, dims, origin, 0);
}

std::optional<NaiveArray> apply(const NaiveArray& array, const movement::Shear& m) {
  const auto stride = value(m.stride);
  const auto dilation = value(m.dilation);
  const auto size = value(m.size);
  if (m.axis + 1 >= array.dims.size() || stride < 1 || dilation < 1 || size < 0) return std::nullopt;
  const auto last = (size - 1) * stride + (array.dims.back() - 1) * dilation;
  if (size > 0 && array.dims.back() > 0 && last >= array.dims[m.axis]) return std::nullopt;
  auto dims = array.dims;
  dims[m.axis] = size;
  return gathered(array, dims, [&](Coordinates c) {
    c[m.axis] = c[m.axis] * stride + c.back() * dilation;
    return c;
  });
}

std::optional<NaiveArray> apply(const NaiveArray& array, const movement::Flip& m) {
  return gathered(array, array.dims, [&](Coordinates c) {
    c[m.axis] = array.dims[m.axis] - 1 - c[m.axis];
    return c;
  });
}

std::optional<NaiveArray> apply(const NaiveArray& array, const movement::Strided& m) {
  const auto strides = values(m.strides);
  NaiveArray result{values(m.shape.dims()), {}};
  for (const auto& at : all_coordinates(result.dims)) {
    auto index = value(m.offset);
    for (std::size_t axis = 0; axis < at.size(); ++axis) index += at[axis] * strides[axis];
    if (index < 0 || index >= static_cast<std::int64_t>(array.data.size())) return std::nullopt;
    result.data.push_back(array.data[static_cast<std::size_t>(index)]);
  }
  return result;
}

}  // namespace

std::optional<NaiveArray> move(const NaiveArray& array, const Movement& movement) {
  return std::visit([&](const auto& each) { return apply(array, each); }, movement);
}

NaiveArray read_through(const View& view, const NaiveArray& source) {
  NaiveArray result{view.shape().constant_dims().value(), {}};
  for (const auto& at : all_coordinates(result.dims)) {
    DimMap values;
    for (std::size_t axis = 0; axis < at.size(); ++axis) values.emplace("i" + std::to_string(axis), at[axis]);
    std::optional<std::int64_t> element;
    for (const auto& guard : view.map().guards) {
      if (guard.valid.eval(values) != 0) continue;
      element = guard.fill.integer();
      break;
    }
    if (!element) {
      Coordinates from;
      for (const auto& index : view.map().index) from.push_back(index.eval(values));
      for (std::size_t axis = 0; axis < from.size(); ++axis) {
        if (from[axis] < 0 || from[axis] >= source.dims[axis]) return {};
      }
      element = source.data.at(static_cast<std::size_t>(flat(from, source.dims)));
    }
    result.data.push_back(*element);
  }
  return result;
}

}  // namespace luminal::test
