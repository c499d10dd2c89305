#include <algorithm>
#include <functional>

#include "luminal/codegen/contract.h"
#include "luminal/codegen/nest.h"
#include "luminal/codegen/strides.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::LoopSet;
using kernel::ValueId;
namespace value = kernel::value;

namespace {

/// rows × vectors accumulators over `depth` terms: c (+)= a · b, with a's rows `a_row` apart and its terms `a_term`
/// apart, b's terms and c's rows `b_row` and `c_row` apart. Of the rows only `valid` are read.
std::string micro_kernel(Helpers& helpers, DType dtype, int lanes, int rows, int vectors, std::string_view name) {
  const std::string element(luminal::name(dtype));
  const std::string vector = helpers.type(dtype, lanes);
  const std::string memory = lanes > 1 ? vector + "_u" : vector;
  const std::string fma = helpers.use("fma", dtype, lanes);
  helpers.use("core", dtype, lanes);
  std::string text = cat("static __attribute__((noinline)) void ", name, "(i64 depth, i64 valid, const ", element,
                         "* a, i64 a_row, i64 a_term, const ", element, "* b, i64 b_row, ", element,
                         "* c, i64 c_row, int first) {\n");
  for (int r = 0; r < rows; ++r) text += cat("  const ", element, "* a", r, " = a + (", r, " < valid ? ", r, " : 0) * a_row;\n");
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) text += cat("  ", vector, " c", r, "_", v, ";\n");
  text += "  if (first) {\n";
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) text += cat("    c", r, "_", v, " = splat_", vector, "(0);\n");
  text += "  } else {\n";
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      text += cat("    c", r, "_", v, " = *(const ", memory, "*)(c + ", r, " * c_row + ", v * lanes, ");\n");
  text += "  }\n  for (i64 k = 0; k < depth; ++k) {\n";
  for (int v = 0; v < vectors; ++v) text += cat("    const ", vector, " b", v, " = *(const ", memory, "*)(b + ", v * lanes, ");\n");
  text += "    b += b_row;\n";
  for (int r = 0; r < rows; ++r) {
    text += cat("    { const ", vector, " x = splat_", vector, "(*a", r, "); a", r, " += a_term;");
    for (int v = 0; v < vectors; ++v) text += cat(" c", r, "_", v, " = ", fma, "(x, b", v, ", c", r, "_", v, ");");
    text += " }\n";
  }
  text += "  }\n";
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      text += cat("  *(", memory, "*)(c + ", r, " * c_row + ", v * lanes, ") = c", r, "_", v, ";\n");
  return text + "}\n";
}

/// Writes the transpose of a lanes × lanes block: row r of it at to + r·stride.
std::string transpose(Helpers& helpers, DType dtype, int lanes, std::string_view name) {
  const std::string vector = helpers.type(dtype, lanes);
  std::string text = cat("static inline void ", name, "(const ", vector, "* t, ", dtype, "* to, i64 stride) {\n");
  for (int r = 0; r < lanes; ++r) text += cat("  ", vector, " a", r, " = t[", r, "];\n");
  for (int bit = 1; bit < lanes; bit *= 2) {  // swaps the off-diagonal blocks of each size
    for (int i = 0; i < lanes; ++i) {
      if ((i & bit) != 0) continue;
      std::string upper;
      std::string lower;
      for (int l = 0; l < lanes; ++l) {
        const bool second = (l & bit) != 0;
        upper += cat(", ", second ? lanes + l - bit : l);
        lower += cat(", ", second ? lanes + l : l + bit);
      }
      text += cat("  { const ", vector, " x = a", i, ", y = a", i + bit, "; a", i, " = __builtin_shufflevector(x, y", upper,
                  "); a", i + bit, " = __builtin_shufflevector(x, y", lower, "); }\n");
    }
  }
  for (int r = 0; r < lanes; ++r) text += cat("  *(", vector, "_u*)(to + ", r, " * stride) = a", r, ";\n");
  return text + "}\n";
}

class ContractPrinter {
 public:
  ContractPrinter(Emitter& emitter, const Nest& nest, const NestSchedule& schedule, Contractions shape)
      : e_(emitter), kernel_(emitter.kernel()), nest_(nest), tiles_(*schedule.tiles), lanes_(schedule.lanes),
        shape_(std::move(shape)) {}

