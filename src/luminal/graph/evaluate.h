#pragma once
#include <span>
#include <vector>

#include "luminal/graph/dag.h"
#include "luminal/graph/reader.h"

namespace luminal {

/// An input of a node whose array exists: the array read through the edge's view.
struct BoundInput {
  Array array;  // contiguous
  BoundView view;

  Scalar at(std::span<const std::int64_t> coordinates) const {
    const auto place = view.locate(coordinates);
    if (const auto* fill = std::get_if<Scalar>(&place)) return *fill;
    return array.at_offset(std::get<std::int64_t>(place));
  }
};

/// One element-wise op at one place; `dtype` is the result's.
Scalar element(Op op, std::span<const Scalar> inputs, DType dtype);
/// The running value of reduce_* and scan_* takes one more element; both are in the compute dtype.
Scalar accumulate(Op op, const Scalar& running, const Scalar& element);

/// The value of an index for gather and scatter; `Error` if it is not in [0, length).
std::int64_t checked_index(const Node& node, const Scalar& index, std::int64_t length);

/// All outputs of a node that is neither an input, a state, a side effect nor custom.
std::vector<Array> evaluate(const Node& node, std::span<const BoundInput> operands, const DimMap& dims);

}  // namespace luminal
