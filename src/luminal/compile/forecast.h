#pragma once
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "luminal/compile/traits.h"

namespace luminal {

/// What kernels that were never timed take by what the roofline says, from those that were: a regression with
/// a Gaussian process. Kernels like one that is known take what it did; of others, what the trend says.
class Forecast {
 public:
  /// A kernel that is known from now on, if it was not. `noise`: the variance of what one alone says, in
  /// logarithms. Of very many the first ones say enough.
  void add(const std::string& key, const Traits& traits, double noise);
  /// `took` gives what each of them takes by what the roofline says.
  void fit(const std::function<double(const std::string& key)>& took);
  struct Ratio {
    double mean = 1;    // what a kernel takes by what the roofline says,
    double spread = 1;  // and how far off that may be: the deviation of its logarithm
  };
  Ratio ratio(const Traits& traits) const;

 private:
  struct Known {
    std::string key;
    Traits traits;
  };
  std::vector<Known> known_;
  std::set<std::string> keys_;
  std::vector<std::vector<double>> lower_;  // the Cholesky factor of their covariances, by rows
  std::vector<double> weights_;             // of what is known, in a forecast
};

}  // namespace luminal
