#pragma once
#include <functional>
#include <string>
#include <vector>

#include "luminal/codegen/emit.h"

namespace luminal::codegen {

/// A range [begin, end) of the flattened places of some loops; both are names in the program.
struct Range {
  const std::vector<kernel::LoopId>& loops;
  std::string begin;
  std::string end;
};

/// What the templates with register tiles share: going through blocks of flattened loops, packing factors,
/// and the tile that multiplies.
class TilePrinter {
 public:
  TilePrinter(Emitter& emitter, int lanes) : e_(emitter), kernel_(emitter.kernel()), lanes_(lanes) {}

  /// The number of points of the loops.
  Expr extent_of(const std::vector<kernel::LoopId>& loops) const;

  /// Makes the current block bind the loops, at their flat place.
  void bind(const std::vector<kernel::LoopId>& loops, const std::string& flat);

  /// Vectors along a run: none, of all lanes, or of so many as a run has room for (`Emitter::lanes`).
  enum class Vectors : std::uint8_t { none, whole, fitting };

  /// Goes through a range in runs along the last loop. The body gets the flat place. With `overlap` the last
  /// vector of a run may cover places of the one before: what is done twice must not matter.
  void runs(const Range& range, Vectors vectors, bool overlap,
            const std::function<void(const std::string& flat, bool lanes)>& body);

  /// Whether vectors along the last of the loops gain for what the value loads.
  bool contiguous(kernel::ValueId factor, const std::vector<kernel::LoopId>& loops) const;

  /// Copies a block of a factor: its element (across, along) to across·stride + along, both from their
  /// beginnings. Nothing is read if the first range is empty.
  void pack(kernel::ValueId factor, const std::string& buffer, const std::string& stride, const Range& across,
            const Range& along);
  /// The same where `across` is the one loop along which the factor is contiguous, and has at least as many
  /// points as there are lanes: blocks of lanes × lanes are turned in registers.
  void pack_transposed(kernel::ValueId factor, const std::string& buffer, const std::string& stride,
                       const Range& across, const Range& along);
  /// Whichever of the two suits.
  void pack_right(kernel::ValueId factor, const std::string& buffer, const std::string& stride,
                  const Range& across, const Range& along);

  /// The name of the tile function: rows × vectors accumulators,
  /// f(depth, valid rows, a, a_row, a_term, b, b_row, c, c_row, first): c (+)= a · b, with a's rows and
  /// terms, b's terms and c's rows so many elements apart. Of the rows only the valid ones are read.
  std::string tile(DType dtype, int rows, int vectors);

 private:
  /// 1: no vectors, or they would be too short.
  int lanes_of(Vectors vectors, kernel::LoopId loop) const;

  Emitter& e_;
  const kernel::Kernel& kernel_;
  int lanes_;
};

}  // namespace luminal::codegen
