#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>

#include "luminal/egraph/extract.h"
#include "luminal/support/hash.h"

namespace luminal::egraph {
namespace {

/// Builds the cheapest terms of all classes together: every class keeps its best few, and a class whose list
/// changed makes its users combine anew, until nothing changes.
class Ranking {
 public:
  Ranking(const Frozen& frozen, std::size_t count, const NodeCost& cost)
      : frozen_(frozen), count_(count), lists_(frozen.class_count()), users_(frozen.class_count()) {
    own_.resize(frozen.node_count());
    std::set<std::uint32_t> dirty;
    for (std::uint32_t i = 0; i < frozen.node_count(); ++i) {
      own_[i] = cost ? cost(frozen.node(i)) : frozen.node(i).cost;
      for (const std::uint32_t child : frozen.children(frozen.node(i))) {
        if (child != no_class) users_[child].push_back(frozen.node(i).owner);
      }
      dirty.insert(frozen.node(i).owner);
    }
    while (!dirty.empty()) {
      const std::uint32_t owner = *dirty.begin();
      dirty.erase(dirty.begin());
      if (refresh(owner)) dirty.insert(users_[owner].begin(), users_[owner].end());
    }
  }

  RankedTerms take(std::uint32_t root) { return {std::move(terms_), lists_[root]}; }

 private:
  using Ranks = std::vector<std::uint32_t>;
  struct Combination {
    std::uint64_t cost;
    std::uint32_t node;
    Ranks ranks;
    bool operator>(const Combination& other) const {
      return std::tie(cost, node, ranks) > std::tie(other.cost, other.node, other.ranks);
    }
  };

  std::optional<std::uint64_t> cost_of(std::uint32_t index, const Ranks& ranks) const {
    const auto children = frozen_.children(frozen_.node(index));
    std::uint64_t total = own_[index];
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (children[i] == no_class || ranks[i] >= lists_[children[i]].size()) return std::nullopt;
      total = saturating_sum(total, lists_[children[i]][ranks[i]].cost);
    }
    return total;
  }

  bool refresh(std::uint32_t owner) {
    std::priority_queue<Combination, std::vector<Combination>, std::greater<>> queue;
    std::set<std::pair<std::uint32_t, Ranks>> queued;
    const auto offer = [&](std::uint32_t index, const Ranks& ranks) {
      const auto cost = cost_of(index, ranks);
      if (cost && queued.emplace(index, ranks).second) queue.push({*cost, index, ranks});
    };
    for (std::uint32_t i = frozen_.first_node(owner); i < frozen_.last_node(owner); ++i) {
      offer(i, Ranks(frozen_.node(i).child_count, 0));
    }
    std::vector<RankedTerm> list;
    while (!queue.empty() && list.size() < count_) {
      const Combination top = queue.top();
      queue.pop();
      list.push_back({intern(top), top.cost});
      Ranks ranks = top.ranks;
      for (std::uint32_t& rank : ranks) {
        ++rank;
        offer(top.node, ranks);
        --rank;
      }
    }
    const bool changed =
        !std::equal(list.begin(), list.end(), lists_[owner].begin(), lists_[owner].end(),
                    [](const RankedTerm& a, const RankedTerm& b) { return a.term == b.term; });
    lists_[owner] = std::move(list);
    return changed;
  }

  std::uint32_t intern(const Combination& combination) {
    TermNode term;
    term.node = combination.node;
    const auto children = frozen_.children(frozen_.node(combination.node));
    for (std::size_t i = 0; i < children.size(); ++i) {
      term.children.push_back(lists_[children[i]][combination.ranks[i]].term);
    }
    std::vector<std::uint32_t> key = term.children;
    key.push_back(term.node);
    const auto [place, fresh] = numbers_.emplace(std::move(key), static_cast<std::uint32_t>(terms_.size()));
    if (fresh) terms_.push_back(std::move(term));
    return place->second;
  }

