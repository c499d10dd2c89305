#pragma once
// What the optimisers share. Not for other layers.
#include <string>
#include <vector>

#include "luminal/frontend/formula.h"
#include "luminal/optim/optimiser.h"

namespace luminal::optim {

/// A parameter on its way through an update: its value and gradient in f32 at least.
struct Slot {
  State parameter;
  Term value;
  Term gradient;
};

/// Builds nodes at the line of the user's call.
struct Build {
  Location where;

  Term at(const Tensor& tensor) const { return {tensor, where}; }
  /// Refuses lists of different lengths, gradients of other shapes, and integer parameters.
  std::vector<Slot> slots(const Step& step, std::string_view family) const;
  /// A state of the parameter's shape, named after it.
  State moment(const Slot& slot, const std::string& name, double initial = 0) const;
  /// The number of this run, from 1, as an f64 scalar.
  Term counter(const Step& step, const std::string& family, Updates& updates) const;
  /// The gradient plus weight decay.
  Term decayed(const Slot& slot, double weight_decay) const;
  /// Adds the parameter's new value, in its own dtype.
  void finish(const Slot& slot, const Term& value, Updates& updates) const;

  /// A number or scalar tensor in the slot's dtype and shape.
  Term scalar(const Slot& slot, const Operand& value) const;
  /// A number or scalar tensor as an f64 scalar of the slot's graph.
  Term wide(const Slot& slot, const Operand& value) const;
  /// baseᵗ for an f64 scalar t.
  Term power(double base, const Term& exponent) const;
};

}  // namespace luminal::optim
