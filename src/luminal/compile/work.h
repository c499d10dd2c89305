#pragma once
#include <vector>

#include "luminal/compile/kernel_timer.h"

namespace luminal {

/// A kernel to be tuned in a round of a search, and what that may gain.
struct Work {
  TunedKernel* kernel;
  double count;  // in a run
  /// Itself, or those in whose place it could stand, and the part of them that it does.
  std::vector<const TunedKernel*> now;
  double part = 1;
  double hope = 1;  // in this round: falls with every step that found nothing
  int steps = 0;    // in this round

  /// What the next step may gain in a run, seconds: the less the more steps there were, and not beyond what
  /// the ceilings allow. Of this round: each tries a little more of what earlier ones left.
  double gain() const { return gain(hope, steps); }
  /// By what the step takes: the programs are compiled, and each runs some times. What gained nothing in
  /// earlier rounds comes after what is new.
  double worth() const;
  /// After a step: what the kernel took before it, and how many candidates it had.
  void learn(double before, std::size_t tried);

 private:
  double gain(double hoped, int done) const;
};

}  // namespace luminal
