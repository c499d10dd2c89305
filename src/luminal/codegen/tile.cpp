#include "luminal/codegen/tile.h"

#include <algorithm>

#include "luminal/codegen/strides.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::ValueId;

namespace {

/// rows × vectors accumulators over `depth` terms: c (+)= a · b, with a's rows `a_row` apart and its terms
/// `a_term` apart, b's terms and c's rows `b_row` and `c_row` apart. Of the rows only `valid` are read.
Function micro_kernel(const Dialect& dialect, DType dtype, int lanes, int rows, int vectors,
                      std::string_view name) {
  const auto calls = std::make_shared<Helpers>(dialect);
  Helpers& helpers = *calls;
  const std::string element(luminal::name(dtype));
  const std::string vector = helpers.type(dtype, lanes);
  const std::string memory = lanes > 1 ? vector + "_u" : vector;
  const std::string fma = helpers.use("fma", dtype, lanes);
  helpers.use("core", dtype, lanes);
  const std::string head =
      cat("void ", name, "(i64 depth, i64 valid, const ", element, "* a, i64 a_row, i64 a_term, const ",
          element, "* b, i64 b_row, ", element, "* c, i64 c_row, int first)");
  std::string text = "{\n";
  for (int r = 0; r < rows; ++r)
    text += cat("  const ", element, "* a", r, " = a + (", r, " < valid ? ", r, " : 0) * a_row;\n");
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
  for (int v = 0; v < vectors; ++v)
    text += cat("    const ", vector, " b", v, " = *(const ", memory, "*)(b + ", v * lanes, ");\n");
  text += "    b += b_row;\n";
  for (int r = 0; r < rows; ++r) {
    text += cat("    { const ", vector, " x = splat_", vector, "(*a", r, "); a", r, " += a_term;");
    for (int v = 0; v < vectors; ++v)
      text += cat(" c", r, "_", v, " = ", fma, "(x, b", v, ", c", r, "_", v, ");");
    text += " }\n";
  }
  text += "  }\n";
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      text += cat("  *(", memory, "*)(c + ", r, " * c_row + ", v * lanes, ") = c", r, "_", v, ";\n");
  return {head, text + "}\n", calls};
}

/// Writes the transpose of a lanes × lanes block: row r of it at to + r·stride.
Function transpose(const Dialect& dialect, DType dtype, int lanes, std::string_view name) {
  const auto calls = std::make_shared<Helpers>(dialect);
  const std::string vector = calls->type(dtype, lanes);
  const std::string head = cat("void ", name, "(const ", vector, "* t, ", dtype, "* to, i64 stride)");
  std::string text = "{\n";
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
      text += cat("  { const ", vector, " x = a", i, ", y = a", i + bit, "; a", i,
                  " = __builtin_shufflevector(x, y", upper, "); a", i + bit,
                  " = __builtin_shufflevector(x, y", lower, "); }\n");
    }
  }
  for (int r = 0; r < lanes; ++r) text += cat("  *(", vector, "_u*)(to + ", r, " * stride) = a", r, ";\n");
  return {head, text + "}\n", calls};
}

}  // namespace

Expr TilePrinter::extent_of(const std::vector<LoopId>& loops) const {
  Expr count(1);
  for (const auto loop : loops) count = count * kernel_.loop(loop).extent;
  return count;
}

void TilePrinter::bind(const std::vector<LoopId>& loops, const std::string& flat) {
  std::string divisor;
  for (std::size_t k = loops.size(); k-- > 0;) {
    e_.scope().binds.set(loops[k].index());
    const std::string extent = e_.extent(loops[k]);
    e_.line(cat("const i64 i", loops[k].value(), " = ",
                divisor.empty() ? flat : cat(flat, " / (", divisor, ")"), k == 0 ? "" : cat(" % ", extent),
                ";"));
    divisor += cat(divisor.empty() ? "" : " * ", extent);
  }
}

int TilePrinter::lanes_of(Vectors vectors, LoopId loop) const {
  if (vectors != Vectors::fitting) return vectors == Vectors::whole ? lanes_ : 1;
  constexpr int least = 4;  // fewer are not worth their loop
  const auto extent = kernel_.loop(loop).extent.constant_value();
  int lanes = lanes_;
  while (extent && lanes > *extent) lanes /= 2;
  return lanes < std::min(least, lanes_) ? 1 : lanes;
}