  const Frozen& frozen_;
  std::size_t count_;
  std::vector<std::uint64_t> own_;
  std::vector<std::vector<RankedTerm>> lists_;
  std::vector<std::vector<std::uint32_t>> users_;
  std::vector<TermNode> terms_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
};

/// Draws one acyclic choice by walking down from the root, taking nodes in random order and going back where
/// a node would need a class that is being built. After too many steps it takes the cheapest terms instead.
class Draw {
 public:
  Draw(const Frozen& frozen, const Choice& fallback, std::uint64_t seed)
      : frozen_(frozen), fallback_(fallback), random_(seed) {
    choice_.nodes.assign(frozen.class_count(), no_node);
    choice_.costs.assign(frozen.class_count(), no_cost);
    state_.assign(frozen.class_count(), State::unseen);
  }

  Choice run(std::uint32_t root) {
    if (build(root, 0)) return std::move(choice_);
    return fallback_;
  }

 private:
  enum class State : std::uint8_t { unseen, open, done };

  bool build(std::uint32_t owner, std::size_t depth) {
    constexpr std::size_t most_steps = 200000;
    constexpr std::size_t deepest = 5000;
    if (owner == no_class || fallback_.nodes[owner] == no_node) return false;
    if (state_[owner] != State::unseen) return state_[owner] == State::done;
    if (++steps_ > most_steps || depth > deepest) return false;
    state_[owner] = State::open;
    for (const std::uint32_t index : shuffled(owner)) {
      const auto children = frozen_.children(frozen_.node(index));
      const bool built = std::all_of(children.begin(), children.end(),
                                     [&](std::uint32_t child) { return build(child, depth + 1); });
      if (!built) continue;
      choice_.nodes[owner] = index;
      state_[owner] = State::done;
      return true;
    }
    state_[owner] = State::unseen;
    return false;
  }

  std::vector<std::uint32_t> shuffled(std::uint32_t owner) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = frozen_.first_node(owner); i < frozen_.last_node(owner); ++i) order.push_back(i);
    for (std::size_t i = order.size(); i > 1; --i) {
      random_ = Hash(random_).add(i).value();
      std::swap(order[i - 1], order[random_ % i]);
    }
    return order;
  }

  const Frozen& frozen_;
  const Choice& fallback_;
  std::uint64_t random_;
  Choice choice_;
  std::vector<State> state_;
  std::size_t steps_ = 0;
};

}  // namespace

RankedTerms extract_best(const Frozen& frozen, std::uint32_t root, std::size_t count, const NodeCost& cost) {
  return Ranking(frozen, count, cost).take(root);
}

std::vector<Choice> sample_terms(const Frozen& frozen, std::uint32_t root, std::size_t count,
                                 std::uint64_t seed) {
  const Choice fallback = extract_tree(frozen);
  std::vector<Choice> samples;
  if (root == no_class || fallback.nodes[root] == no_node) return samples;
  std::set<std::vector<std::uint32_t>> seen;
  const std::size_t tries = count * 20 + 20;
  for (std::size_t attempt = 0; attempt < tries && samples.size() < count; ++attempt) {
    Choice choice = Draw(frozen, fallback, Hash(seed).add(attempt).value()).run(root);
    // Only what the root needs makes a difference.
    std::vector<std::uint32_t> needed(frozen.class_count(), no_node);
    std::vector<std::uint32_t> stack = {root};
    while (!stack.empty()) {
      const std::uint32_t owner = stack.back();
      stack.pop_back();
      if (needed[owner] != no_node) continue;
      needed[owner] = choice.nodes[owner];
      for (const std::uint32_t child : frozen.children(frozen.node(needed[owner]))) stack.push_back(child);
    }
    if (!seen.insert(needed).second) continue;
    choice.nodes = std::move(needed);
    samples.push_back(std::move(choice));
  }
  return samples;
}

}  // namespace luminal::egraph
