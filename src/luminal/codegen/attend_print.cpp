#include <algorithm>
#include <map>

#include "luminal/codegen/attend.h"
#include "luminal/codegen/contract.h"
#include "luminal/codegen/nest.h"
#include "luminal/codegen/spell.h"
#include "luminal/codegen/strides.h"
#include "luminal/codegen/tile.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::ValueId;
namespace value = kernel::value;

namespace {

class AttendPrinter {
 public:
  AttendPrinter(Emitter& emitter, const Nest& nest, const NestSchedule& schedule, Attention shape)
      : e_(emitter),
        kernel_(emitter.kernel()),
        nest_(nest),
        tiles_(*schedule.tiles),
        lanes_(schedule.lanes),
        print_(emitter, schedule.lanes),
        shape_(std::move(shape)),
        keys_{shape_.keys} {}

  void print();

 private:
  Emitter& e_;
  const kernel::Kernel& kernel_;
  const Nest& nest_;
  TileSchedule tiles_;
  int lanes_;
  TilePrinter print_;
  Attention shape_;
  std::vector<LoopId> keys_;
  std::int64_t score_row_ = 0;
  std::int64_t mix_row_ = 0;

  std::int64_t padded(std::int64_t count) const {
    const std::int64_t tile = static_cast<std::int64_t>(tiles_.vectors) * lanes_;
    return (count + tile - 1) / tile * tile + 16;
  }
  std::string vector() { return e_.helpers().type(DType::f32, lanes_); }
  ValueId weighed(ValueId sum) const { return kernel_.value(sum).try_get<value::Reduce>()->arguments[1]; }
  std::int64_t columns() const { return *print_.extent_of(shape_.columns).constant_value(); }

