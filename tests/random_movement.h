#pragma once
#include "luminal/luminal.h"
#include "tests/random.h"

namespace luminal::test {

/// One of the movements, along a random axis.
inline Tensor random_movement(Random& random, const Tensor& x) {
  if (x.rank() == 0) return random.chance(0.5) ? x.unsqueeze(0) : x.expand_dim(0, random.between(0, 3));
  const int axis = static_cast<int>(random.between(0, static_cast<std::int64_t>(x.rank()) - 1));
  switch (random.between(0, 6)) {
    case 0:
      return x.transpose(0, axis);
    case 1:
      return x.flip(axis);
    case 2:
      return x.pad(axis, random.between(0, 2), random.between(0, 2), Number(random.between(0, 3)));
    case 3:
      return x.slice(axis, random.between(0, 1), random.between(1, 4), random.between(1, 2));
    case 4:
      return x.reshape({-1});
    case 5:
      return x.rank() < 4 ? x.expand_dim(axis, random.between(1, 2)) : x;
    default: {
      const auto length = x.shape()[static_cast<std::size_t>(axis)].constant_value();
      return length && *length >= 2 && x.rank() < 4 ? x.unfold(axis, 2) : x;
    }
  }
}

}  // namespace luminal::test
