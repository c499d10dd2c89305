#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "luminal/graph/array.h"

namespace luminal::nn {

/// Makes the first values of a state: from its dims, a dtype and a key for random numbers. The same key, the
/// same values.
using Initialiser =
    std::function<Array(const std::vector<std::int64_t>& dims, DType dtype, std::uint64_t key)>;

namespace init {

Initialiser constant(double value);
Initialiser zeros();
Initialiser ones();
Initialiser uniform(double low, double high);
Initialiser normal(double mean = 0, double deviation = 1);
/// Normal, with values beyond two deviations drawn again.
Initialiser truncated_normal(double mean = 0, double deviation = 1);
/// Glorot's, over fan-in plus fan-out: axis 0 counts outputs, axis 1 inputs, the others a window, as in
/// PyTorch.
Initialiser xavier_uniform(double gain = 1);
Initialiser xavier_normal(double gain = 1);
/// He's, over fan-in, for a leaky ReLU of this slope (0: ReLU).
Initialiser kaiming_uniform(double slope = 0);
Initialiser kaiming_normal(double slope = 0);
/// Orthonormal rows or columns of the matrix [axis 0, all others].
Initialiser orthogonal(double gain = 1);

}  // namespace init

}  // namespace luminal::nn
