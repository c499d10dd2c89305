#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "luminal/kernel/kernel.h"

namespace luminal::kernel {

/// A row-major array's elements as they lie in memory.
using Bytes = std::vector<std::byte>;

/// What the IR means, executable: every store's points one after the other, each value pulled where it is
/// needed. The second oracle, beside the graph's interpreter: slow and obvious. `before` is what the outputs
/// hold at first; zeros if not given. Throws `Error` for a Position outside of its axis.
std::vector<Bytes> interpret(const Kernel& kernel, std::span<const std::span<const std::byte>> inputs,
                             const DimMap& dims, std::vector<Bytes> before = {});

/// The value that a store writes at one point of its domain, and its place in the output; pulls that value
/// alone. Nothing if that takes more than `limit` values.
struct Sampled {
  std::size_t place = 0;
  Scalar value;
};
std::optional<Sampled> interpret_at(const Kernel& kernel, std::span<const std::span<const std::byte>> inputs,
                                    const DimMap& dims, const Store& store,
                                    std::span<const std::int64_t> point, std::size_t limit);

/// One element of a reduction's or scan's running value takes one more; both in the compute dtype. Only for
/// the monoids of one argument that the graph has too.
Scalar combine(Monoid monoid, const Scalar& running, const Scalar& element);
/// What such a reduction starts from.
Scalar start_of(Monoid monoid, DType dtype);

}  // namespace luminal::kernel