  Expr print();

 private:
  Emitter& e_;
  const kernel::Kernel& kernel_;
  const Nest& nest_;
  TileSchedule tiles_;
  int lanes_;
  Contractions shape_;

  /// A factor in memory: element (flat row r, flat term k) of a left one at base + r·row + k·term, of a right one
  /// (term k, column c) at base + k·row + c.
  struct Operand {
    std::string base;
    std::string row;
    std::string term;
  };

  Expr extent_of(const std::vector<LoopId>& loops) const;
  std::string bind(const std::vector<LoopId>& loops, const std::string& flat);
  void runs(const std::vector<LoopId>& loops, const std::string& begin, const std::string& end, bool lanes, bool overlap,
            const std::function<void(const std::string& flat, bool lanes)>& body);
  void multiply(const Contraction& sum, std::size_t number);
  Operand left(const Contraction& sum, std::size_t number);
  Operand right(const Contraction& sum, std::size_t number);
  void pack(ValueId factor, const std::string& buffer, const std::string& stride, const std::vector<LoopId>& across,
            const std::string& across_begin, const std::string& across_count, const std::vector<LoopId>& along,
            const std::string& along_begin, const std::string& along_end);
  void pack_transposed(ValueId factor, const std::string& buffer, const std::string& stride, LoopId term);
  void epilogue();
  void stores();
  std::int64_t padded_columns() const;
  DType dtype(const Contraction& sum) const { return kernel_.value(sum.sum).dtype; }
  bool contiguous(ValueId factor, const std::vector<LoopId>& loops) const;
};

Expr ContractPrinter::extent_of(const std::vector<LoopId>& loops) const {
  Expr count(1);
  for (const auto loop : loops) count = count * kernel_.loop(loop).extent;
  return count;
}

/// Makes the current block bind the loops, at their flat place.
std::string ContractPrinter::bind(const std::vector<LoopId>& loops, const std::string& flat) {
  std::string divisor;
  for (std::size_t k = loops.size(); k-- > 0;) {
    e_.scope().binds.set(loops[k].index());
    const std::string extent = e_.extent(loops[k]);
    e_.line(cat("const i64 i", loops[k].value(), " = ", divisor.empty() ? flat : cat(flat, " / (", divisor, ")"),
                k == 0 ? "" : cat(" % ", extent), ";"));
    divisor += cat(divisor.empty() ? "" : " * ", extent);
  }
  return flat;
}

/// Goes through flat places [begin, end) in runs along the last loop, as vectors where `lanes`. With `overlap` the last
/// vector of a run may cover places of the one before: what is done twice must not matter.
void ContractPrinter::runs(const std::vector<LoopId>& loops, const std::string& begin, const std::string& end, bool lanes,
                           bool overlap, const std::function<void(const std::string& flat, bool lanes)>& body) {
  const LoopId last = loops.back();
  const std::vector<LoopId> outer(loops.begin(), loops.end() - 1);
  const std::string i = cat("i", last.value());
  std::string low = begin;
  std::string high = end;
  std::string flat = i;
  const std::string run = e_.fresh("run");
  if (!outer.empty()) {
    const std::string extent = e_.extent(last);
    e_.open();
    bind(outer, run);
    low = e_.fresh("low");
    high = e_.fresh("high");
    e_.line(cat("const i64 ", low, " = ", begin, " > ", run, " * ", extent, " ? ", begin, " - ", run, " * ", extent, " : 0;"));
    e_.line(cat("const i64 ", high, " = ", end, " < (", run, " + 1) * ", extent, " ? ", end, " - ", run, " * ", extent, " : ",
                extent, ";"));
    flat = cat("(", run, " * ", extent, " + ", i, ")");
  }
  std::string rest = low;
  if (lanes && lanes_ > 1) {
    e_.open_loop(last, lanes_);
    e_.scope().aligned = outer.empty();
    if (overlap) {
      // The loop's own variable may stand beyond the last whole vector.
      e_.scope().text.clear();
      e_.scope().aligned = false;
      e_.line(cat("const i64 ", i, " = ", i, "_n + ", lanes_, " > ", high, " ? ", high, " - ", lanes_, " : ", i, "_n, ", i,
                  "_0 = ", i, ";"));
      body(flat, true);
      e_.close(cat("if (", high, " - ", low, " >= ", lanes_, ") for (i64 ", i, "_n = ", low, "; ", i, "_n < ", high, "; ", i,
                   "_n += ", lanes_, ")"));
      rest = cat("(", high, " - ", low, " >= ", lanes_, " ? ", high, " : ", low, ")");
    } else {
      body(flat, true);
      e_.close_loop(last, low, high, lanes_);
      rest = cat("(", low, " + (", high, " - ", low, ") / ", lanes_, " * ", lanes_, ")");
    }
  }
  e_.open_loop(last);
  body(flat, false);
  e_.close_loop(last, rest, high);
  if (outer.empty()) return;
  const std::string extent = e_.extent(last);
  e_.close(cat("for (i64 ", run, " = ", begin, " / ", extent, "; ", run, " * ", extent, " < ", end, "; ++", run, ")"));
}

