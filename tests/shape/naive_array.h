#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "luminal/shape/view.h"

namespace luminal::test {

/// An array of whole numbers that copies at every movement: what views are compared with.
struct NaiveArray {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> data;
  friend bool operator==(const NaiveArray&, const NaiveArray&) = default;
};

/// Elements 1000, 1001, …, so that none is taken for a fill.
NaiveArray counting_array(const std::vector<std::int64_t>& dims);
/// The array after one movement whose arguments are all constants; nullopt if the movement is illegal there.
std::optional<NaiveArray> move(const NaiveArray& array, const Movement& movement);
/// What a view without symbols reads.
NaiveArray read_through(const View& view, const NaiveArray& source);
/// All coordinates of an array, in row-major order.
std::vector<std::vector<std::int64_t>> all_coordinates(const std::vector<std::int64_t>& dims);

}  // namespace luminal::test
