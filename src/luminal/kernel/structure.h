#pragma once
#include <span>
#include <vector>

#include "luminal/kernel/kernel.h"

/// What a kernel's body is, from its loops alone: which reductions lie inside which, which of the domain's
/// loops a block may be cut along, and in which order the reductions are swept. Printers and cost models read
/// it.
namespace luminal::kernel {

/// Reductions that one nest of loops computes together: equal loops, none depends on another.
struct Sweep {
  std::vector<LoopId> loops;
  std::vector<ValueId> reductions;
  friend bool operator==(const Sweep&, const Sweep&) = default;
};

struct Structure {
  /// Loops of the domain in which every outer reduction varies: points of the grid share nothing.
  std::vector<LoopId> grid;
  /// The domain's other loops: one point of the grid covers all of them.
  std::vector<LoopId> covered;
  /// The outer reductions (those inside no other) in dependency order.
  std::vector<Sweep> sweeps;
  /// The reductions that lie inside others.
  std::vector<ValueId> nested;
};

/// A set of values, by index.
using ValueSet = std::vector<bool>;

/// Every value that the roots are computed from, and the roots.
ValueSet reachable(const Kernel& kernel, std::span<const ValueId> roots);

/// Those of them that computing the roots takes at every point, whatever guards say: not what is reached as
/// the argument of guards alone. With `guarded`: only arguments in this set count as such.
ValueSet unguarded(const Kernel& kernel, std::span<const ValueId> roots);
ValueSet unguarded(const Kernel& kernel, std::span<const ValueId> roots, const ValueSet& guarded);

/// The values that lie inside a reduction: reached from its arguments through values that vary with its
/// loops. What does not vary with them is computed outside, before it.
ValueSet inside(const Kernel& kernel, ValueId reduction);

/// The sweeps that computing the roots takes, in dependency order, without those inside others. With `within`
/// not empty: only those that vary with one of these loops, reached through values that do, as is the case
/// inside a sweep over them.
std::vector<Sweep> sweeps_of(const Kernel& kernel, std::span<const ValueId> roots,
                             const LoopSet& within = {});

/// The structure of stores that share a domain.
Structure analyse(const Kernel& kernel, std::span<const ValueId> roots, std::span<const LoopId> domain);

/// Whether the value itself, where no guard holds, could read outside of an array, or look up an index that
/// is out of range.
bool reads_outside(const Kernel& kernel, ValueId id);

/// Whether computing the value where no guard around it holds could do so.
bool leaves_arrays(const Kernel& kernel, ValueId id);

/// Whether the roots need the value under guards alone, and without them computing it could read outside of
/// an array: it must not be computed at points where its guards do not hold.
bool needs_guards(const Kernel& kernel, std::span<const ValueId> roots, ValueId id);

/// The loops as a set.
LoopSet set_of(std::span<const LoopId> loops);

}  // namespace luminal::kernel
