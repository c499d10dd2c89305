#include "luminal/codegen/library.h"

#include <limits>

#include "luminal/codegen/strides.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::ValueId;
namespace value = kernel::value;

namespace {

Expr points(const kernel::Kernel& kernel, const std::vector<LoopId>& loops) {
  Expr count(1);
  for (const auto loop : loops) count = count * kernel.loop(loop).extent;
  return count;
}

/// BLAS counts with ints; what is known only when the program runs is looked at there.
bool is_too_large(const Expr& size) {
  const auto value = size.constant_value();
  return value && *value > std::numeric_limits<int>::max();
}

std::optional<Matrix> matrix_of(const kernel::Kernel& kernel, const std::vector<Expr>& index,
                                const Shape& shape, const std::vector<LoopId>& rows,
                                const std::vector<LoopId>& columns) {
  const Expr place = flat_index(index, shape);
  for (const bool turned : {false, true}) {
    const auto& across = turned ? columns : rows;
    const auto& along = turned ? rows : columns;
    const auto lines = lines_of(kernel, place, across, along);
    if (!lines) continue;
    const Expr length = points(kernel, along);
    const Expr stride = points(kernel, across) == Expr(1) ? length : lines->stride;
    if (!prove_le(length, stride) || is_too_large(stride)) continue;
    return Matrix{lines->offset, stride, turned};
  }
  return std::nullopt;
}

}  // namespace

std::optional<LibraryCall> library_call(const kernel::Kernel& kernel, const Nest& nest) {
  const auto shape = contractions_of(kernel, nest);
  if (!shape || shape->sums.size() != 1 || nest.stores.size() != 1) return std::nullopt;
  const Contraction& sum = shape->sums.front();
  const kernel::Store& store = kernel.stores()[nest.stores.front()];
  if (store.value != sum.sum || store.mode != kernel::Store::Mode::set) return std::nullopt;
  const auto* left = kernel.value(sum.left).try_get<value::Load>();
  const auto* right = kernel.value(sum.right).try_get<value::Load>();
  if (left == nullptr || right == nullptr) return std::nullopt;
  const auto a = matrix_of(kernel, left->index, kernel.inputs()[left->input].shape, shape->rows, sum.depth);
  const auto b =
      matrix_of(kernel, right->index, kernel.inputs()[right->input].shape, sum.depth, shape->columns);
  const auto c =
      matrix_of(kernel, store.index, kernel.outputs()[store.output].shape, shape->rows, shape->columns);
  const Expr depth = points(kernel, sum.depth);
  if (!a || !b || !c || is_too_large(depth)) return std::nullopt;
  return LibraryCall{kernel.value(sum.sum).dtype, depth, left->input, right->input, store.output, *a, *b, *c};
}

void print_library_call(Emitter& emitter, const LibraryCall& call, const Part& rows, const Part& columns) {
  const auto place = [&](const std::string& array, const Matrix& matrix, const std::string& row,
                         const std::string& column) {
    const std::string stride = emitter.text(matrix.stride);
    const std::string& line = matrix.turned ? column : row;
    const std::string& within = matrix.turned ? row : column;
    return cat(array, " + ", emitter.text(matrix.offset), " + ", line, " * ", stride, " + ", within, ", ",
               stride);
  };
  const auto order = [&](const Matrix& matrix) { return matrix.turned ? "1" : "0"; };
  emitter.line(
      cat(emitter.helpers().use("gemm", call.dtype, 1), "(", rows.end, " - ", rows.begin, ", ", columns.end,
          " - ", columns.begin, ", ", emitter.text(call.depth), ", ", order(call.left), ", ",
          place(cat("in", call.left_input), call.left, rows.begin, "0"), ", ", order(call.right), ", ",
          place(cat("in", call.right_input), call.right, "0", columns.begin), ", ", order(call.result), ", ",
          place(cat("out", call.output), call.result, rows.begin, columns.begin), ");"));
}

}  // namespace luminal::codegen