bool ContractPrinter::contiguous(ValueId factor, const std::vector<LoopId>& loops) const {
  return !loops.empty() && lanes_gain(kernel_, loops.back(), {factor}, lanes_) > 0;
}

/// Copies a block of a factor: element (flat `across` place, flat `along` place) at across·stride + along, both from
/// their beginnings.
void ContractPrinter::pack(ValueId factor, const std::string& buffer, const std::string& stride,
                           const std::vector<LoopId>& across, const std::string& across_begin,
                           const std::string& across_count, const std::vector<LoopId>& along,
                           const std::string& along_begin, const std::string& along_end) {
  const DType held = register_dtype(kernel_.value(factor).dtype);
  const std::string row = e_.fresh("p");
  e_.open().guards = true;  // there may be no term at all
  e_.open();
  bind(across, cat("(", across_begin, " + ", row, ")"));
  const auto element = [&](const std::string& flat, bool lanes) {
    const std::string place = cat(buffer, " + ", row, " * ", stride, " + (", flat, " - ", along_begin, ")");
    const std::string result = e_.value(factor, lanes);
    e_.line(lanes ? cat("*(", e_.helpers().type(held, lanes_), "_u*)(", place, ") = ", result, ";")
                  : cat("*(", place, ") = ", result, ";"));
  };
  if (along.empty()) {
    element("0", false);
  } else {
    runs(along, along_begin, along_end, contiguous(factor, along), true, element);
  }
  e_.close(cat("for (i64 ", row, " = 0; ", row, " < ", across_count, "; ++", row, ")"));
  e_.close("if (kn > 0)");
}

/// As `pack` for a right factor that is contiguous along the terms: blocks of lanes × lanes are turned in registers.
/// There are at least as many terms as lanes.
void ContractPrinter::pack_transposed(ValueId factor, const std::string& buffer, const std::string& stride, LoopId term) {
  const DType held = register_dtype(kernel_.value(factor).dtype);
  const std::string function = cat("luminal_transpose_", held, "x", lanes_);
  e_.helpers().define(function, transpose(e_.helpers(), held, lanes_, function));
  const std::string i = cat("i", term.value());
  e_.open();
  e_.line(cat("const i64 kt = k0 + kb + ", lanes_, " > k0 + kn ? k0 + kn - ", lanes_, " : k0 + kb;"));
  e_.line(cat(e_.helpers().type(held, lanes_), " block[", lanes_, "];"));
  e_.open();
  bind(shape_.columns, cat("(n0 + nb + nl < n1 ? n0 + nb + nl : n1 - 1)"));
  e_.open_loop(term, lanes_);
  e_.scope().text.clear();
  e_.scope().aligned = false;
  e_.line(cat("const i64 ", i, " = kt, ", i, "_0 = kt;"));
  const std::string result = e_.value(factor, true);
  e_.line(cat("block[nl] = ", result, ";"));
  e_.close("");
  e_.close(cat("for (i64 nl = 0; nl < ", lanes_, "; ++nl)"));
  e_.line(cat(function, "(block, ", buffer, " + (kt - k0) * ", stride, " + nb, ", stride, ");"));
  e_.close(cat("for (i64 nb = 0; nb < n1 - n0; nb += ", lanes_, ") for (i64 kb = 0; kb < kn; kb += ", lanes_, ")"));
}

