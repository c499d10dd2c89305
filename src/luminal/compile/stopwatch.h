#pragma once

namespace luminal {

/// Takes the time of one run on a machine that others use too. A run that was never interrupted takes what
/// the clock says. A long one that was takes what its threads computed, spread over as many as can work at
/// once: the time that others had is not its own. Of a short one that is not known well enough: it is
/// `disturbed`, and better not counted.
class Stopwatch {
 public:
  Stopwatch();
  /// Since it was made. `parallel` is the part of the work that the busiest of the workers does: 1 if one
  /// does all.
  double seconds(double parallel) const;
  /// Whether others had a processor meanwhile that this process wanted.
  bool interrupted() const;
  /// Whether it was interrupted, and too short to know what others had of it.
  bool disturbed() const;

 private:
  double wall_;
  double processor_;
  long interruptions_;
};

}  // namespace luminal
