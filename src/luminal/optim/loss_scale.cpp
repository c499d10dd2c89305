#include "luminal/optim/loss_scale.h"

#include "luminal/frontend/compare.h"
#include "luminal/frontend/math.h"
#include "luminal/frontend/reduce.h"
#include "luminal/support/error.h"

namespace luminal::optim {

LossScale::LossScale(Graph& graph, const LossScaleOptions& options, Location where)
    : scale_(graph.state("loss_scale/scale", {}, DType::f32, Array(options.initial), where)),
      good_runs_(graph.state("loss_scale/good_runs", {}, DType::i64, std::nullopt, where)),
      options_(options) {}

Tensor LossScale::scaled(const Tensor& loss, Location where) const {
  return Operand(loss, where) * scale_.cast(loss.dtype(), where);
}

LossScale::Unscaled LossScale::unscale(const std::vector<Tensor>& gradients, Location where) const {
  if (gradients.empty()) throw Error("unscale: there are no gradients", where);
  const Tensor inverse = reciprocal(scale_, where);
  std::vector<Tensor> wide;
  std::optional<Tensor> finite;
  for (const auto& gradient : gradients) {
    wide.push_back(gradient.cast(compute_dtype(gradient.dtype()), where) * inverse);
    const Tensor fine = isfinite(gradient, where).all(Axes::all(), false, where);
    finite = finite ? logical_and(*finite, fine) : fine;
  }
  const Tensor good = good_runs_ + 1;
  const Tensor full = ge(good, options_.interval);
  const Tensor grown = luminal::where(full, scale_ * options_.growth, scale_, where);
  Updates updates;
  updates.add(scale_, luminal::where(*finite, grown, scale_ * options_.backoff, where));
  updates.add(good_runs_, luminal::where(*finite, luminal::where(full, 0, good, where), 0, where));
  return {std::move(wide), *finite, std::move(updates)};
}

}  // namespace luminal::optim
