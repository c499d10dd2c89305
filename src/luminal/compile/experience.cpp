#include "luminal/compile/experience.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "luminal/codegen/schedule_text.h"

namespace luminal {

void Experience::add(search::Family family, const codegen::Schedule& schedule, double ratio) {
  std::istringstream words(codegen::text(schedule));
  for (std::string word; words >> word;) {
    Word& known = words_[{family, word}];
    known.sum +=
        std::clamp(std::log(ratio), -1.0, 1.0);  // one that is very slow tells no more than slow ones
    ++known.count;
  }
}

double Experience::promise(search::Family family, const codegen::Schedule& schedule) const {
  std::istringstream words(codegen::text(schedule));
  double sum = 0;
  int count = 0;
  for (std::string word; words >> word; ++count)
    if (const auto known = words_.find({family, word}); known != words_.end())
      sum += known->second.sum / known->second.count;
  return count == 0 ? 0 : sum / count;
}

}  // namespace luminal
