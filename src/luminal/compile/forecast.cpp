#include "luminal/compile/forecast.h"

#include <algorithm>
#include <cmath>

namespace luminal {

void Forecast::add(const std::string& key, const Traits& traits) {
  constexpr std::size_t most = 1000;
  if (keys_.size() == most || !known_.insert(key).second) return;
  keys_.push_back(key);
  logarithms_.add(traits);
}

void Forecast::fit(const std::function<double(const std::string& key)>& took) {
  std::vector<double> numbers;
  numbers.reserve(keys_.size());
  constexpr double least = 1e-6;  // no time at all has no logarithm
  for (const auto& key : keys_) numbers.push_back(std::log(std::max(least, took(key))));
  logarithms_.fit(numbers);
}

Forecast::Ratio Forecast::ratio(const Traits& traits) const {
  const auto [mean, spread] = logarithms_.guess(traits);
  return {std::exp(mean), spread};
}

}  // namespace luminal
