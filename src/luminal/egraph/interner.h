#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "luminal/egraph/types.h"

namespace luminal::egraph {

/// Gives equal things equal numbers, counted from 0 in the order of first sight. `Hasher` and `Equal` decide
/// what is equal; the thing kept is the first one seen.
template <typename T, typename Hasher, typename Equal>
class Interner {
 public:
  Value intern(T thing) {
    if ((things_.size() + 1) * 2 > slots_.size()) grow();
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = Hasher{}(thing)&mask;
    for (; slots_[i] != no_row; i = (i + 1) & mask) {
      if (Equal{}(things_[slots_[i]], thing)) return slots_[i];
    }
    slots_[i] = static_cast<Value>(things_.size());
    things_.push_back(std::move(thing));
    return slots_[i];
  }
  const T& operator[](Value value) const { return things_[value]; }
  std::size_t size() const { return things_.size(); }

 private:
  void grow() {
    slots_.assign(slots_.empty() ? 16 : slots_.size() * 2, no_row);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t n = 0; n < things_.size(); ++n) {
      std::size_t i = Hasher{}(things_[n]) & mask;
      while (slots_[i] != no_row) i = (i + 1) & mask;
      slots_[i] = static_cast<Value>(n);
    }
  }
  std::vector<T> things_;
  std::vector<Value> slots_;
};

}  // namespace luminal::egraph
