#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/op/dtype.h"

/// Whether two ways to compute something give the same.
namespace luminal {

/// Whether regrouped sums explain the difference of two elements, of a result whose elements are as large as
/// `scale`.
bool agrees(DType dtype, double got, double expected, double scale);

/// Where two arrays of results differ beyond that, or by more than `noise`; none if nowhere.
std::optional<std::string> difference(DType dtype, std::span<const std::byte> got,
                                      std::span<const std::byte> expected, double noise = 0);

/// The largest difference of two results; of those that are numbers.
double largest_difference(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b);

/// Every other number with its last bit changed, more or less.
std::vector<std::byte> nudged(DType dtype, std::span<const std::byte> elements);

}  // namespace luminal
