#pragma once
#include <functional>
#include <span>
#include <vector>

#include "luminal/compile/measure.h"

namespace luminal {

/// What is told of contests while they are held; short enough that a pipe keeps it whole.
struct ContestMessage {
  enum class Kind : std::int32_t {
    begins,    // the subject runs, or is compared
    verified,  // it is right
    timed,
    step,    // a time of one step of the subject's plan
    round,   // a round of times is over
    over,    // the subject's first moment is
    moment,  // its next one begins
    wrong,
    refused,
    unfit,
    unable,  // the device's programs do not run in a child
    done
  };
  Kind kind = Kind::done;
  std::int32_t subject = 0;
  std::int32_t step = 0;  // of the subject's plan
  double seconds = 0;
  bool sound = true;   // of a time: nothing disturbed the run
  bool first = false;  // and nothing ran before it
  char text[200] = {};
};

/// Holds the contests' parts that these subjects are, counted through all contests, one after the other: runs
/// and compares them, times them, and tells what happens. A further moment of one comes after the first
/// moments of all.
void hold(runtime::Device& device, std::span<const Contest> contests, const std::vector<std::size_t>& members,
          const std::function<void(const ContestMessage&)>& tell);

/// The first quartile, of less than four values the least; sorts them.
double first_quartile(std::vector<double>& values);

}  // namespace luminal
