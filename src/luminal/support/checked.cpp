#include "luminal/support/checked.h"

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

std::int64_t element_count(std::span<const std::int64_t> dims) {
  bool empty = false;
  for (const auto dim : dims) {
    if (dim < 0) throw Error(cat("shape [", join(dims), "]: dim ", dim, " is negative"));
    empty = empty || dim == 0;
  }
  if (empty) return 0;
  std::int64_t count = 1;
  for (const auto dim : dims) {
    const auto next = checked_mul(count, dim);
    if (!next) throw Error(cat("shape [", join(dims), "]: the number of elements exceeds 2^63 - 1"));
    count = *next;
  }
  return count;
}

std::int64_t byte_count(std::span<const std::int64_t> dims, std::int64_t element_bytes) {
  const auto bytes = checked_mul(element_count(dims), element_bytes);
  if (!bytes) throw Error(cat("shape [", join(dims), "]: the number of bytes exceeds 2^63 - 1"));
  return *bytes;
}

}  // namespace luminal
