#pragma once
#include <cstddef>
#include <vector>

namespace luminal {

/// Numbers at points of a space, of which some are known, and the others are like those
/// near them.
class GaussianProcess {
 public:
  using Point = std::vector<double>;
  /// How numbers are related.
  struct Relation {
    double common = 0;   // the variance of what all have in common,
    double trend = 0;    // of what grows with the coordinates,
    double near = 1;     // and of what neighbours have in common
    double reach = 1;    // so far away
    double noise = 0.1;  // the variance of what one number alone says
  };
  explicit GaussianProcess(const Relation& relation) : relation_(relation) {}

  /// A point of which the number is known from now on.
  void add(const Point& point);
  /// The numbers of all points that were added, in that order.
  void fit(const std::vector<double>& numbers);

  struct Guess {
    double mean = 0;
    double spread = 0;  // how far off it may be: at most so much
  };
  Guess guess(const Point& point) const;
  /// Those among the points, by their places, that are likely to have the least numbers, or of which little
  /// is known: the mean less `curiosity` deviations counts. Each one that is picked counts as known for the
  /// next ones, so they are not all alike.
  std::vector<std::size_t> pick(const std::vector<Point>& points, std::size_t count, double curiosity) const;

 private:
  /// `near` of what is related: 1 for equal points.
  struct Related {
    double near;
    double all;
  };
  Related related(const Point& a, const Point& b) const;
  /// A row more of the Cholesky factor, without its last element.
  std::vector<double> solved(const Point& point) const;

  Relation relation_;
  std::vector<Point> known_;
  std::vector<std::vector<double>> lower_;  // the Cholesky factor of their covariances, by rows
  std::vector<double> solved_numbers_;
  std::vector<double> weights_;
};

}  // namespace luminal
