#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "luminal/shape/expr.h"

namespace luminal {

/// An Expr of coordinates only, made ready to be evaluated for many of them. Same values as `Expr::eval`.
class IndexProgram {
 public:
  /// `InternalError` if a variable other than a coordinate occurs.
  explicit IndexProgram(const Expr& expression);
  std::int64_t run(std::span<const std::int64_t> coordinates) const;

 private:
  struct Step {
    Expr::Kind kind;
    std::int64_t argument;  // a constant, a coordinate's axis, or the number of operands
  };
  void compile(const Expr& expression);
  std::vector<Step> steps_;
  mutable std::vector<std::int64_t> stack_;
};

}  // namespace luminal