  void begin();
  void skip_masked();
  void scores(const std::string& query, const std::string& query_row);
  void exponents();
  void weights();
  void mix(ValueId sum, std::size_t number);
  void epilogue();
};

void AttendPrinter::begin() {
  const std::string rows = e_.text(print_.extent_of(shape_.rows));
  const std::string row_blocks =
      e_.text(Expr::ceil_div(print_.extent_of(shape_.rows), Expr(tiles_.block_rows)));
  e_.line(cat("const i64 row_blocks = ", row_blocks, ";"));
  e_.line(cat("const i64 m0 = task % row_blocks * ", tiles_.block_rows, ", m1 = m0 + ", tiles_.block_rows,
              " < ", rows, " ? m0 + ", tiles_.block_rows, " : ", rows, ";"));
  print_.bind(shape_.batch, "(task / row_blocks)");
  score_row_ = padded(tiles_.block_columns);
  mix_row_ = padded(columns());
  const std::int64_t count = (tiles_.block_rows + tiles_.rows - 1) / tiles_.rows * tiles_.rows;
  e_.allocate("scores", DType::f32, false, Expr(count * score_row_));
  e_.allocate("tops", DType::f32, false, Expr(count));
  e_.allocate("factors", DType::f32, false, Expr(count));
  e_.line(cat("for (i64 z = 0; z < ", count, "; ++z) tops[z] = -__builtin_inff();"));
  for (std::size_t k = 0; k < shape_.totals.size(); ++k) {
    e_.allocate(cat("total", k), DType::f32, false, Expr(count));
    e_.line(cat("for (i64 z = 0; z < ", count, "; ++z) total", k, "[z] = 0;"));
  }
  for (std::size_t k = 0; k < shape_.mixtures.size(); ++k) {
    e_.allocate(cat("mixed", k), DType::f32, false, Expr(count * mix_row_));
    e_.line(cat("for (i64 z = 0; z < ", count * mix_row_, "; ++z) mixed", k, "[z] = 0;"));
  }
  e_.line("float least = -__builtin_inff();");
}

/// Whole blocks whose exponents are one constant, too small to count beside any row's maximum, are left out.
void AttendPrinter::skip_masked() {
  for (const auto& masking : maskings_of(kernel_, shape_)) {
    std::map<std::string, Expr, std::less<>> corner;
    const auto end = [&](LoopId loop, const char* low, const char* high) {
      const Expr step = *step_along(kernel_, masking.margin, loop, 1);
      corner.emplace(cat("i", loop.value()), Expr::variable(*step.constant_value() > 0 ? low : high, 0));
    };
    end(shape_.rows.front(), "m_first", "m_last");
    end(shape_.keys, "j_first", "j_last");
    e_.open();
    e_.line("const i64 m_first = m0, m_last = m1 - 1, j_first = j0, j_last = j1 - 1;");
    e_.line("(void)m_first; (void)m_last; (void)j_first; (void)j_last;");
    // 2^-200 is 0 in f32.
    const std::string exponent = spell_constant(make_scalar(DType::f32, masking.exponent));
    e_.line(cat("if (", e_.text(masking.margin.substitute(corner)), " >= 1 && least - ", exponent,
                " > 200.0f) continue;"));
    e_.close("");
  }
}

void AttendPrinter::scores(const std::string& query, const std::string& query_row) {
  const std::string stride = std::to_string(score_row_);
  const std::int64_t depth = *print_.extent_of(shape_.depth).constant_value();
  e_.line(cat("const i64 e0 = 0, e1 = ", depth, ";"));
  print_.pack_right(shape_.key, "keys", stride, {shape_.depth, "e0", "e1"}, {keys_, "j0", "j1"});
  const std::string function = print_.tile(DType::f32, tiles_.rows, tiles_.vectors);
  e_.line(cat("for (i64 n = 0; n < j1 - j0; n += ", tiles_.vectors * lanes_, ")"));
  e_.line(cat("  for (i64 m = 0; m < m1 - m0; m += ", tiles_.rows, ")"));
  e_.line(cat("    ", function, "(", depth, ", m1 - m0 - m, ", query, " + m * ", query_row, ", ", query_row,
              ", 1, keys + n, ", stride, ", scores + m * ", stride, " + n, ", stride, ", 1);"));
}

/// Scores become exponents, and rows' maxima grow.
void AttendPrinter::exponents() {
  const std::string type = vector();
  const std::string max = e_.helpers().use("max", DType::f32, lanes_);
  const std::string max_1 = e_.helpers().use("max", DType::f32, 1);
  e_.open();
  print_.bind(shape_.rows, "(m0 + p)");
  e_.line(cat("float* row = scores + p * ", score_row_, ";"));
  e_.line(cat(type, " lanes_top = splat_", type, "(-__builtin_inff());"));
  e_.line("float top = tops[p];");
  print_.runs(
      {keys_, "j0", "j1"}, TilePrinter::Vectors::whole, false, [&](const std::string& flat, bool lanes) {
        e_.scope().arrays.insert_or_assign(shape_.score, Array{"(row - j0)", keys_, false});
        const std::string x = e_.value(shape_.exponent, lanes);
        const std::string place = cat("row + (", flat, " - j0)");
        e_.line(lanes ? cat("*(", type, "_u*)(", place, ") = ", x, ";") : cat("*(", place, ") = ", x, ";"));
        e_.line(lanes ? cat("lanes_top = ", max, "(lanes_top, ", x, ");")
                      : cat("top = ", max_1, "(top, ", x, ");"));
      });
  if (lanes_ > 1)
    e_.line(cat("for (int l = 0; l < ", lanes_, "; ++l) top = ", max_1, "(top, lanes_top[l]);"));
  e_.line(cat("factors[p] = ", e_.helpers().use("scale", DType::f32, 1), "(tops[p], top);"));
  e_.line("tops[p] = top;");
  weights();
  e_.close("for (i64 p = 0; p < m1 - m0; ++p)");
}

/// Exponents become weights; sums of one value a row take them, and the others are rescaled.
void AttendPrinter::weights() {
  const std::string type = vector();
  const std::string scale = e_.helpers().use("scale", DType::f32, lanes_);
  const std::string scale_1 = e_.helpers().use("scale", DType::f32, 1);
  for (std::size_t k = 0; k < shape_.totals.size(); ++k)
    e_.line(cat(type, " lanes_total", k, " = splat_", type, "(0); float sum", k, " = total", k,
                "[p] * factors[p];"));
  print_.runs(
      {keys_, "j0", "j1"}, TilePrinter::Vectors::whole, false, [&](const std::string& flat, bool lanes) {
        const std::string place = cat("row + (", flat, " - j0)");
        const std::string lvalue = lanes ? cat("*(", type, "_u*)(", place, ")") : cat("*(", place, ")");
        e_.line(lanes ? cat("const ", type, " weight = ", scale, "(", lvalue, ", splat_", type, "(top));")
                      : cat("const float weight = ", scale_1, "(", lvalue, ", top);"));
        e_.line(cat(lvalue, " = weight;"));
        for (std::size_t k = 0; k < shape_.totals.size(); ++k) {
          const std::string w = e_.value(weighed(shape_.totals[k]), lanes);
          const std::string target = cat(lanes ? "lanes_total" : "sum", k);
          e_.line(cat(target, " = ", target, " + weight * ", w, ";"));
        }
      });
  for (std::size_t k = 0; k < shape_.totals.size(); ++k) {
    if (lanes_ > 1)
      e_.line(cat("for (int l = 0; l < ", lanes_, "; ++l) sum", k, " = sum", k, " + lanes_total", k, "[l];"));
    e_.line(cat("total", k, "[p] = sum", k, ";"));
  }
  for (std::size_t k = 0; k < shape_.mixtures.size(); ++k)
    e_.line(cat("if (factors[p] != 1.0f) for (i64 z = 0; z < ", mix_row_ - 16, "; z += ", lanes_, ") { ",
                type, lanes_ > 1 ? "_u" : "", "* at = (", type, lanes_ > 1 ? "_u" : "", "*)(mixed", k,
                " + p * ", mix_row_, " + z); *at = *at * factors[p]; }"));
}

/// mixed += weights · what they weigh.
void AttendPrinter::mix(ValueId sum, std::size_t number) {
  const std::int64_t tile = static_cast<std::int64_t>(tiles_.vectors) * lanes_;
  std::string base;
  std::string stride;
  const auto direct =
      columns() % tile == 0 ? direct_read(kernel_, weighed(sum), keys_, shape_.columns) : std::nullopt;
  if (direct) {
    stride = e_.text(direct->stride);
    base = cat("(in", direct->input, " + ", e_.text(direct->offset), " + j0 * ", stride, ")");
  } else {
    base = cat("weighed", number);
    stride = std::to_string(mix_row_);
    e_.allocate(base, DType::f32, false, Expr(tiles_.block_columns * mix_row_));
    e_.line(cat("const i64 d0_", number, " = 0, d1_", number, " = ", columns(), ";"));
    print_.pack(weighed(sum), base, stride, {keys_, "j0", "j1"},
                {shape_.columns, cat("d0_", number), cat("d1_", number)});
  }
  const std::string function = print_.tile(DType::f32, tiles_.rows, tiles_.vectors);
  e_.line(cat("for (i64 n = 0; n < ", columns(), "; n += ", tile, ")"));
  e_.line(cat("  for (i64 m = 0; m < m1 - m0; m += ", tiles_.rows, ")"));
  e_.line(cat("    ", function, "(j1 - j0, m1 - m0 - m, scores + m * ", score_row_, ", ", score_row_, ", 1, ",
              base, " + n, ", stride, ", mixed", number, " + m * ", mix_row_, " + n, ", mix_row_, ", 0);"));
}

void AttendPrinter::epilogue() {
  const std::string finish = e_.helpers().use("unless_empty", DType::f32, 1);
  e_.open();
  print_.bind(shape_.rows, "(m0 + p)");
  for (std::size_t k = 0; k < shape_.totals.size(); ++k) {
    const std::string name = cat("finished", k);
    e_.line(cat("const float ", name, " = ", finish, "(total", k, "[p], tops[p]);"));
    e_.scope().values.insert_or_assign(shape_.totals[k], codegen::Operand{name, false});
  }
  for (std::size_t k = 0; k < shape_.mixtures.size(); ++k)
    e_.line(cat("if (tops[p] == -__builtin_inff()) for (i64 z = 0; z < ", mix_row_, "; ++z) mixed", k,
                "[p * ", mix_row_, " + z] = 0;"));
  e_.line(cat("const i64 d0 = 0, d1 = ", columns(), ";"));
  print_.runs(
      {shape_.columns, "d0", "d1"}, TilePrinter::Vectors::fitting, false, [&](const std::string& flat, bool) {
        const std::string last = cat("i", shape_.columns.back().value());
        for (std::size_t k = 0; k < shape_.mixtures.size(); ++k) {
          const std::string name = cat("(mixed", k, " + p * ", mix_row_, " + (", flat, " - ", last, "))");
          e_.scope().arrays.insert_or_assign(shape_.mixtures[k], Array{name, {shape_.columns.back()}, false});
        }
        for (const auto id : roots_of(kernel_, nest_)) e_.value(id);
        for (const auto index : nest_.stores) e_.store(kernel_.stores()[index]);
      });
  e_.close("for (i64 p = 0; p < m1 - m0; ++p)");
}

void AttendPrinter::print() {
  e_.set_lanes(lanes_);
  e_.helpers().use("core", DType::f32, lanes_);
  e_.open();
  begin();
  const std::int64_t depth = *print_.extent_of(shape_.depth).constant_value();
  std::string query = "queries";
  std::string query_row = std::to_string(depth + 16);
  if (const auto direct = direct_read(kernel_, shape_.query, shape_.rows, shape_.depth)) {
    query_row = e_.text(direct->stride);
    query = cat("(in", direct->input, " + ", e_.text(direct->offset), " + m0 * ", query_row, ")");
  } else {
    e_.allocate(query, DType::f32, false, Expr(tiles_.block_rows * (depth + 16)));
    e_.line(cat("const i64 q0 = 0, q1 = ", depth, ";"));
    print_.pack(shape_.query, query, query_row, {shape_.rows, "m0", "m1"}, {shape_.depth, "q0", "q1"});
  }
  e_.allocate("keys", DType::f32, false, Expr(depth * score_row_));
  const std::string count = e_.extent(shape_.keys);
  e_.open().guards = true;
  e_.line(cat("const i64 j1 = j0 + ", tiles_.block_columns, " < ", count, " ? j0 + ", tiles_.block_columns,
              " : ", count, ";"));
  skip_masked();
  scores(query, query_row);
  exponents();
  for (std::size_t k = 0; k < shape_.mixtures.size(); ++k) mix(shape_.mixtures[k], k);
  e_.line("least = tops[0];");
  e_.line("for (i64 z = 1; z < m1 - m0; ++z) least = tops[z] < least ? tops[z] : least;");
  e_.close(cat("for (i64 j0 = 0; j0 < ", count, "; j0 += ", tiles_.block_columns, ")"));
  epilogue();
  e_.close("");
}

}  // namespace

void print_attention(Emitter& emitter, const Nest& nest, const NestSchedule& schedule) {
  auto shape = attention_of(emitter.kernel(), nest);
  if (!shape)
    throw InternalError("schedule: tiles for a nest that has no soft sums", kernel::print(emitter.kernel()));
  AttendPrinter(emitter, nest, schedule, std::move(*shape)).print();
}

}  // namespace luminal::codegen
