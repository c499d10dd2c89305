#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "luminal/egraph/types.h"

namespace luminal::egraph {

/// Which e-class ids are equal. Of two joined classes the smaller id stays the name of both, so the outcome
/// does not depend on the order of joining.
class UnionFind {
 public:
  Value make() {
    parents_.push_back(static_cast<Value>(parents_.size()));
    return parents_.back();
  }
  std::size_t size() const { return parents_.size(); }
  bool canonical(Value id) const { return parents_[id] == id; }

  Value find(Value id) const {
    while (parents_[id] != id) id = parents_[id];
    return id;
  }
  Value find_and_compress(Value id) {
    while (parents_[id] != id) {
      parents_[id] = parents_[parents_[id]];
      id = parents_[id];
    }
    return id;
  }
  /// Joins two canonical, different ids; returns the one that is no longer canonical.
  Value join(Value a, Value b) {
    if (b < a) std::swap(a, b);
    parents_[b] = a;
    return b;
  }
  std::size_t bytes() const { return parents_.capacity() * sizeof(Value); }

 private:
  std::vector<Value> parents_;
};

}  // namespace luminal::egraph
