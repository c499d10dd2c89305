#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/shape/expr.h"
#include "tests/random.h"

namespace luminal::test {

/// An expression as it was written, with nothing normalised: what `Expr` is compared with.
struct Written {
  Expr::Kind kind = Expr::Kind::constant;
  bool negated = false;  // logical_not of what the kind says
  std::int64_t value = 0;
  std::size_t variable = 0;
  std::unique_ptr<Written> left, right;

  std::string text() const;
};

/// The variables of random expressions: some bounded on both sides, some on one, coordinates of constant and
/// symbolic extents.
struct Variables {
  Variables();
  std::vector<Expr> all;
  /// Values within bounds, small; nullopt if an extent came out as 0, so that its coordinate has no value.
  std::optional<DimMap> sample(Random& random) const;
  std::map<std::string, Expr, std::less<>> declared() const;
};

std::unique_ptr<Written> write_randomly(Random& random, const Variables& variables, int depth,
                                        bool large_constants);
/// Throws what the constructors throw.
Expr build(const Written& written, const Variables& variables);
/// Step by step, in 64 bits; nullopt where a step has no value.
std::optional<std::int64_t> evaluate(const Written& written, const Variables& variables,
                                     const DimMap& values);

}  // namespace luminal::test
