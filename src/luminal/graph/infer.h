#pragma once
#include <span>
#include <vector>

#include "luminal/graph/node.h"

namespace luminal {

struct Inferred {
  std::vector<TensorType> outputs;
  std::vector<DimCheck> checks;
};

/// The types of a node's outputs. `requested` is the type of a source, and the dtype of a cast or bitcast;
/// the other ops ignore it. Throws `Error` naming the op, what it got and what it takes; what depends on dims
/// without values is returned as checks.
Inferred infer(Op op, const Attribute& attribute, std::span<const TensorType> inputs,
               const TensorType& requested, Location where);

}  // namespace luminal
