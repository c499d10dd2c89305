#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "luminal/compile/gaussian_process.h"
#include "luminal/compile/traits.h"

namespace luminal {

/// What kernels that were never timed take by what the roofline says, from those that were. Kernels like one
/// that is known take what it did; of others, what the trend says.
class Forecast {
 public:
  /// A kernel that is known from now on, if it was not. Of very many the first ones say enough.
  void add(const std::string& key, const Traits& traits);
  /// `took` gives what each of them takes by what the roofline says.
  void fit(const std::function<double(const std::string& key)>& took);
  struct Ratio {
    double mean = 1;    // what a kernel takes by what the roofline says,
    double spread = 1;  // and how far off that may be: the deviation of its logarithm
  };
  Ratio ratio(const Traits& traits) const;

 private:
  GaussianProcess logarithms_{{.common = 1, .trend = 0.2, .near = 1, .reach = 2, .noise = 0.1}};
  std::vector<std::string> keys_;
  std::set<std::string> known_;
};

}  // namespace luminal
