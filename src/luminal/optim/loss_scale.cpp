#include "luminal/optim/loss_scale.h"

#include "luminal/frontend/compare.h"
#include "luminal/frontend/formula.h"
#include "luminal/frontend/math.h"
#include "luminal/frontend/reduce.h"
#include "luminal/support/error.h"

namespace luminal::optim {

LossScale::LossScale(Graph& graph, const LossScaleOptions& options, Location where)
    : scale_(graph.state("loss_scale/scale", {}, DType::f32, Array(options.initial), where)),
      good_runs_(graph.state("loss_scale/good_runs", {}, DType::i64, std::nullopt, where)),
      options_(options) {}

Tensor LossScale::scaled(const Tensor& loss, Location where) const {
  const Line at{where};
  return at(loss) * at(scale_).cast(loss.dtype());
}

LossScale::Unscaled LossScale::unscale(const std::vector<Tensor>& gradients, Location where) const {
  if (gradients.empty()) throw Error("unscale: there are no gradients", where);
  const Line at{where};
  const Term scale = at(scale_);
  const Term inverse = at(reciprocal(scale_, where));
  std::vector<Tensor> wide;
  std::optional<Term> finite;
  for (const auto& gradient : gradients) {
    wide.push_back(at(gradient).cast(compute_dtype(gradient.dtype())) * inverse);
    const Term fine = at(isfinite(gradient, where).all(Axes::all(), false, where));
    finite = finite ? *finite & fine : fine;
  }
  const Term good = at(good_runs_) + 1;
  const Term full = not_less(good, options_.interval);
  const Term grown = select(full, scale * options_.growth, scale);
  Updates updates;
  updates.add(scale_, select(*finite, grown, scale * options_.backoff));
  updates.add(good_runs_, select(*finite, select(full, 0, good), 0));
  return {std::move(wide), *finite, std::move(updates)};
}

}  // namespace luminal::optim
