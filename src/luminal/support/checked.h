#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace luminal {

/// Integer arithmetic that says when the exact result does not fit.
inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<std::int64_t> checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// The number of elements of an array with these dims: 0 if any is 0, however large the others. Throws
/// `Error` for a negative dim and for a count beyond 2^63 − 1. Every size that comes from a user or a file
/// goes through here.
std::int64_t element_count(std::span<const std::int64_t> dims);

/// The same times `element_bytes`.
std::int64_t byte_count(std::span<const std::int64_t> dims, std::int64_t element_bytes);

}  // namespace luminal
