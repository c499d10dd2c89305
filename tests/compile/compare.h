#pragma once
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "luminal/graph/array.h"
#include "luminal/graph/dag.h"
#include "luminal/support/text.h"

namespace luminal::test {

/// How far results may lie apart, relative to the largest magnitude in the array: what regrouped sums and
/// functions that are a few units off can add up to in a short graph.
inline double tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-9;
    case DType::f32:
      return 2e-4;
    case DType::f16:
      return 2e-2;
    default:
      return is_floating(dtype) ? 1e-1 : 0;
  }
}

/// The tolerance of the coarsest dtype that a graph computes in.
inline double tolerance(const Dag& dag) {
  double coarsest = 0;
  for (const auto id : dag.nodes())
    for (const auto& type : dag.node(id).outputs) coarsest = std::max(coarsest, tolerance(type.dtype));
  return coarsest;
}

/// Where two results differ: none if nowhere. With `finite_only` elements that the expectation has no finite
/// value for are not compared: rules that regroup promise nothing there. `slack`, if given, is what each
/// element moves by when inputs are rounded differently; four times that is allowed beside.
inline std::optional<std::string> difference(const Array& got, const Array& expected, bool finite_only,
                                             double allowed, const std::vector<double>& slack = {}) {
  if (got.dtype() != expected.dtype() || got.dims() != expected.dims())
    return cat("is ", got.dtype(), "[", join(got.dims()), "], expected ", expected.dtype(), "[",
               join(expected.dims()), "]");
  double largest = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i)
    if (const double e = to_double(expected.at(i)); std::isfinite(e))
      largest = std::max(largest, std::abs(e));
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double g = to_double(got.at(i));
    const double e = to_double(expected.at(i));
    if (g == e || (std::isnan(g) && std::isnan(e))) continue;
    if (!std::isfinite(e) && finite_only) continue;
    const double beside = slack.empty() ? 0 : 4 * slack[static_cast<std::size_t>(i)];
    if (std::isfinite(e) && std::abs(g - e) <= allowed * std::max(largest, 1e-6) + beside) continue;
    return cat("element ", i, " is ", g, ", expected ", e);
  }
  return std::nullopt;
}

}  // namespace luminal::test
