#include "luminal/frontend/matmul.h"

#include "luminal/frontend/formula.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// `Error` if two dims that a product pairs cannot be equal.
void require_paired(const Tensor& a, std::size_t axis_a, const Tensor& b, std::size_t axis_b,
                    std::string_view operation, Location where) {
  const Expr& x = a.shape()[axis_a];
  const Expr& y = b.shape()[axis_b];
  if (prove_lt(x, y) || prove_lt(y, x))
    throw Error(cat(operation, ": shapes ", a.shape(), " and ", b.shape(), " do not fit: axis ", axis_a,
                    " has ", x, " elements, axis ", axis_b, " has ", y),
                where);
}

void require_vector(const Tensor& x, std::string_view operation, Location where) {
  if (x.rank() != 1)
    throw Error(cat(operation, ": takes vectors, got shape ", x.shape(), " of rank ", x.rank()), where);
}

/// a [… 1, k] · b [1 …, k], summed over the last axis.
Tensor contracted(const Tensor& a, const Tensor& b, std::string_view operation, Location where) {
  const DType dtype = result_type({Operand(a, where), Operand(b, where)}, operation);
  const DType wide = compute_dtype(dtype);
  const Term product = Term(a.cast(wide, where), where) * Term(b.cast(wide, where), where);
  return sum(product, {product.rank() - 1}, false).cast(dtype);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, Location where) {
  if (a.rank() == 0 || b.rank() == 0)
    throw Error(cat("matmul: takes tensors of rank 1 or more, got shapes ", a.shape(), " and ", b.shape()),
                where);
  const std::size_t inner_b = b.rank() == 1 ? 0 : b.rank() - 2;
  require_paired(a, a.rank() - 1, b, inner_b, "matmul", where);
  if (b.rank() == 1) return contracted(a, b, "matmul", where);
  const Tensor columns = b.transpose(-1, -2, where);
  if (a.rank() == 1) return contracted(columns, a, "matmul", where);
  if (a.rank() > 2 && b.rank() > 2) {
    const auto batch = [](const Shape& s) { return Shape(std::vector<Expr>(s.begin(), s.end() - 2)); };
    broadcast_shape(batch(a.shape()), batch(b.shape()), "matmul", where);
  }
  return contracted(a.unsqueeze(-2, where), columns.unsqueeze(-3, where), "matmul", where);
}

Tensor dot(const Tensor& a, const Tensor& b, Location where) {
  require_vector(a, "dot", where);
  require_vector(b, "dot", where);
  require_paired(a, 0, b, 0, "dot", where);
  return contracted(a, b, "dot", where);
}

Tensor outer(const Tensor& a, const Tensor& b, Location where) {
  require_vector(a, "outer", where);
  require_vector(b, "outer", where);
  return Term(a.unsqueeze(1, where), where) * Term(b, where);
}

}  // namespace luminal
