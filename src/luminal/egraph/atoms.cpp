#include "luminal/egraph/atoms.h"

#include <algorithm>
#include <utility>

namespace luminal::egraph {

Elements sorted_map(Elements elements) {
  std::vector<std::size_t> keys;  // where they stand, by key, then by position
  keys.reserve(elements.size() / 2);
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) keys.push_back(i);
  std::sort(keys.begin(), keys.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(elements[a], a) < std::pair(elements[b], b);
  });
  const Elements unsorted = std::move(elements);
  elements.clear();
  for (const std::size_t at : keys) {
    const Value key = unsorted[at];
    const Value value = unsorted[at + 1];
    if (!elements.empty() && elements[elements.size() - 2] == key) {
      elements.back() = value;
    } else {
      elements.insert(elements.end(), {key, value});
    }
  }
  return elements;
}

}  // namespace luminal::egraph
