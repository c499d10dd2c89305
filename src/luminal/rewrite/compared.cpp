#include "luminal/rewrite/compared.h"

#include <algorithm>
#include <map>
#include <set>

namespace luminal::rewriting {
namespace {

using Classes = std::set<ClassId>;

/// Gives elements of its argument, unchanged.
bool only_selects(const Term& term) {
  return term.kind == Term::Kind::view ||
         (term.kind == Term::Kind::reduce && term.monoid == kernel::Monoid::max);
}

class Marker {
 public:
  explicit Marker(Terms& terms) : terms_(terms) {}

  void run() {
    for (const auto& c : terms_.classes)
      for (const auto& term : c.terms)
        if (term.kind == Term::Kind::map && (term.op == Op::equal || term.op == Op::less))
          pairs_.emplace(term.children[0], term.children[1]);
    for (const auto& [a, b] : pairs_) mark(a, b);
    for (auto& [id, only] : allowed_) {
      auto& terms = terms_.classes[id.index()].terms;
      std::erase_if(terms, [&selected = only](const Term& t) {
        return !only_selects(t) || !selected.contains(t.children[0]);
      });
    }
  }

 private:
  void mark(ClassId a, ClassId b) {
    if (!is_floating(terms_[a].dtype) || terms_[a].value || terms_[b].value) return;
    const Classes& of_a = origins(a);
    const Classes& of_b = origins(b);
    std::optional<ClassId> shared;
    for (const auto id : of_a) {
      if (!of_b.contains(id)) continue;
      if (terms_[id].is_source()) return;  // is in memory already
      if (computes(id) && (!shared || before(id, *shared))) shared = id;
    }
    if (!shared) return;
    terms_.classes[shared->index()].is_single = true;
    restrict_to(of_a, *shared);
    restrict_to(of_b, *shared);
  }

  bool computes(ClassId id) const {
    const auto& all = terms_[id].terms;
    return !std::all_of(all.begin(), all.end(), only_selects);
  }

  /// Small ones first, since they are kept in memory; then those of the graph as it was given.
  bool before(ClassId a, ClassId b) const {
    const auto rank = [&](ClassId id) {
      double elements = 1;
      for (const auto& dim : terms_[id].shape) elements *= static_cast<double>(dim.try_eval({}).value_or(64));
      return std::tuple(elements, !terms_[id].is_original, id);
    };
    return rank(a) < rank(b);
  }

  /// The classes whose elements a class may consist of.
  const Classes& origins(ClassId id) {
    const auto [it, fresh] = origins_.try_emplace(id);
    if (!fresh) return it->second;
    std::vector<ClassId> stack = {id};
    Classes found;
    while (!stack.empty()) {
      const ClassId at = stack.back();
      stack.pop_back();
      if (!found.insert(at).second) continue;
      for (const auto& term : terms_[at].terms)
        if (only_selects(term)) stack.push_back(term.children[0]);
    }
    it->second = std::move(found);
    return it->second;
  }

  /// Of `classes`, those that can be read from `target` are.
  void restrict_to(const Classes& classes, ClassId target) {
    Classes reach = {target};
    for (bool grown = true; grown;) {
      grown = false;
      for (const auto id : classes) {
        if (reach.contains(id)) continue;
        for (const auto& term : terms_[id].terms)
          if (only_selects(term) && reach.contains(term.children[0])) {
            grown = reach.insert(id).second;
            break;
          }
      }
    }
    for (const auto id : reach)
      if (id != target) allowed_[id].insert(reach.begin(), reach.end());
  }

  Terms& terms_;
  std::set<std::pair<ClassId, ClassId>> pairs_;
  std::map<ClassId, Classes> origins_;
  std::map<ClassId, Classes> allowed_;
};

}  // namespace

void mark_compared(Terms& terms) {
  Marker(terms).run();
}

}  // namespace luminal::rewriting
