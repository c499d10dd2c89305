// The methods of Tensor that forward to the free functions of the families.
#include "luminal/frontend/activation.h"
#include "luminal/frontend/compare.h"
#include "luminal/frontend/index.h"
#include "luminal/frontend/math.h"
#include "luminal/frontend/matmul.h"
#include "luminal/frontend/movement.h"
#include "luminal/frontend/normalise.h"
#include "luminal/frontend/random.h"
#include "luminal/frontend/reduce.h"
#include "luminal/frontend/scan.h"

namespace luminal {

Tensor Tensor::squeeze(Location where) const {
  return luminal::squeeze(*this, where);
}
Tensor Tensor::flatten(int first, int last, Location where) const {
  return luminal::flatten(*this, first, last, where);
}
Tensor Tensor::pad(int axis, const Expr& before, const Expr& after, const Number& fill,
                   Location where) const {
  return luminal::pad(*this, axis, before, after, fill, where);
}
Tensor Tensor::pad(int axis, const Expr& before, const Expr& after, PadMode mode, Location where) const {
  return luminal::pad(*this, axis, before, after, mode, where);
}
Tensor Tensor::flip(const Axes& axes, Location where) const {
  return luminal::flip(*this, axes, where);
}
Tensor Tensor::repeat(const std::vector<Expr>& times, Location where) const {
  return luminal::repeat(*this, times, where);
}
Tensor Tensor::tile(const std::vector<Expr>& times, Location where) const {
  return luminal::tile(*this, times, where);
}
std::vector<Tensor> Tensor::split(const std::vector<Expr>& sizes, int axis, Location where) const {
  return luminal::split(*this, sizes, axis, where);
}
std::vector<Tensor> Tensor::chunk(int count, int axis, Location where) const {
  return luminal::chunk(*this, count, axis, where);
}
Tensor Tensor::roll(const Expr& shift, int axis, Location where) const {
  return luminal::roll(*this, shift, axis, where);
}
Tensor Tensor::tril(const Expr& diagonal, Location where) const {
  return luminal::tril(*this, diagonal, where);
}
Tensor Tensor::triu(const Expr& diagonal, Location where) const {
  return luminal::triu(*this, diagonal, where);
}
Tensor Tensor::diagonal(int offset, int first, int second, Location where) const {
  return luminal::diagonal(*this, offset, first, second, where);
}
Tensor Tensor::abs(Location where) const {
  return luminal::abs(*this, where);
}
Tensor Tensor::sign(Location where) const {
  return luminal::sign(*this, where);
}
Tensor Tensor::neg(Location where) const {
  return luminal::neg(*this, where);
}
Tensor Tensor::reciprocal(Location where) const {
  return luminal::reciprocal(*this, where);
}
Tensor Tensor::square(Location where) const {
  return luminal::square(*this, where);
}
Tensor Tensor::sqrt(Location where) const {
  return luminal::sqrt(*this, where);
}
Tensor Tensor::rsqrt(Location where) const {
  return luminal::rsqrt(*this, where);
}
Tensor Tensor::exp(Location where) const {
  return luminal::exp(*this, where);
}
Tensor Tensor::exp2(Location where) const {
  return luminal::exp2(*this, where);
}
Tensor Tensor::log(Location where) const {
  return luminal::log(*this, where);
}
Tensor Tensor::log2(Location where) const {
  return luminal::log2(*this, where);
}
Tensor Tensor::log10(Location where) const {
  return luminal::log10(*this, where);
}
Tensor Tensor::log1p(Location where) const {
  return luminal::log1p(*this, where);
}
Tensor Tensor::expm1(Location where) const {
  return luminal::expm1(*this, where);
}
Tensor Tensor::sin(Location where) const {
  return luminal::sin(*this, where);
}
Tensor Tensor::cos(Location where) const {
  return luminal::cos(*this, where);
}
Tensor Tensor::tan(Location where) const {
  return luminal::tan(*this, where);
}
Tensor Tensor::asin(Location where) const {
  return luminal::asin(*this, where);
}
Tensor Tensor::acos(Location where) const {
  return luminal::acos(*this, where);
}
Tensor Tensor::atan(Location where) const {
  return luminal::atan(*this, where);
}
Tensor Tensor::sinh(Location where) const {
  return luminal::sinh(*this, where);
}
Tensor Tensor::cosh(Location where) const {
  return luminal::cosh(*this, where);
}
Tensor Tensor::tanh(Location where) const {
  return luminal::tanh(*this, where);
}
Tensor Tensor::erf(Location where) const {
  return luminal::erf(*this, where);
}
Tensor Tensor::floor(Location where) const {
  return luminal::floor(*this, where);
}
Tensor Tensor::ceil(Location where) const {
  return luminal::ceil(*this, where);
}
Tensor Tensor::round(Location where) const {
  return luminal::round(*this, where);
}
Tensor Tensor::trunc(Location where) const {
  return luminal::trunc(*this, where);
}
Tensor Tensor::isnan(Location where) const {
  return luminal::isnan(*this, where);
}
Tensor Tensor::isinf(Location where) const {
  return luminal::isinf(*this, where);
}
Tensor Tensor::isfinite(Location where) const {
  return luminal::isfinite(*this, where);
}
Tensor Tensor::atan2(const Operand& x) const {
  return luminal::atan2(Operand(*this, x.where), x);
}
Tensor Tensor::pow(const Operand& exponent) const {
  return luminal::pow(Operand(*this, exponent.where), exponent);
}
Tensor Tensor::fmod(const Operand& divisor) const {
  return luminal::fmod(Operand(*this, divisor.where), divisor);
}
Tensor Tensor::remainder(const Operand& divisor) const {
  return luminal::remainder(Operand(*this, divisor.where), divisor);
}
Tensor Tensor::floor_divide(const Operand& divisor) const {
  return luminal::floor_divide(Operand(*this, divisor.where), divisor);
}
Tensor Tensor::lt(const Operand& other) const {
  return luminal::lt(Operand(*this, other.where), other);
}
Tensor Tensor::gt(const Operand& other) const {
  return luminal::gt(Operand(*this, other.where), other);
}
Tensor Tensor::le(const Operand& other) const {
  return luminal::le(Operand(*this, other.where), other);
}
Tensor Tensor::ge(const Operand& other) const {
  return luminal::ge(Operand(*this, other.where), other);
}
Tensor Tensor::eq(const Operand& other) const {
  return luminal::eq(Operand(*this, other.where), other);
}
Tensor Tensor::ne(const Operand& other) const {
  return luminal::ne(Operand(*this, other.where), other);
}
Tensor Tensor::maximum(const Operand& other) const {
  return luminal::maximum(Operand(*this, other.where), other);
}
Tensor Tensor::minimum(const Operand& other) const {
  return luminal::minimum(Operand(*this, other.where), other);
}
Tensor Tensor::logical_and(const Operand& other) const {
  return luminal::logical_and(Operand(*this, other.where), other);
}
Tensor Tensor::logical_or(const Operand& other) const {
  return luminal::logical_or(Operand(*this, other.where), other);
}
Tensor Tensor::logical_xor(const Operand& other) const {
  return luminal::logical_xor(Operand(*this, other.where), other);
}
Tensor Tensor::bit_and(const Operand& other) const {
  return luminal::bit_and(Operand(*this, other.where), other);
}
Tensor Tensor::bit_or(const Operand& other) const {
  return luminal::bit_or(Operand(*this, other.where), other);
}
Tensor Tensor::bit_xor(const Operand& other) const {
  return luminal::bit_xor(Operand(*this, other.where), other);
}
Tensor Tensor::shift_left(const Operand& other) const {
  return luminal::shift_left(Operand(*this, other.where), other);
}
Tensor Tensor::shift_right(const Operand& other) const {
  return luminal::shift_right(Operand(*this, other.where), other);
}
Tensor Tensor::logical_not(Location where) const {
  return luminal::logical_not(*this, where);
}
Tensor Tensor::bit_not(Location where) const {
  return luminal::bit_not(*this, where);
}
Tensor Tensor::clip(const Bound& low, const Bound& high, Location where) const {
  return luminal::clip(*this, low, high, where);
}
Tensor Tensor::masked_fill(const Tensor& mask, const Operand& value) const {
  return luminal::masked_fill(*this, mask, value);
}
Tensor Tensor::relu(Location where) const {
  return luminal::relu(*this, where);
}
Tensor Tensor::leaky_relu(double slope, Location where) const {
  return luminal::leaky_relu(*this, slope, where);
}
Tensor Tensor::elu(double alpha, Location where) const {
  return luminal::elu(*this, alpha, where);
}
Tensor Tensor::selu(Location where) const {
  return luminal::selu(*this, where);
}
Tensor Tensor::gelu(Gelu form, Location where) const {
  return luminal::gelu(*this, form, where);
}
Tensor Tensor::silu(Location where) const {
  return luminal::silu(*this, where);
}
Tensor Tensor::swish(Location where) const {
  return luminal::swish(*this, where);
}
Tensor Tensor::sigmoid(Location where) const {
  return luminal::sigmoid(*this, where);
}
Tensor Tensor::log_sigmoid(Location where) const {
  return luminal::log_sigmoid(*this, where);
}
Tensor Tensor::hardsigmoid(Location where) const {
  return luminal::hardsigmoid(*this, where);
}
Tensor Tensor::hardswish(Location where) const {
  return luminal::hardswish(*this, where);
}
Tensor Tensor::softplus(double beta, double threshold, Location where) const {
  return luminal::softplus(*this, beta, threshold, where);
}
Tensor Tensor::mish(Location where) const {
  return luminal::mish(*this, where);
}
Tensor Tensor::sum(const Axes& axes, bool keep_dims, Location where) const {
  return luminal::sum(*this, axes, keep_dims, where);
}
Tensor Tensor::mean(const Axes& axes, bool keep_dims, Location where) const {
  return luminal::mean(*this, axes, keep_dims, where);
}
Tensor Tensor::max(const Axes& axes, bool keep_dims, Location where) const {
  return luminal::max(*this, axes, keep_dims, where);
}
Tensor Tensor::min(const Axes& axes, bool keep_dims, Location where) const {
  return luminal::min(*this, axes, keep_dims, where);
}
Tensor Tensor::prod(const Axes& axes, bool keep_dims, Location where) const {
  return luminal::prod(*this, axes, keep_dims, where);
}
Tensor Tensor::any(const Axes& axes, bool keep_dims, Location where) const {
  return luminal::any(*this, axes, keep_dims, where);
}
Tensor Tensor::all(const Axes& axes, bool keep_dims, Location where) const {
  return luminal::all(*this, axes, keep_dims, where);
}
Tensor Tensor::logsumexp(const Axes& axes, bool keep_dims, Location where) const {
  return luminal::logsumexp(*this, axes, keep_dims, where);
}
Tensor Tensor::var(const Axes& axes, int correction, bool keep_dims, Location where) const {
  return luminal::var(*this, axes, correction, keep_dims, where);
}
Tensor Tensor::std(const Axes& axes, int correction, bool keep_dims, Location where) const {
  return luminal::std(*this, axes, correction, keep_dims, where);
}
Tensor Tensor::argmax(Location where) const {
  return luminal::argmax(*this, where);
}
Tensor Tensor::argmax(int axis, bool keep_dims, Location where) const {
  return luminal::argmax(*this, axis, keep_dims, where);
}
Tensor Tensor::argmin(Location where) const {
  return luminal::argmin(*this, where);
}
Tensor Tensor::argmin(int axis, bool keep_dims, Location where) const {
  return luminal::argmin(*this, axis, keep_dims, where);
}
Tensor Tensor::norm(double p, const Axes& axes, bool keep_dims, Location where) const {
  return luminal::norm(*this, p, axes, keep_dims, where);
}
Tensor Tensor::softmax(int axis, Location where) const {
  return luminal::softmax(*this, axis, where);
}
Tensor Tensor::log_softmax(int axis, Location where) const {
  return luminal::log_softmax(*this, axis, where);
}
Tensor Tensor::layer_norm(const Axes& axes, double epsilon, Location where) const {
  return luminal::layer_norm(*this, axes, epsilon, where);
}
Tensor Tensor::rms_norm(const Axes& axes, std::optional<double> epsilon, Location where) const {
  return luminal::rms_norm(*this, axes, epsilon, where);
}
Tensor Tensor::mean_norm(const Axes& axes, Location where) const {
  return luminal::mean_norm(*this, axes, where);
}
Tensor Tensor::std_norm(const Axes& axes, double epsilon, Location where) const {
  return luminal::std_norm(*this, axes, epsilon, where);
}
Tensor Tensor::normalize(double p, const Axes& axes, double epsilon, Location where) const {
  return luminal::normalize(*this, p, axes, epsilon, where);
}
Tensor Tensor::matmul(const Tensor& other, Location where) const {
  return luminal::matmul(*this, other, where);
}
Tensor Tensor::dot(const Tensor& other, Location where) const {
  return luminal::dot(*this, other, where);
}
Tensor Tensor::outer(const Tensor& other, Location where) const {
  return luminal::outer(*this, other, where);
}
Tensor Tensor::gather(int axis, const Tensor& index, Location where) const {
  return luminal::gather(*this, axis, index, where);
}
Tensor Tensor::scatter(int axis, const Tensor& index, const Operand& source, Location where) const {
  return luminal::scatter(*this, axis, index, source, where);
}
Tensor Tensor::scatter_add(int axis, const Tensor& index, const Tensor& source, Location where) const {
  return luminal::scatter_add(*this, axis, index, source, where);
}
Tensor Tensor::index_select(int axis, const Tensor& index, Location where) const {
  return luminal::index_select(*this, axis, index, where);
}
Tensor Tensor::index_put(const std::vector<Tensor>& indices, const Operand& values, bool accumulate,
                         Location where) const {
  return luminal::index_put(*this, indices, values, accumulate, where);
}
Tensor Tensor::take_along_axis(const Tensor& index, int axis, Location where) const {
  return luminal::take_along_axis(*this, index, axis, where);
}
Tensor Tensor::one_hot(const Expr& classes, Location where) const {
  return luminal::one_hot(*this, classes, where);
}
Tensor Tensor::cumsum(int axis, Location where) const {
  return luminal::cumsum(*this, axis, where);
}
Tensor Tensor::cumprod(int axis, Location where) const {
  return luminal::cumprod(*this, axis, where);
}
Tensor Tensor::argsort(int axis, bool descending, Location where) const {
  return luminal::argsort(*this, axis, descending, where);
}
Ranked Tensor::cummax(int axis, Location where) const {
  return luminal::cummax(*this, axis, where);
}
Ranked Tensor::sort(int axis, bool descending, Location where) const {
  return luminal::sort(*this, axis, descending, where);
}
Ranked Tensor::topk(const Expr& count, int axis, bool largest, Location where) const {
  return luminal::topk(*this, count, axis, largest, where);
}
Tensor Tensor::dropout(double probability, const Seed& seed, Location where) const {
  return luminal::dropout(*this, probability, seed, where);
}
Tensor Tensor::multinomial(const Expr& count, bool replacement, const Seed& seed, Location where) const {
  return luminal::multinomial(*this, count, replacement, seed, where);
}

}  // namespace luminal
