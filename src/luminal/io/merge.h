#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace luminal::io {

/// A stretch of a piece while it is being merged with its neighbours.
struct Symbol {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;  // 0: merged into the one before it
  std::int32_t id = -1;    // −1: not a token
  std::int32_t previous = -1;
  std::int32_t next = -1;
};

struct Merge {
  float priority;
  std::int32_t id;
};

/// Merges neighbours, least priority first and then leftmost, until `find(left, right)` knows no merge.
template <typename Find>
void merge_symbols(std::vector<Symbol>& symbols, const Find& find) {
  struct Candidate {
    float priority;
    std::int32_t left;
    std::uint32_t size;  // of both: a candidate whose symbols have changed since is stale
    std::int32_t id;
  };
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.left > b.left;
  };
  std::vector<Candidate> heap;
  const auto at = [&](std::int32_t i) -> Symbol& { return symbols[static_cast<std::size_t>(i)]; };
  const auto consider = [&](std::int32_t left) {
    if (left < 0 || at(left).next < 0) return false;
    const std::optional<Merge> merge = find(at(left), at(at(left).next));
    if (merge) heap.push_back({merge->priority, left, at(left).size + at(at(left).next).size, merge->id});
    return merge.has_value();
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    symbols[i].previous = static_cast<std::int32_t>(i) - 1;
    symbols[i].next = i + 1 < symbols.size() ? static_cast<std::int32_t>(i) + 1 : -1;
  }
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) consider(static_cast<std::int32_t>(i));
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const Candidate best = heap.back();
    heap.pop_back();
    Symbol& left = at(best.left);
    if (left.size == 0 || left.next < 0 || left.size + at(left.next).size != best.size) continue;
    Symbol& right = at(left.next);
    left.size = best.size;
    left.id = best.id;
    left.next = right.next;
    right.size = 0;
    if (left.next >= 0) at(left.next).previous = best.left;
    if (consider(left.previous)) std::push_heap(heap.begin(), heap.end(), later);
    if (consider(best.left)) std::push_heap(heap.begin(), heap.end(), later);
  }
}

}  // namespace luminal::io
