#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "suite.h"

namespace luminal::ops {

/// An input tensor: values, and the movements ("permute:1,0", "slice:0,1,5,2", "flip:1", "expand:0,3")
/// through which the op sees them.
struct InputTensor {
  Array base;
  std::vector<std::string> view;
};

struct Expected {
  Array values;
  /// How far a float may be off: so many units in the last place of the larger of the value and `scale`. 0:
  /// not at all.
  double ulps = 0;
  double scale = 0;
};

/// One call with the result that PyTorch gives.
struct Case {
  std::string op;
  std::string note;
  std::vector<std::variant<InputTensor, Number>> inputs;
  Args args;
  std::vector<Expected> outputs;
  int line = 0;

  /// The dtype that counts: of the first tensor, or of the result if there is none.
  DType dtype() const;
};

/// Reads what tools/make_op_references.py wrote. A case is a paragraph of lines:
///   case OP NOTE
///   in DTYPE DIMS HEX [MOVEMENT …]     a tensor: elements little end first, row-major; "-" for none
///   num b|i|r VALUE                    a number: 0 or 1, decimal, or the bits of a double in hex
///   arg NAME VALUE
///   out DTYPE DIMS ULPS SCALE HEX
std::vector<Case> read_cases(const std::string& file);

}  // namespace luminal::ops
