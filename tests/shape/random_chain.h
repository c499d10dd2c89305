#pragma once
#include <vector>

#include "luminal/shape/view.h"
#include "tests/random.h"

namespace luminal::test {

/// A random chain of movements over a shape that may be symbolic, legal at the values `at`.
struct RandomChain {
  Shape source;
  std::vector<Movement> movements;
  DimMap at;
};

RandomChain random_chain(Random& random, bool symbolic);

}  // namespace luminal::test
