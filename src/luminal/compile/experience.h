#pragma once
#include <map>
#include <string>
#include <utility>

#include "luminal/codegen/schedule.h"
#include "luminal/search/cost.h"

namespace luminal {

/// What schedules gained for kernels of a family, word by word of their texts: a kernel tries first what did
/// well for others like it.
class Experience {
 public:
  /// The schedule took `ratio` times as long as the kernel's usual one.
  void add(search::Family family, const codegen::Schedule& schedule, double ratio);
  /// Below 0 if its words did better than the usual ones, on average; less for words that were seldom tried.
  /// 0 if all are new.
  double promise(search::Family family, const codegen::Schedule& schedule) const;

 private:
  struct Word {
    double sum = 0;  // of the ratios' logarithms
    int count = 0;
  };
  std::map<std::pair<search::Family, std::string>, Word> words_;
};

}  // namespace luminal
