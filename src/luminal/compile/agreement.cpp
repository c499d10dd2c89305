#include "luminal/compile/agreement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "luminal/op/scalar.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-7;
    case DType::f32:
      return 2e-3;
    case DType::f16:
      return 3e-2;
    default:
      return is_floating(dtype) ? 2e-1 : 0;
  }
}

bool close(double got, double expected, double scale, double allowed, double noise = 0) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
  // What overflows one way or another: an infinity, or the difference of two.
  if (!std::isfinite(expected) || !std::isfinite(got))
    return allowed > 0 && !std::isfinite(expected) && !std::isfinite(got);
  return std::abs(got - expected) <= std::max(allowed * std::max(scale, 1e-6), noise);
}

template <typename Read>
std::optional<std::string> compare(std::size_t count, double allowed, double noise, Read&& read) {
  double scale = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (const double e = read(i, true); std::isfinite(e)) scale = std::max(scale, std::abs(e));
  for (std::size_t i = 0; i < count; ++i)
    if (const double got = read(i, false), expected = read(i, true);
        !close(got, expected, scale, allowed, noise))
      return cat("element ", i, " is ", got, ", and ", expected, " elsewhere");
  return std::nullopt;
}

/// Whether no float is further from what is expected than rounding explains, found out soon; false: perhaps.
bool are_close(std::span<const std::byte> got, std::span<const std::byte> expected, double allowed) {
  if (got.empty() || std::memcmp(got.data(), expected.data(), got.size()) == 0) return true;
  const auto* a = reinterpret_cast<const float*>(got.data());
  const auto* b = reinterpret_cast<const float*>(expected.data());
  const std::size_t count = got.size() / sizeof(float);
  constexpr std::size_t lanes = 16;
  float scales[lanes] = {};
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const float size = std::fabs(b[k + lane]);
      scales[lane] = size > scales[lane] ? size : scales[lane];
    }
  for (; k < count; ++k) scales[0] = std::max(scales[0], std::fabs(b[k]));
  const float limit =
      static_cast<float>(0.999 * allowed) * *std::max_element(std::begin(scales), std::end(scales));
  if (!std::isfinite(limit)) return false;
  unsigned far[lanes] = {};
  for (k = 0; k + lanes <= count; k += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      far[lane] |= std::fabs(a[k + lane] - b[k + lane]) <= limit ? 0U : 1U;
  for (; k < count; ++k) far[0] |= std::fabs(a[k] - b[k]) <= limit ? 0U : 1U;
  return std::none_of(std::begin(far), std::end(far), [](unsigned one) { return one != 0; });
}

}  // namespace

bool agrees(DType dtype, double got, double expected, double scale) {
  return close(got, expected, scale, tolerance(dtype));
}

std::optional<std::string> difference(DType dtype, std::span<const std::byte> got,
                                      std::span<const std::byte> expected, double noise) {
  if (got.size() != expected.size()) return cat("has ", got.size(), " bytes, expected ", expected.size());
  const double allowed = tolerance(dtype);
  if (dtype == DType::f32) {
    if (are_close(got, expected, allowed)) return std::nullopt;
    const auto* a = reinterpret_cast<const float*>(got.data());
    const auto* b = reinterpret_cast<const float*>(expected.data());
    return compare(got.size() / 4, allowed, noise,
                   [&](std::size_t i, bool right) { return double{right ? b[i] : a[i]}; });
  }
  const std::size_t size = byte_size(dtype);
  return compare(got.size() / size, allowed, noise, [&](std::size_t i, bool right) {
    return to_double(load(dtype, (right ? expected : got).data() + i * size));
  });
}

double largest_difference(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b) {
  double result = 0;
  const std::size_t size = byte_size(dtype);
  for (std::size_t at = 0; at + size <= std::min(a.size(), b.size()); at += size) {
    const double apart = to_double(load(dtype, a.data() + at)) - to_double(load(dtype, b.data() + at));
    if (std::isfinite(apart)) result = std::max(result, std::abs(apart));
  }
  return result;
}

std::vector<std::byte> nudged(DType dtype, std::span<const std::byte> elements) {
  std::vector<std::byte> result(elements.begin(), elements.end());
  const std::size_t size = byte_size(dtype);
  for (std::size_t at = 0; at + size <= result.size(); at += size)
    if (Hash(9).add(at).value() % 2 == 0 && std::isfinite(to_double(load(dtype, result.data() + at))))
      result[at] ^= std::byte{1};
  return result;
}

}  // namespace luminal
