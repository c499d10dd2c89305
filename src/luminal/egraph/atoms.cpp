#include "luminal/egraph/atoms.h"

#include <algorithm>
#include <utility>

namespace luminal::egraph {

Elements sorted_map(Elements elements) {
  std::vector<std::pair<Value, Value>> entries;
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) entries.emplace_back(elements[i], elements[i + 1]);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  elements.clear();
  for (const auto& [key, value] : entries) {
    if (!elements.empty() && elements[elements.size() - 2] == key) {
      elements.back() = value;
    } else {
      elements.insert(elements.end(), {key, value});
    }
  }
  return elements;
}

}  // namespace luminal::egraph
