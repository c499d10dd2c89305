#pragma once
#include <optional>
#include <vector>

#include "luminal/codegen/emit.h"
#include "luminal/codegen/schedule.h"

/// The template for soft sums over a loop whose exponent is a nested contraction: attention in one pass, with
/// masks, biases and caps of any kind, since the exponent is printed by the generic printer. A task takes a
/// block of rows; keys come in blocks too: scores by register tiles, then the exponents and running maxima of
/// each row, then the weights' products with what they weigh by register tiles.
namespace luminal::codegen {

struct Attention {
  /// The exponent, and the sum of products in it.
  kernel::ValueId exponent;
  kernel::ValueId score;
  kernel::ValueId query;
  kernel::ValueId key;
  kernel::LoopId keys;
  std::vector<kernel::LoopId> depth;
  /// Soft sums of one value a row, and of one a row and column.
  std::vector<kernel::ValueId> totals;
  std::vector<kernel::ValueId> mixtures;
  std::vector<kernel::LoopId> batch;
  std::vector<kernel::LoopId> rows;
  std::vector<kernel::LoopId> columns;
};

/// A condition under which the exponent is one constant: all points of a block of which it holds need not be
/// computed once that constant is far below every row's maximum.
struct Masking {
  /// At least 1 exactly where the condition holds.
  Expr margin;
  double exponent = 0;
};

std::optional<Attention> attention_of(const kernel::Kernel& kernel, const Nest& nest);
std::vector<Masking> maskings_of(const kernel::Kernel& kernel, const Attention& attention);

void print_attention(Emitter& emitter, const Nest& nest, const NestSchedule& schedule);

}  // namespace luminal::codegen
