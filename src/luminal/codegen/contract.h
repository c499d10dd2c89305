#pragma once
#include <optional>
#include <vector>

#include "luminal/codegen/emit.h"
#include "luminal/codegen/schedule.h"

/// The template for sums of products: matrix products in every layout and batch, convolutions, with whatever
/// computes the factors and whatever is computed from the sums. Factors are packed (or read where they lie),
/// register tiles multiply, and the rest of the body is printed by the generic printer over each tile.
namespace luminal::codegen {

/// One sum of products. Of the domain's loops, `rows` vary the first factor alone and `columns` the second
/// alone; register tiles have several rows, and lanes along columns.
struct Contraction {
  kernel::ValueId sum;
  kernel::ValueId left;
  kernel::ValueId right;
  std::vector<kernel::LoopId> depth;
};

struct Contractions {
  std::vector<Contraction> sums;
  std::vector<kernel::LoopId> batch;
  std::vector<kernel::LoopId> rows;
  std::vector<kernel::LoopId> columns;
};

/// The contractions of a nest; nullopt if the template does not take it.
std::optional<Contractions> contractions_of(const kernel::Kernel& kernel, const Nest& nest);

/// How a factor can be read without packing: its flat index is base + row·(flat row) + (flat column).
struct Direct {
  std::uint32_t input = 0;
  Expr offset;
  Expr stride;
};
/// Where `along` (flattened) is contiguous and `across` has one stride; both as they vary a load of this
/// dtype.
std::optional<Direct> direct_read(const kernel::Kernel& kernel, kernel::ValueId factor,
                                  const std::vector<kernel::LoopId>& across,
                                  const std::vector<kernel::LoopId>& along);

/// Prints the body of the nest's tasks.
void print_contractions(Emitter& emitter, const Nest& nest, const NestSchedule& schedule);

}  // namespace luminal::codegen