ContractPrinter::Operand ContractPrinter::left(const Contraction& sum, std::size_t number) {
  if (const auto direct = direct_read(kernel_, sum.left, shape_.rows, sum.depth)) {
    const std::string stride = e_.text(direct->stride);
    return {cat("(in", direct->input, " + ", e_.text(direct->offset), " + m0 * ", stride, " + k0)"), stride, "1"};
  }
  const std::string buffer = cat("left", number);
  const DType held = dtype(sum);
  const std::int64_t rows = (tiles_.block_rows + tiles_.rows - 1) / tiles_.rows * tiles_.rows;
  e_.allocate(buffer, held, false, Expr(rows * (tiles_.depth + 16)));
  const bool by_rows = !contiguous(sum.left, sum.depth) && contiguous(sum.left, shape_.rows);
  if (by_rows) {
    const std::string stride = std::to_string(rows);
    pack(sum.left, buffer, stride, sum.depth, "k0", "kn", shape_.rows, "m0", "m1");
    return {buffer, "1", stride};
  }
  const std::string stride = std::to_string(tiles_.depth + 16);
  pack(sum.left, buffer, stride, shape_.rows, "m0", "(m1 - m0)", sum.depth, "k0", "(k0 + kn)");
  return {buffer, stride, "1"};
}

std::int64_t ContractPrinter::padded_columns() const {
  const std::int64_t tile = static_cast<std::int64_t>(tiles_.vectors) * lanes_;
  return (tiles_.block_columns + tile - 1) / tile * tile + 16;
}

ContractPrinter::Operand ContractPrinter::right(const Contraction& sum, std::size_t number) {
  const std::int64_t tile = static_cast<std::int64_t>(tiles_.vectors) * lanes_;
  const bool whole_tiles = prove_divides(Expr(tile), extent_of(shape_.columns)) && tiles_.block_columns % tile == 0;
  // Few rows read each element a few times: not worth a copy.
  const auto rows = extent_of(shape_.rows).bounds().high;
  const bool read_once = rows && *rows <= std::int64_t{4} * tiles_.rows;
  if (whole_tiles && read_once) {
    if (const auto direct = direct_read(kernel_, sum.right, sum.depth, shape_.columns)) {
      const std::string stride = e_.text(direct->stride);
      return {cat("(in", direct->input, " + ", e_.text(direct->offset), " + k0 * ", stride, " + n0)"), stride, "1"};
    }
  }
  const std::string buffer = cat("right", number);
  const std::string stride = std::to_string(padded_columns());
  e_.allocate(buffer, dtype(sum), false, Expr(tiles_.depth * padded_columns()));
  const bool turned = lanes_ > 1 && sum.depth.size() == 1 && !contiguous(sum.right, shape_.columns) &&
                      contiguous(sum.right, sum.depth);
  if (turned) {
    e_.open();
    pack_transposed(sum.right, buffer, stride, sum.depth.front());
    e_.close(cat("if (kn >= ", lanes_, ")"));
    const auto terms = extent_of(sum.depth).constant_value();
    if (terms && *terms % tiles_.depth == 0 && tiles_.depth >= lanes_) return {buffer, stride, "1"};
    e_.open();
    pack(sum.right, buffer, stride, sum.depth, "k0", "kn", shape_.columns, "n0", "n1");
    e_.close("else");
    return {buffer, stride, "1"};
  }
  pack(sum.right, buffer, stride, sum.depth, "k0", "kn", shape_.columns, "n0", "n1");
  return {buffer, stride, "1"};
}

