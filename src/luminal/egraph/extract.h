#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "luminal/egraph/frozen.h"

namespace luminal::egraph {

inline constexpr std::uint64_t no_cost = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint32_t no_node = std::numeric_limits<std::uint32_t>::max();

/// What a node costs by itself; `FrozenNode::cost` if not given.
using NodeCost = std::function<std::uint64_t(const FrozenNode&)>;

/// One node for every class that has a term; following them never comes back to where it started.
struct Choice {
  std::vector<std::uint32_t> nodes;  // by class; `no_node` if none
  std::vector<std::uint64_t> costs;  // by class, in the measure of who made the choice; `no_cost` if none
};

/// The cheapest term of every class, where a shared subterm counts every time it occurs.
Choice extract_tree(const Frozen& frozen, const NodeCost& cost = {});

/// Cheap terms where a shared class counts once: every class takes the node whose set of needed classes is
/// cheapest, given what its children took. A class's own best can take sharing from those that use it, so
/// this is nearly always, but not always, at most what `extract_tree` costs when shared classes count once.
Choice extract_dag(const Frozen& frozen, const NodeCost& cost = {});

struct ExactResult {
  Choice choice;
  std::uint64_t cost = no_cost;
  /// False if time ran out: the choice is then the best one seen.
  bool proved = false;
};
/// The cheapest choice for the roots together where every class counts once. Starts from the better of
/// `extract_dag` and `extract_tree`.
ExactResult extract_exact(const Frozen& frozen, const std::vector<std::uint32_t>& roots,
                          std::chrono::duration<double> limit, const NodeCost& cost = {});

/// What the roots cost together under a choice if every class counts once.
std::uint64_t dag_cost(const Frozen& frozen, const Choice& choice, const std::vector<std::uint32_t>& roots,
                       const NodeCost& cost = {});
/// True if no class below the roots needs itself.
bool acyclic(const Frozen& frozen, const Choice& choice, const std::vector<std::uint32_t>& roots);

/// A term: a node, and a term for each of the node's children.
struct TermNode {
  std::uint32_t node = no_node;
  std::vector<std::uint32_t> children;  // numbers of terms
};
struct RankedTerm {
  std::uint32_t term = 0;
  std::uint64_t cost = 0;
};
struct RankedTerms {
  std::vector<TermNode> terms;
  std::vector<RankedTerm> best;
};
/// Up to `count` different terms of a class, cheapest first, by tree cost.
RankedTerms extract_best(const Frozen& frozen, std::uint32_t root, std::size_t count,
                         const NodeCost& cost = {});

/// Up to `count` different acyclic choices for what the root needs, drawn at random. Equal seeds give equal
/// draws.
std::vector<Choice> sample_terms(const Frozen& frozen, std::uint32_t root, std::size_t count,
                                 std::uint64_t seed);

/// Prints a value of any sort with the chosen terms for the classes in it; nothing if a class has no term.
std::optional<std::string> print_value(const Database& database, const Frozen& frozen, const Choice& choice,
                                       SortId sort, Value value);
/// The tree cost of such a value: atoms cost 1, containers what their elements cost.
std::uint64_t value_cost(const Database& database, const Frozen& frozen, const Choice& choice, SortId sort,
                         Value value);
/// Prints one node with the chosen terms below it.
std::optional<std::string> print_node(const Database& database, const Frozen& frozen, const Choice& choice,
                                      const FrozenNode& node);

inline std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a > no_cost - b ? no_cost : a + b;
}

}  // namespace luminal::egraph
