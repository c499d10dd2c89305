#pragma once
// What a proof knows beside its claim. Not for other layers.
#include <map>
#include <vector>

#include "luminal/shape/expr_node.h"

namespace luminal::detail {

/// Lower bounds of variables that hold wherever the expression has a value: coordinates exist only in arrays
/// whose extents are positive, and divisors are not 0.
class Facts {
 public:
  Facts(const Expr& claim, const Given& given);

  std::int64_t low(const Expr& variable) const;
  /// What says nothing of single variables: each of these is at least 0.
  const std::vector<Expr>& sums() const { return sums_; }

 private:
  std::map<Expr, std::int64_t> low_;
  std::vector<Expr> sums_;
  int budget_ = 200;

  void visit(const Expr& e);

  void raise(const Expr& variable, std::int64_t bound);

  /// Draws from e ≥ bound what it says of single variables.
  void assume_at_least(const Expr& e, std::int64_t bound);

  void assume_atom(const Expr& atom, std::int64_t bound);
};

}  // namespace luminal::detail