void ContractPrinter::multiply(const Contraction& sum, std::size_t number) {
  const std::string depth = e_.text(extent_of(sum.depth));
  const std::string totals = cat("total", number);
  const std::int64_t rows = (tiles_.block_rows + tiles_.rows - 1) / tiles_.rows * tiles_.rows;
  e_.allocate(totals, dtype(sum), false, Expr(rows * padded_columns()));
  e_.open();
  e_.line(cat("const i64 kn = ", depth, " - k0 < ", tiles_.depth, " ? ", depth, " - k0 : ", tiles_.depth, ";"));
  const Operand a = left(sum, number);
  const Operand b = right(sum, number);
  const std::string function = cat("luminal_tile_", dtype(sum), "_", tiles_.rows, "x", tiles_.vectors, "x", lanes_);
  e_.helpers().define(function, micro_kernel(e_.helpers(), dtype(sum), lanes_, tiles_.rows, tiles_.vectors, function));
  const int width = tiles_.vectors * lanes_;
  e_.line(cat("for (i64 n = 0; n < n1 - n0; n += ", width, ")"));
  e_.line(cat("  for (i64 m = 0; m < m1 - m0; m += ", tiles_.rows, ")"));
  e_.line(cat("    ", function, "(kn, m1 - m0 - m, ", a.base, " + m * ", a.row, ", ", a.row, ", ", a.term, ", ", b.base,
              " + n, ", b.row, ", ", totals, " + m * ", padded_columns(), " + n, ", padded_columns(), ", k0 == 0);"));
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
  bind(shape_.rows, cat("(m0 + ", row, ")"));
  const std::vector<ValueId> roots = roots_of(kernel_, nest_);
  int gain = 0;
  for (const auto index : nest_.stores) {
    const kernel::Store& store = kernel_.stores()[index];
    const auto step = step_along(kernel_, flat_index(store.index, kernel_.outputs()[store.output].shape),
                                 shape_.columns.back(), lanes_);
    gain += step && *step == Expr(1) ? 4 : -3;
  }
  runs(shape_.columns, "n0", "n1", gain > 0, false, [&](const std::string& flat, bool) {
    const std::string last = cat("i", shape_.columns.back().value());
    for (std::size_t k = 0; k < shape_.sums.size(); ++k) {
      // flat place − last loop's place is the same for the whole run.
      const std::string name = cat("(total", k, " + ", row, " * ", padded_columns(), " + (", flat, " - ", last, " - n0))");
      e_.scope().arrays.insert_or_assign(shape_.sums[k].sum, Array{name, {shape_.columns.back()}, false});
    }
    stores();
  });
  e_.close(cat("for (i64 ", row, " = 0; ", row, " < m1 - m0; ++", row, ")"));
}

Expr ContractPrinter::print() {
  e_.set_lanes(lanes_);
  const Expr rows = extent_of(shape_.rows);
  const Expr columns = extent_of(shape_.columns);
  const Expr row_blocks = Expr::ceil_div(rows, Expr(tiles_.block_rows));
  const Expr column_blocks = Expr::ceil_div(columns, Expr(tiles_.block_columns));
  const std::string m = e_.text(rows);
  const std::string n = e_.text(columns);
  e_.open();
  e_.line(cat("const i64 row_blocks = ", e_.text(row_blocks), ", column_blocks = ", e_.text(column_blocks), ";"));
  e_.line(cat("const i64 n0 = task % column_blocks * ", tiles_.block_columns, ", n1 = n0 + ", tiles_.block_columns, " < ", n,
              " ? n0 + ", tiles_.block_columns, " : ", n, ";"));
  e_.line(cat("const i64 m0 = task / column_blocks % row_blocks * ", tiles_.block_rows, ", m1 = m0 + ", tiles_.block_rows,
              " < ", m, " ? m0 + ", tiles_.block_rows, " : ", m, ";"));
  bind(shape_.batch, "(task / column_blocks / row_blocks)");
  for (std::size_t k = 0; k < shape_.sums.size(); ++k) multiply(shape_.sums[k], k);
  epilogue();
  e_.close("");
  return extent_of(shape_.batch) * row_blocks * column_blocks;
}

}  // namespace

Expr print_contractions(Emitter& emitter, const Nest& nest, const NestSchedule& schedule) {
  auto shape = contractions_of(emitter.kernel(), nest);
  if (!shape) throw InternalError("schedule: tiles for a nest that is no contraction", kernel::print(emitter.kernel()));
  return ContractPrinter(emitter, nest, schedule, std::move(*shape)).print();
}

}  // namespace luminal::codegen
