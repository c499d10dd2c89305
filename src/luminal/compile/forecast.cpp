#include "luminal/compile/forecast.h"

#include <algorithm>
#include <cmath>

namespace luminal {
namespace {

/// How much what two kernels take has in common, in logarithms: all have something, and a trend; neighbours
/// have more, and one that is the same has all.
struct Common {
  double near;  // of 1
  double all;
};
Common common(const Traits& a, const Traits& b) {
  constexpr double least = 1;
  constexpr double trend = 0.2;
  constexpr double reach = 2;
  double product = 0;
  double distance = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    product += a[k] * b[k];
    distance += (a[k] - b[k]) * (a[k] - b[k]);
  }
  const double near = std::exp(-distance / (2 * reach * reach));
  return {near, least + trend * product + near};
}

double dot(const std::vector<double>& a, const std::vector<double>& b, std::size_t count) {
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) sum += a[k] * b[k];
  return sum;
}

}  // namespace

void Forecast::add(const std::string& key, const Traits& traits, double noise) {
  constexpr std::size_t most = 1000;
  const std::size_t n = known_.size();
  if (n == most || !keys_.insert(key).second) return;
  std::vector<double> row(n + 1);
  for (std::size_t k = 0; k < n; ++k)
    row[k] = (common(traits, known_[k].traits).all - dot(row, lower_[k], k)) / lower_[k][k];
  row[n] = std::sqrt(common(traits, traits).all + noise - dot(row, row, n));
  known_.push_back({key, traits});
  lower_.push_back(std::move(row));
}

void Forecast::fit(const std::function<double(const std::string& key)>& took) {
  const std::size_t n = known_.size();
  weights_.resize(n);
  for (std::size_t k = 0; k < n; ++k)
    weights_[k] = (std::log(took(known_[k].key)) - dot(lower_[k], weights_, k)) / lower_[k][k];
  for (std::size_t k = n; k-- > 0;) {
    weights_[k] /= lower_[k][k];
    for (std::size_t j = 0; j < k; ++j) weights_[j] -= lower_[k][j] * weights_[k];
  }
}

Forecast::Ratio Forecast::ratio(const Traits& traits) const {
  constexpr double noise = 0.1;
  double sum = 0;
  double nearest = 0;
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    const auto [near, all] = common(traits, known_[k].traits);
    sum += weights_[k] * all;
    nearest = std::max(nearest, near);
  }
  // The nearest one alone leaves no more than this, and to ask all of them takes too long.
  return {std::exp(sum), std::sqrt(1 - nearest * nearest + noise)};
}

}  // namespace luminal
