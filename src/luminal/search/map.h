#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "luminal/rewrite/lower.h"
#include "luminal/search/cost.h"

namespace luminal::search {

using rewriting::BodyRef;
using rewriting::ClassId;
using rewriting::Terms;

/// What bodies are lowered to, kept from one mapping of the same terms to the next.
struct LoweredBodies {
  struct Entry {
    std::uint64_t kernel = 0;      // its hash
    std::uint64_t on_classes = 0;  // equal for equal kernels on equal classes
  };
  std::unordered_map<std::uint64_t, Entry> entries;  // by the hash of the body
};

/// Bodies that can run as one kernel: its hash, and those of kernels for each.
struct Together {
  struct Part {
    std::uint64_t kernel = 0;
    std::uint64_t on_classes = 0;
    friend auto operator<=>(const Part&, const Part&) = default;
  };
  std::uint64_t kernel = 0;
  std::vector<Part> parts = {};
  friend auto operator<=>(const Together&, const Together&) = default;
};
/// Equal for equal kernels on equal classes.
std::uint64_t on_classes(const rewriting::Lowered& lowered);

struct MapOptions {
  /// Bodies kept a class, and tried a child where several children combine.
  std::size_t keep = 8;
  std::size_t combine = 4;
  int rounds = 3;
  /// Bodies larger than this are not considered.
  std::size_t max_size = 120;
  std::size_t max_reductions = 8;
  std::size_t max_leaves = 14;
  /// Bytes that intermediates may take in all; an intermediate beyond its share is priced out.
  double memory_budget = 0;
  /// Values that dims may come to: memory is judged with these too.
  DimMap largest_dims = {};
  /// Whether the oracle has measured: it knows what intermediates cost that caches can hold.
  bool measured = false;
  LoweredBodies* lowered = nullptr;
  /// The bodies of a mapping of the same terms, to be improved, too; empty: none.
  std::vector<BodyRef> from = {};
  /// What is known to run as one kernel: a mapping with all bodies of it costs what the oracle says of that.
  std::vector<Together> together = {};
};

/// Scatters and scans are written by a kernel of their own, never inside of another.
inline bool is_kernel_root(const rewriting::Term& term) {
  return term.kind == rewriting::Term::Kind::scatter || term.kind == rewriting::Term::Kind::scan;
}

/// What is materialised, and by which body. Bodies come after those whose classes they read.
struct Mapping {
  std::vector<BodyRef> bodies;
  double seconds = 0;         // the oracle's sum
  std::size_t evaluated = 0;  // different kernels that were priced
};

/// Chooses which classes exist in memory and what each kernel computes: technology mapping over a graph with
/// choices. Children first, every class keeps its best few bodies; one is selected by area-flow; then single
/// bodies are exchanged while the true total falls, of that and of the mapping to begin with. `reasons`, if
/// given, receives a line for every body that was dropped.
Mapping map(const Terms& terms, CostOracle& oracle, const DimMap& dims, const MapOptions& options = {},
            std::vector<std::string>* reasons = nullptr);

/// A random choice of terms and cuts, for tests: equal seeds give equal choices.
Mapping random_mapping(const Terms& terms, std::uint64_t seed);

/// Kernels with several outputs: bodies that may run as one without closing a circle, because they go over
/// one domain, share an operand, or share an inner reduction. In order of execution.
std::vector<std::vector<BodyRef>> group(const Terms& terms, const Mapping& mapping);

}  // namespace luminal::search
