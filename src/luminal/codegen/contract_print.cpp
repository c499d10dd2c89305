#include <algorithm>

#include "luminal/codegen/contract.h"
#include "luminal/codegen/library.h"
#include "luminal/codegen/nest.h"
#include "luminal/codegen/strides.h"
#include "luminal/codegen/tile.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::LoopSet;
using kernel::ValueId;
namespace value = kernel::value;

namespace {

class ContractPrinter {
 public:
  ContractPrinter(Emitter& emitter, const Nest& nest, const NestSchedule& schedule, Contractions shape)
      : e_(emitter),
        kernel_(emitter.kernel()),
        nest_(nest),
        tiles_(*schedule.tiles),
        lanes_(schedule.lanes),
        print_(emitter, schedule.lanes),
        shape_(std::move(shape)) {}

  void print();

 private:
  Emitter& e_;
  const kernel::Kernel& kernel_;
  const Nest& nest_;
  TileSchedule tiles_;
  int lanes_;
  TilePrinter print_;
  Contractions shape_;

  /// A factor in memory: element (flat row r, flat term k) of a left one at base + r·row + k·term, of a right
  /// one (term k, column c) at base + k·row + c.
  struct Operand {
    std::string base;
    std::string row;
    std::string term;
  };

  void multiply(const Contraction& sum, std::size_t number);
  Operand left(const Contraction& sum, std::size_t number);
  Operand right(const Contraction& sum, std::size_t number);
  void epilogue();
  void call();
  void stores();
  std::int64_t padded_columns() const;
  DType dtype(const Contraction& sum) const { return kernel_.value(sum.sum).dtype; }
};

ContractPrinter::Operand ContractPrinter::left(const Contraction& sum, std::size_t number) {
  if (const auto direct = direct_read(kernel_, sum.left, shape_.rows, sum.depth)) {
    const std::string stride = e_.text(direct->stride);
    return {cat("(in", direct->input, " + ", e_.text(direct->offset), " + m0 * ", stride, " + k0)"), stride,
            "1"};
  }
  const std::string buffer = cat("left", number);
  const DType held = dtype(sum);
  const std::int64_t rows = (tiles_.block_rows + tiles_.rows - 1) / tiles_.rows * tiles_.rows;
  e_.allocate(buffer, held, false, Expr(rows * (tiles_.depth + 16)));
  const bool by_rows = !print_.contiguous(sum.left, sum.depth) && print_.contiguous(sum.left, shape_.rows);
  if (by_rows) {
    const std::string stride = std::to_string(rows);
    print_.pack(sum.left, buffer, stride, {sum.depth, "k0", "k1"}, {shape_.rows, "m0", "m1"});
    return {buffer, "1", stride};
  }
  const std::string stride = std::to_string(tiles_.depth + 16);
  print_.pack(sum.left, buffer, stride, {shape_.rows, "m0", "m1"}, {sum.depth, "k0", "k1"});
  return {buffer, stride, "1"};
}

std::int64_t ContractPrinter::padded_columns() const {
  const std::int64_t tile = static_cast<std::int64_t>(tiles_.vectors) * lanes_;
  return (tiles_.block_columns + tile - 1) / tile * tile + 16;
}

ContractPrinter::Operand ContractPrinter::right(const Contraction& sum, std::size_t number) {
  const std::int64_t tile = static_cast<std::int64_t>(tiles_.vectors) * lanes_;
  const bool whole_tiles =
      prove_divides(Expr(tile), print_.extent_of(shape_.columns)) && tiles_.block_columns % tile == 0;
  // Few rows read each element a few times: not worth a copy.
  const auto rows = print_.extent_of(shape_.rows).bounds().high;
  const bool read_once = rows && *rows <= std::int64_t{4} * tiles_.rows;
  if (whole_tiles && read_once) {
    if (const auto direct = direct_read(kernel_, sum.right, sum.depth, shape_.columns)) {
      const std::string stride = e_.text(direct->stride);
      return {cat("(in", direct->input, " + ", e_.text(direct->offset), " + k0 * ", stride, " + n0)"), stride,
              "1"};
    }
  }
  const std::string buffer = cat("right", number);
  const std::string stride = std::to_string(padded_columns());
  e_.allocate(buffer, dtype(sum), false, Expr(tiles_.depth * padded_columns()));
  print_.pack_right(sum.right, buffer, stride, {sum.depth, "k0", "k1"}, {shape_.columns, "n0", "n1"});
  return {buffer, stride, "1"};
}

void ContractPrinter::multiply(const Contraction& sum, std::size_t number) {
  const std::string depth = e_.text(print_.extent_of(sum.depth));
  const std::string totals = cat("total", number);
  const std::int64_t rows = (tiles_.block_rows + tiles_.rows - 1) / tiles_.rows * tiles_.rows;
  e_.allocate(totals, dtype(sum), false, Expr(rows * padded_columns()));
  e_.open();
  e_.line(
      cat("const i64 k1 = k0 + ", tiles_.depth, " < ", depth, " ? k0 + ", tiles_.depth, " : ", depth, ";"));
  const Operand a = left(sum, number);
  const Operand b = right(sum, number);
  const std::string function = print_.tile(dtype(sum), tiles_.rows, tiles_.vectors);
  const int width = tiles_.vectors * lanes_;
  e_.line(cat("for (i64 n = 0; n < n1 - n0; n += ", width, ")"));
  e_.line(cat("  for (i64 m = 0; m < m1 - m0; m += ", tiles_.rows, ")"));
  e_.line(cat("    ", function, "(k1 - k0, m1 - m0 - m, ", a.base, " + m * ", a.row, ", ", a.row, ", ",
              a.term, ", ", b.base, " + n, ", b.row, ", ", totals, " + m * ", padded_columns(), " + n, ",
              padded_columns(), ", k0 == 0);"));
  e_.close(cat("for (i64 k0 = 0; k0 == 0 || k0 < ", depth, "; k0 += ", tiles_.depth, ")"));
}

void ContractPrinter::stores() {
  const std::vector<ValueId> roots = roots_of(kernel_, nest_);
  for (const auto id : roots) e_.value(id);
  for (const auto index : nest_.stores) e_.store(kernel_.stores()[index]);
}

void ContractPrinter::epilogue() {
  const std::string row = e_.fresh("p");
  e_.open();
  print_.bind(shape_.rows, cat("(m0 + ", row, ")"));
  const std::vector<ValueId> roots = roots_of(kernel_, nest_);
  int gain = 0;
  for (const auto index : nest_.stores) {
    const kernel::Store& store = kernel_.stores()[index];
    const auto step = step_along(kernel_, flat_index(store.index, kernel_.outputs()[store.output].shape),
                                 shape_.columns.back(), lanes_);
    gain += step && *step == Expr(1) ? 4 : -3;
  }
  using Vectors = TilePrinter::Vectors;
  print_.runs(
      {shape_.columns, "n0", "n1"}, gain > 0 ? Vectors::fitting : Vectors::none, false,
      [&](const std::string& flat, bool) {
        const std::string last = cat("i", shape_.columns.back().value());
        for (std::size_t k = 0; k < shape_.sums.size(); ++k) {
          // flat place − last loop's place is the same for the whole run.
          const std::string name =
              cat("(total", k, " + ", row, " * ", padded_columns(), " + (", flat, " - ", last, " - n0))");
          e_.scope().arrays.insert_or_assign(shape_.sums[k].sum, Array{name, {shape_.columns.back()}, false});
        }
        stores();
      });
  e_.close(cat("for (i64 ", row, " = 0; ", row, " < m1 - m0; ++", row, ")"));
}

void ContractPrinter::call() {
  const auto call = library_call(kernel_, nest_);
  if (!call)
    throw InternalError("schedule: a library for a nest that is no plain product", kernel::print(kernel_));
  print_library_call(e_, *call, {"m0", "m1"}, {"n0", "n1"});
}

void ContractPrinter::print() {
  e_.set_lanes(lanes_);
  const Expr rows = print_.extent_of(shape_.rows);
  const Expr columns = print_.extent_of(shape_.columns);
  const Expr row_blocks = Expr::ceil_div(rows, Expr(tiles_.block_rows));
  const Expr column_blocks = Expr::ceil_div(columns, Expr(tiles_.block_columns));
  const std::string m = e_.text(rows);
  const std::string n = e_.text(columns);
  e_.open();
  e_.line(
      cat("const i64 row_blocks = ", e_.text(row_blocks), ", column_blocks = ", e_.text(column_blocks), ";"));
  e_.line(cat("const i64 n0 = task % column_blocks * ", tiles_.block_columns, ", n1 = n0 + ",
              tiles_.block_columns, " < ", n, " ? n0 + ", tiles_.block_columns, " : ", n, ";"));
  e_.line(cat("const i64 m0 = task / column_blocks % row_blocks * ", tiles_.block_rows, ", m1 = m0 + ",
              tiles_.block_rows, " < ", m, " ? m0 + ", tiles_.block_rows, " : ", m, ";"));
  print_.bind(shape_.batch, "(task / column_blocks / row_blocks)");
  if (tiles_.library) {
    call();
  } else {
    for (std::size_t k = 0; k < shape_.sums.size(); ++k) multiply(shape_.sums[k], k);
    epilogue();
  }
  e_.close("");
}

}  // namespace

void print_contractions(Emitter& emitter, const Nest& nest, const NestSchedule& schedule) {
  auto shape = contractions_of(emitter.kernel(), nest);
  if (!shape)
    throw InternalError("schedule: tiles for a nest that is no contraction", kernel::print(emitter.kernel()));
  ContractPrinter(emitter, nest, schedule, std::move(*shape)).print();
}

}  // namespace luminal::codegen
