#pragma once
#include <cstddef>
#include <vector>

namespace luminal {

/// What the rounds of a search gained: the time goes where something is found, and nobody waits for more
/// where little is.
class Gains {
 public:
  /// `seconds` is what a run takes by what is known before the first round.
  explicit Gains(double seconds) : rounds_{{seconds, 0, 0}} {}

  /// In this round tuning made this of a run's time, or a mapping promised to; what takes longer is not
  /// counted.
  void by_tuning(double before, double after) { by_tuning_ += part(before, after); }
  void by_mapping(double before, double after) { by_mapping_ += part(before, after); }
  /// A run takes so long now, by the best plan that is known, so many schedules were tried in all, and so
  /// many seconds have passed.
  void end_round(double seconds, std::size_t tried, double passed);

  /// The part of the next round that is for schedules, the rest is for mappings: by what they gained and
  /// promised lately, a fifth at least for each; more for mappings at first, and if these are quick.
  double tuning_share(bool are_quick) const;
  /// Rounds that found nothing, one after the other, five at most: further than that nobody need look.
  std::size_t stale() const { return stale_; }
  /// Whether to go on: not if six rounds tried nothing, or the last six, or as many as took `patience`
  /// seconds, gained less than a hundredth.
  bool are_worthwhile(double patience) const;

 private:
  static double part(double before, double after);

  double by_tuning_ = 0;
  double by_mapping_ = 0;
  std::size_t stale_ = 0;
  struct Round {
    double least;  // seconds of a run, after it
    std::size_t tried;
    double passed;
  };
  std::vector<Round> rounds_;
};

}  // namespace luminal
