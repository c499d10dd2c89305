#include "luminal/nn/linear.h"

#include <cmath>

#include "luminal/frontend/formula.h"
#include "luminal/frontend/index.h"
#include "luminal/frontend/matmul.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::nn {

namespace {

Initialiser init_of(std::int64_t inputs, std::int64_t outputs, Location where) {
  if (inputs < 1 || outputs < 1)
    throw Error(cat("Linear: ", inputs, " inputs and ", outputs, " outputs, expected at least 1"), where);
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  return init::uniform(-bound, bound);
}

std::vector<std::int64_t> pair(std::int64_t a, std::int64_t b, bool swapped) {
  return swapped ? std::vector<std::int64_t>{b, a} : std::vector<std::int64_t>{a, b};
}

}  // namespace

Linear::Linear(const Scope& scope, std::int64_t inputs, std::int64_t outputs, const LinearOptions& options,
               Location where)
    : weight(scope.of("linear").state("weight", pair(outputs, inputs, options.permuted),
                                      init_of(inputs, outputs, where), where)),
      permuted(options.permuted) {
  if (options.bias)
    bias = scope.sibling(weight.name(where), "bias", {outputs}, init_of(inputs, outputs, where), where);
}

Tensor Linear::forward(const Tensor& x, Location where) const {
  const Expr& inputs = weight.shape()[permuted ? 0 : 1];
  if (x.rank() == 0 || prove_lt(x.shape()[x.rank() - 1], inputs) || prove_lt(inputs, x.shape()[x.rank() - 1]))
    throw Error(cat("Linear: the input has shape ", x.shape(), ", expected ", inputs,
                    " elements along the last axis"),
                where);
  const Tensor cast = in_dtype_of(x, weight, where);
  const Tensor product = matmul(x, permuted ? cast : cast.transpose(0, 1, where), where);
  const Line at{where};
  return bias ? at(product) + at(in_dtype_of(x, *bias, where)) : at(product);
}

void Linear::visit(Visitor& v) {
  v.parameter("weight", weight);
  v.parameter("bias", bias);
}

Embedding::Embedding(const Scope& scope, std::int64_t count, std::int64_t size, bool permuted_,
                     Location where)
    : weight(scope.of("embedding").state("weight", pair(count, size, permuted_), init::normal(), where)),
      permuted(permuted_) {}

Tensor Embedding::forward(const Tensor& index, Location where) const {
  return embedding(index, permuted ? weight.transpose(0, 1, where) : Tensor(weight), where);
}

}  // namespace luminal::nn
