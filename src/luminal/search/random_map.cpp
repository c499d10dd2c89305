// Random mappings, for tests.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "luminal/search/map.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"

namespace luminal::search {

using rewriting::Body;
using rewriting::Term;

namespace {

/// Draws a term for every class it needs, such that no class needs itself, and cuts at random.
class RandomMapper {
 public:
  RandomMapper(const Terms& terms, std::uint64_t seed) : terms_(terms), state_(seed) { heights(); }

  Mapping run() {
    Mapping result;
    for (const auto root : terms_.roots) need(root, result);
    return result;
  }

 private:
  std::uint64_t draw() {
    state_ += 0x9E3779B97F4A7C15ULL;
    return Hash(state_).add(state_ >> 7).value();
  }
  bool chance(int percent) { return draw() % 100 < static_cast<std::uint64_t>(percent); }

  /// A random rank for every class, above that of the children of its least deep term: a term is usable if
  /// all its children rank lower, so one always is, and following them never comes back.
  void heights() {
    const std::size_t count = terms_.classes.size();
    std::vector<std::uint64_t> height(count, unknown);
    std::vector<const Term*> least(count, nullptr);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t k = 0; k < count; ++k)
        for (const auto& term : terms_.classes[k].terms) {
          std::uint64_t deepest = 0;
          for (const auto child : term.children) deepest = std::max(deepest, height[child.index()]);
          if (deepest >= unknown || deepest + 1 >= height[k]) continue;
          height[k] = deepest + 1;
          least[k] = &term;
          changed = true;
        }
    }
    std::vector<std::size_t> order(count);
    for (std::size_t k = 0; k < count; ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return height[a] < height[b]; });
    rank_.assign(count, 0);
    for (const auto k : order) {
      if (least[k] == nullptr) continue;
      for (const auto child : least[k]->children) rank_[k] = std::max(rank_[k], rank_[child.index()] + 1);
      rank_[k] += chance(50) ? 0 : draw() % 64;
    }
  }

  const Term& pick(ClassId id) {
    const auto& c = terms_[id];
    const auto found = picked_.find(id);
    if (found != picked_.end()) return c.terms[found->second];
    std::vector<std::size_t> usable;
    for (std::size_t n = 0; n < c.terms.size(); ++n) {
      const auto& children = c.terms[n].children;
      if (std::all_of(children.begin(), children.end(),
                      [&](ClassId child) { return rank_[child.index()] < rank_[id.index()]; }))
        usable.push_back(n);
    }
    if (usable.empty()) throw InternalError("random mapping: a class has no term");
    const std::size_t n = usable[draw() % usable.size()];
    picked_.emplace(id, n);
    return c.terms[n];
  }

  BodyRef body(ClassId id, bool top, std::map<ClassId, BodyRef>& made, Mapping& result) {
    const auto& c = terms_[id];
    auto fresh = std::make_shared<Body>();
    fresh->owner = id;
    if (c.is_source()) return fresh;
    const Term& term = pick(id);
    const bool simple = term.children.empty() || term.kind == Term::Kind::view;
    if (!top && (c.is_single || is_kernel_root(term) || (!simple && chance(35)))) {
      need(id, result);
      return fresh;
    }
    if (const auto found = made.find(id); found != made.end()) return found->second;
    fresh->term = &term;
    for (std::size_t k = 0; k < term.children.size(); ++k) {
      if (term.kind == Term::Kind::scatter && k == 0) {
        need(term.children[0], result);
        auto base = std::make_shared<Body>();
        base->owner = term.children[0];
        fresh->children.push_back(base);
        continue;
      }
      fresh->children.push_back(body(term.children[k], false, made, result));
    }
    made.emplace(id, fresh);
    return fresh;
  }

  void need(ClassId id, Mapping& result) {
    if (terms_[id].is_source() || !needed_.insert(id).second) return;
    std::map<ClassId, BodyRef> made;
    const BodyRef root = body(id, true, made, result);
    result.bodies.push_back(root);
  }

  static constexpr std::uint64_t unknown = 1'000'000;
  const Terms& terms_;
  std::uint64_t state_;
  std::vector<std::uint64_t> rank_;
  std::map<ClassId, std::size_t> picked_;
  std::set<ClassId> needed_;
};

}  // namespace

Mapping random_mapping(const Terms& terms, std::uint64_t seed) {
  return RandomMapper(terms, seed).run();
}

}  // namespace luminal::search
