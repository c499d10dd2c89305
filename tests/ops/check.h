#pragma once
#include <optional>
#include <string>

#include "case_file.h"

namespace luminal::ops {

/// A case as a graph, its inputs set.
struct Built {
  Graph graph;
  std::vector<Tensor> inputs;  // the tensors that hold values
  std::vector<Tensor> outputs;
};

/// `symbolic`: every dim of the inputs has a name of its own, but those of size 1, which broadcast.
Built build(const Row& row, const Case& of, bool symbolic);

/// What is wrong with a result; nothing if it is within the tolerance. Infinities and the places of NaN are
/// exact.
std::optional<std::string> difference(const Array& got, const Expected& expected);

/// Runs a case; what went wrong, if something did.
std::optional<std::string> check(Backend& backend, const Row& row, const Case& of, bool symbolic);

/// Compares the gradients of a case, by the inputs of f64, with central differences.
std::optional<std::string> check_gradients(Backend& backend, const Gradients& gradients, const Row& row,
                                           const Case& of, int order = 1);

}  // namespace luminal::ops
