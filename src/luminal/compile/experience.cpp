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
  constexpr double curiosity = 0.1;  // what is seldom tried may be better than it seems
  std::istringstream words(codegen::text(schedule));
  double sum = 0;
  double hope = 0;
  int count = 0;
  int known = 0;
  for (std::string word; words >> word; ++count) {
    const auto found = words_.find({family, word});
    const int tried = found != words_.end() ? found->second.count : 0;
    hope += curiosity / std::sqrt(1.0 + tried);
    if (tried == 0) continue;
    sum += found->second.sum / tried;
    ++known;
  }
  return known == 0 ? 0 : sum / known - hope / count;
}

}  // namespace luminal
