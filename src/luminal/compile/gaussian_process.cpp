#include "luminal/compile/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "luminal/support/error.h"

namespace luminal {
namespace {

/// Of the first so many elements. Four sums, which do not wait for each other.
double dot(const std::vector<double>& a, const std::vector<double>& b, std::size_t count) {
  double sums[4] = {};
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4)
    for (std::size_t j = 0; j < 4; ++j) sums[j] += a[k + j] * b[k + j];
  for (; k < count; ++k) sums[0] += a[k] * b[k];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

GaussianProcess::Related GaussianProcess::related(const Point& a, const Point& b) const {
  double product = 0;
  double distance = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    product += a[k] * b[k];
    distance += (a[k] - b[k]) * (a[k] - b[k]);
  }
  const double near = std::exp(-distance / (2 * relation_.reach * relation_.reach));
  return {near, relation_.common + relation_.trend * product + relation_.near * near};
}

std::vector<double> GaussianProcess::solved(const Point& point) const {
  std::vector<double> row(known_.size());
  for (std::size_t k = 0; k < row.size(); ++k)
    row[k] = (related(point, known_[k]).all - dot(row, lower_[k], k)) / lower_[k][k];
  return row;
}

void GaussianProcess::add(const Point& point) {
  if (!known_.empty() && known_[0].size() != point.size())
    throw InternalError("gaussian process: points of one space are added");
  auto row = solved(point);
  const double left = related(point, point).all - dot(row, row, row.size());
  row.push_back(std::sqrt(std::max(left, 0.0) + relation_.noise));
  known_.push_back(point);
  lower_.push_back(std::move(row));
}

void GaussianProcess::fit(const std::vector<double>& numbers) {
  const std::size_t n = known_.size();
  if (numbers.size() != n) throw InternalError("gaussian process: one number for each point that was added");
  solved_numbers_.resize(n);
  for (std::size_t k = 0; k < n; ++k)
    solved_numbers_[k] = (numbers[k] - dot(lower_[k], solved_numbers_, k)) / lower_[k][k];
  weights_ = solved_numbers_;
  for (std::size_t k = n; k-- > 0;) {
    weights_[k] /= lower_[k][k];
    for (std::size_t j = 0; j < k; ++j) weights_[j] -= lower_[k][j] * weights_[k];
  }
}

GaussianProcess::Guess GaussianProcess::guess(const Point& point) const {
  double sum = 0;
  double nearest = 0;
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    const auto [near, all] = related(point, known_[k]);
    sum += weights_[k] * all;
    nearest = std::max(nearest, near);
  }
  // The nearest one alone leaves no more than this, and to ask all of them takes too long.
  return {sum, std::sqrt(relation_.near * (1 - nearest * nearest) + relation_.noise)};
}

std::vector<std::size_t> GaussianProcess::pick(const std::vector<Point>& points, std::size_t count,
                                               double curiosity) const {
  struct Candidate {
    std::vector<double> row;
    double mean;
    double left;  // the variance
    bool picked = false;
  };
  std::vector<Candidate> candidates;
  candidates.reserve(points.size());
  for (const auto& point : points) {
    auto row = solved(point);
    const double mean = dot(row, solved_numbers_, row.size());
    const double left = related(point, point).all - dot(row, row, row.size());
    candidates.push_back({std::move(row), mean, left});
  }
  std::vector<std::size_t> result;
  while (result.size() < std::min(count, points.size())) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      const double value = candidates[k].mean - curiosity * std::sqrt(std::max(candidates[k].left, 0.0));
      if (candidates[k].picked || value >= least) continue;
      least = value;
      best = k;
    }
    result.push_back(best);
    candidates[best].picked = true;
    const std::vector<double> chosen = candidates[best].row;
    const double last = std::sqrt(std::max(candidates[best].left, 0.0) + relation_.noise);
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      auto& candidate = candidates[k];
      const double common = related(points[k], points[best]).all - dot(candidate.row, chosen, chosen.size());
      candidate.row.push_back(common / last);
      candidate.left -= candidate.row.back() * candidate.row.back();
    }
  }
  return result;
}

}  // namespace luminal
