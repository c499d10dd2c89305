#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "luminal/kernel/kernel.h"

namespace luminal::codegen {

/// What schedules need to know of the machine.
struct Machine {
  /// Bytes in a vector register; 0: scalars only.
  int vector_bytes = 64;
  int vector_registers = 32;
  int workers = 1;
  std::int64_t l1_bytes = 32 << 10;
  std::int64_t l2_bytes = 1 << 20;
  /// Of the cache that workers share, if there is one and it is known.
  std::int64_t l3_bytes = 48 << 20;
  /// Programs can call a BLAS library: see library.h.
  bool blas = false;
};

/// Register tiles for sums of products: see contract.h. `rows` × `vectors` registers accumulate; a task makes
/// a block of results, `depth` terms at a time.
struct TileSchedule {
  int rows = 4;
  int vectors = 1;
  std::int64_t block_rows = 64;
  std::int64_t block_columns = 64;
  std::int64_t depth = 256;
  /// A call of a BLAS library makes the block: then rows, vectors and depth say nothing. Only where
  /// `library_call` (library.h) finds one; the default schedule never has it.
  bool library = false;
};

/// How the nest of stores that share a domain runs.
struct NestSchedule {
  /// The domain's loops that every task goes through whole, beyond those that the structure asks for.
  std::vector<kernel::LoopId> cover;
  /// Cut along the loops that the structure would cover too: what lacks them is computed again by every task.
  bool retile = false;
  /// The loop of the grid whose neighbouring points are the lanes of vectors. Without it, each sweep and the
  /// loops after them choose a loop of their own.
  std::optional<kernel::LoopId> vector_loop;
  /// Lanes of a vector; 1: scalars.
  int lanes = 1;
  /// Points of the grid in one task: of its innermost loop, and of all others together.
  std::int64_t chunk = 1;
  std::int64_t grain = 1;
  /// The template for contractions runs the nest: then grain, chunk and vector_loop say nothing.
  std::optional<TileSchedule> tiles;
};

/// One entry for each nest, in the order of `nests_of`. Nests and loops are those of the kernel with its
/// loops merged (kernel/merge_loops.h), as the printer runs it.
struct Schedule {
  std::vector<NestSchedule> nests;
};

/// Stores that run as one nest: equal domains, no order among them.
struct Nest {
  std::vector<std::uint32_t> stores;
  /// Points run one after the other, in row-major order of the domain: places may be written twice.
  bool sequential = false;
};
std::vector<Nest> nests_of(const kernel::Kernel& kernel);

/// The schedule of the cost model, for dims about as large as `hints` says. Legal for all dims.
Schedule default_schedule(const kernel::Kernel& kernel, const Machine& machine, const DimMap& hints = {});
/// The same without templates: every nest by the generic printer.
Schedule plain_schedule(const kernel::Kernel& kernel, const Machine& machine, const DimMap& hints = {});

}  // namespace luminal::codegen
