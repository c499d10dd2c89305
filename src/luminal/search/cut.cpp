#include "luminal/search/cut.h"

#include <map>
#include <set>

#include "luminal/support/hash.h"

namespace luminal::search {

CutRef leaf_cut(ClassId owner) {
  auto cut = std::make_shared<Cut>();
  auto body = std::make_shared<rewriting::Body>();
  body->owner = owner;
  cut->body = std::move(body);
  cut->key = Hash(1).add(owner.value()).value();
  cut->leaves = {owner};
  return cut;
}

CutRef combined(ClassId owner, const rewriting::Term& term, std::size_t number,
                const std::vector<CutRef>& children) {
  auto cut = std::make_shared<Cut>();
  auto body = std::make_shared<rewriting::Body>();
  body->owner = owner;
  body->term = &term;
  Hash key(2);
  key.add(owner.value()).add(number);
  std::set<ClassId> leaves;
  std::map<ClassId, std::uint64_t> inlined;
  std::set<ClassId> reductions;
  for (const auto& child : children) {
    body->children.push_back(child->body);
    key.add(child->key);
    leaves.insert(child->leaves.begin(), child->leaves.end());
    reductions.insert(child->reductions.begin(), child->reductions.end());
    for (const auto& [inner, how] : child->inlined)
      if (inlined.emplace(inner, how).first->second != how) return nullptr;
  }
  if (term.kind == rewriting::Term::Kind::reduce) reductions.insert(owner);
  if (leaves.contains(owner) || inlined.contains(owner)) return nullptr;
  for (const auto leaf : leaves)
    if (inlined.contains(leaf)) return nullptr;
  cut->key = key.value();
  inlined.emplace(owner, cut->key);
  cut->body = std::move(body);
  cut->leaves.assign(leaves.begin(), leaves.end());
  cut->inlined.assign(inlined.begin(), inlined.end());
  cut->reductions.assign(reductions.begin(), reductions.end());
  cut->size = cut->inlined.size();
  return cut;
}

}  // namespace luminal::search