void TilePrinter::runs(const Range& range, Vectors vectors, bool overlap,
                       const std::function<void(const std::string& flat, bool lanes)>& body) {
  const auto& [loops, begin, end] = range;
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
    e_.line(cat("const i64 ", low, " = ", begin, " > ", run, " * ", extent, " ? ", begin, " - ", run, " * ",
                extent, " : 0;"));
    e_.line(cat("const i64 ", high, " = ", end, " < (", run, " + 1) * ", extent, " ? ", end, " - ", run,
                " * ", extent, " : ", extent, ";"));
    flat = cat("(", run, " * ", extent, " + ", i, ")");
  }
  std::string rest = low;
  const int width = lanes_of(vectors, last);
  if (width > 1) {
    const int before = e_.lanes();
    e_.set_lanes(width);
    e_.open_loop(last, width);
    e_.scope().aligned = outer.empty();
    if (overlap) {
      // The loop's own variable may stand beyond the last whole vector.
      e_.scope().text.clear();
      e_.scope().aligned = false;
      e_.line(cat("const i64 ", i, " = ", i, "_n + ", width, " > ", high, " ? ", high, " - ", width, " : ", i,
                  "_n, ", i, "_0 = ", i, ";"));
      body(flat, true);
      e_.close(cat("if (", high, " - ", low, " >= ", width, ") for (i64 ", i, "_n = ", low, "; ", i, "_n < ",
                   high, "; ", i, "_n += ", width, ")"));
      rest = cat("(", high, " - ", low, " >= ", width, " ? ", high, " : ", low, ")");
    } else {
      body(flat, true);
      e_.close_loop(last, low, high, width);
      rest = cat("(", low, " + (", high, " - ", low, ") / ", width, " * ", width, ")");
    }
    e_.set_lanes(before);
  }
  e_.open_loop(last);
  body(flat, false);
  e_.close_loop(last, rest, high);
  if (outer.empty()) return;
  const std::string extent = e_.extent(last);
  e_.close(cat("for (i64 ", run, " = ", begin, " / ", extent, "; ", run, " * ", extent, " < ", end, "; ++",
               run, ")"));
}

bool TilePrinter::contiguous(ValueId factor, const std::vector<LoopId>& loops) const {
  return !loops.empty() && lanes_gain(kernel_, loops.back(), {factor}, lanes_) > 0;
}

void TilePrinter::pack(ValueId factor, const std::string& buffer, const std::string& stride,
                       const Range& across, const Range& along) {
  const DType held = register_dtype(kernel_.value(factor).dtype);
  const std::string row = e_.fresh("p");
  e_.open().guards = true;
  e_.open();
  bind(across.loops, cat("(", across.begin, " + ", row, ")"));
  const auto element = [&](const std::string& flat, bool lanes) {
    const std::string place = cat(buffer, " + ", row, " * ", stride, " + (", flat, " - ", along.begin, ")");
    const std::string result = e_.value(factor, lanes);
    e_.line(lanes ? cat("*(", e_.helpers().type(held, e_.lanes()), "_u*)(", place, ") = ", result, ";")
                  : cat("*(", place, ") = ", result, ";"));
  };
  if (along.loops.empty()) {
    element(along.begin, false);
  } else {
    runs(along, contiguous(factor, along.loops) ? Vectors::fitting : Vectors::none, true, element);
  }
  e_.close(cat("for (i64 ", row, " = 0; ", row, " < ", across.end, " - ", across.begin, "; ++", row, ")"));
  e_.close(cat("if (", across.end, " > ", across.begin, ")"));
}

void TilePrinter::pack_transposed(ValueId factor, const std::string& buffer, const std::string& stride,
                                  const Range& across, const Range& along) {
  const DType held = register_dtype(kernel_.value(factor).dtype);
  const std::string function = cat("luminal_transpose_", held, "x", lanes_);
  e_.helpers().call(transpose(e_.dialect(), held, lanes_, function));
  const LoopId term = across.loops.front();
  const std::string i = cat("i", term.value());
  const std::string flat = cat(along.begin, " + nb + nl");
  e_.open();
  e_.line(cat("const i64 kt = kb + ", lanes_, " > ", across.end, " ? ", across.end, " - ", lanes_, " : kb;"));
  e_.line(cat(e_.helpers().type(held, lanes_), " block[", lanes_, "];"));
  e_.open();
  bind(along.loops, cat("(", flat, " < ", along.end, " ? ", flat, " : ", along.end, " - 1)"));
  e_.open_loop(term, lanes_);
  e_.scope().text.clear();
  e_.scope().aligned = false;
  e_.line(cat("const i64 ", i, " = kt, ", i, "_0 = kt;"));
  const std::string result = e_.value(factor, true);
  e_.line(cat("block[nl] = ", result, ";"));
  e_.close("");
  e_.close(cat("for (i64 nl = 0; nl < ", lanes_, "; ++nl)"));
  e_.line(
      cat(function, "(block, ", buffer, " + (kt - ", across.begin, ") * ", stride, " + nb, ", stride, ");"));
  e_.close(cat("for (i64 nb = 0; nb < ", along.end, " - ", along.begin, "; nb += ", lanes_,
               ") for (i64 kb = ", across.begin, "; kb < ", across.end, "; kb += ", lanes_, ")"));
}

void TilePrinter::pack_right(ValueId factor, const std::string& buffer, const std::string& stride,
                             const Range& across, const Range& along) {
  const bool turned = lanes_ > 1 && across.loops.size() == 1 && !contiguous(factor, along.loops) &&
                      contiguous(factor, across.loops);
  if (!turned) return pack(factor, buffer, stride, across, along);
  const std::string enough = cat(across.end, " - ", across.begin, " >= ", lanes_);
  e_.open();
  pack_transposed(factor, buffer, stride, across, along);
  e_.close(cat("if (", enough, ")"));
  e_.open();
  pack(factor, buffer, stride, across, along);
  e_.close(cat("if (!(", enough, "))"));
}

std::string TilePrinter::tile(DType dtype, int rows, int vectors) {
  const std::string function = cat("luminal_tile_", dtype, "_", rows, "x", vectors, "x", lanes_);
  e_.helpers().call(micro_kernel(e_.dialect(), dtype, lanes_, rows, vectors, function));
  return function;
}

}  // namespace luminal::codegen
