#include "luminal/nn/loss.h"

#include "luminal/frontend/activation.h"
#include "luminal/frontend/compare.h"
#include "luminal/frontend/create.h"
#include "luminal/frontend/formula.h"
#include "luminal/frontend/graph.h"
#include "luminal/frontend/index.h"
#include "luminal/frontend/math.h"
#include "luminal/frontend/normalise.h"
#include "luminal/frontend/reduce.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::nn {
namespace {

Term wide(const Tensor& x, Location where) {
  return {is_floating(x.dtype()) ? x.cast(compute_dtype(x.dtype()), where) : x, where};
}

Tensor reduced(const Tensor& losses, Reduction reduction, DType dtype, Location where) {
  switch (reduction) {
    case Reduction::mean:
      return losses.mean(Axes::all(), false, where).cast(dtype, where);
    case Reduction::sum:
      return losses.sum(Axes::all(), false, where).cast(dtype, where);
    case Reduction::none:
      return losses.cast(dtype, where);
  }
  throw InternalError("a reduction of no kind");
}

Term difference(const Tensor& prediction, const Tensor& target, Location where) {
  return wide(prediction, where) - wide(target, where);
}

/// a ≤ b.
Term at_most(const Term& a, const Term& b) {
  return not_less(b, a);
}

}  // namespace

Tensor mse_loss(const Tensor& prediction, const Tensor& target, Reduction reduction, Location where) {
  const Term distance = difference(prediction, target, where);
  return reduced(square(distance, where), reduction, prediction.dtype(), where);
}

Tensor rmse_loss(const Tensor& prediction, const Tensor& target, Location where) {
  return sqrt(mse_loss(prediction, target, Reduction::mean, where), where);
}

Tensor mae_loss(const Tensor& prediction, const Tensor& target, Reduction reduction, Location where) {
  const Tensor distance = difference(prediction, target, where);
  return reduced(abs(distance, where), reduction, prediction.dtype(), where);
}

Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta, Reduction reduction,
                  Location where) {
  if (!(delta > 0)) throw Error(cat("huber_loss: delta is ", delta, ", expected more than 0"), where);
  const Tensor distance = difference(prediction, target, where);
  const Term size(abs(distance, where), where);
  const Term near = Term(square(distance, where), where) * 0.5;
  const Term losses = select(at_most(size, delta), near, (size - delta / 2) * delta);
  return reduced(losses, reduction, prediction.dtype(), where);
}

Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, double beta, Reduction reduction,
                      Location where) {
  if (beta < 0) throw Error(cat("smooth_l1_loss: beta is ", beta, ", expected at least 0"), where);
  if (beta == 0) return mae_loss(prediction, target, reduction, where);
  const Tensor distance = difference(prediction, target, where);
  const Term size(abs(distance, where), where);
  const Term near = Term(square(distance, where), where) * (0.5 / beta);
  const Term losses = select(size < beta, near, size - beta / 2);
  return reduced(losses, reduction, prediction.dtype(), where);
}

namespace {

/// What cross-entropy and NLL share.
struct Classes {
  Term logs;  // log-probabilities
  int axis;
  Location where;
  const ClassOptions& options;
  DType dtype;

  Expr count() const { return logs.shape()[static_cast<std::size_t>(axis)]; }

  /// The class weights along the class axis, ready to broadcast.
  std::optional<Term> weights() const {
    if (!options.weight) return std::nullopt;
    std::vector<Expr> dims(logs.rank(), Expr(1));
    dims[static_cast<std::size_t>(axis)] = count();
    return wide(*options.weight, where).reshape(Shape(std::move(dims)));
  }

  Tensor soft(const Tensor& target) const {
    Term goal = wide(target, where);
    if (options.smoothing != 0) goal = goal * (1 - options.smoothing) + spread();
    Term products = goal * logs;
    if (const auto weight = weights()) products = products * *weight;
    const Term losses = -products.sum(axis);
    return reduced(losses, options.reduction, dtype, where);
  }

  Tensor labelled(const Tensor& given) const {
    const Tensor labels =
        given.cast(DType::i64, where);  // so that the ignored label is none of a narrow dtype's
    const Term counts = !(Term(labels, where) == options.ignored);
    const Term safe = select(counts, Term(labels, where), 0).unsqueeze(axis);
    const auto at_label = [&](const Tensor& table) {
      return Term(gather(table, axis, safe, where).squeeze(axis, where), where);
    };
    const Term valid = counts.cast(logs.dtype());
    const auto weight = weights();
    const Term label_weight = weight ? at_label(weight->tensor().expand(logs.shape(), where)) * valid : valid;
    Term losses = select(counts, -at_label(logs) * label_weight, 0.0);
    if (options.smoothing != 0) {
      const Term all = -(weight ? logs * *weight : logs).sum(axis);
      losses = losses * (1 - options.smoothing) + select(counts, all, 0.0) * spread();
    }
    if (options.reduction != Reduction::mean) return reduced(losses, options.reduction, dtype, where);
    return (losses.sum() / label_weight.sum()).cast(dtype);
  }

  /// What smoothing gives to every class.
  Term spread() const {
    return Term(constant_like(logs, options.smoothing, logs.dtype(), where), where) / count();
  }
};

int class_axis(const Tensor& scores, const ClassOptions& options, const char* what, Location where) {
  if (scores.rank() == 0) throw Error(cat(what, ": the scores are a scalar, expected a class axis"), where);
  const int axis = options.axis.value_or(scores.rank() == 1 ? 0 : 1);
  return static_cast<int>(resolve_axis(axis, scores.rank(), what, where));
}

}  // namespace

Tensor cross_entropy(const Tensor& scores, const Tensor& target, const ClassOptions& options,
                     Location where) {
  if (!(options.smoothing >= 0 && options.smoothing <= 1))
    throw Error(cat("cross_entropy: the smoothing is ", options.smoothing, ", expected 0 to 1"), where);
  const int axis = class_axis(scores, options, "cross_entropy", where);
  const Term logs(log_softmax(wide(scores, where), axis, where), where);
  const Classes classes{logs, axis, where, options, scores.dtype()};
  if (is_floating(target.dtype())) {
    if (target.shape() != scores.shape())
      throw Error(cat("cross_entropy: soft targets of shape ", target.shape(), " for scores of shape ",
                      scores.shape(), "; labels are integers"),
                  where);
    return classes.soft(target);
  }
  if (target.rank() + 1 != scores.rank())
    throw Error(cat("cross_entropy: labels of shape ", target.shape(), " for scores of shape ",
                    scores.shape(), ", whose axis ", axis, " counts classes"),
                where);
  return classes.labelled(target);
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& labels, const ClassOptions& options,
                Location where) {
  if (options.smoothing != 0) throw Error("nll_loss: takes no smoothing; use cross_entropy", where);
  const int axis = class_axis(log_probabilities, options, "nll_loss", where);
  if (is_floating(labels.dtype()) || labels.rank() + 1 != log_probabilities.rank())
    throw Error(cat("nll_loss: labels ", TensorType{labels.shape(), labels.dtype()},
                    " for log-probabilities of shape ", log_probabilities.shape(), ", whose axis ", axis,
                    " counts classes"),
                where);
  return Classes{wide(log_probabilities, where), axis, where, options, log_probabilities.dtype()}.labelled(
      labels);
}

Tensor kl_div(const Tensor& prediction, const Tensor& target, bool log_target, bool batch_mean,
              Reduction reduction, Location where) {
  const Term input = wide(prediction, where);
  const Term goal = wide(target, where);
  Term losses = input;
  if (log_target) {
    losses = exp(goal) * (goal - input);
  } else {
    const Term positive = 0 < goal;
    const Term safe = select(positive, goal, 1.0);
    losses = select(positive, goal * log(safe), 0.0) - goal * input;
  }
  if (!batch_mean) return reduced(losses, reduction, prediction.dtype(), where);
  if (prediction.rank() == 0) throw Error("kl_div: a batch mean needs an axis 0", where);
  return (losses.sum() / prediction.shape()[0]).cast(prediction.dtype());
}

Tensor binary_cross_entropy(const Tensor& prediction, const Tensor& target,
                            const std::optional<Tensor>& weight, Reduction reduction, Location where) {
  const Term p = wide(prediction, where);
  const Term t = wide(target, where);
  const Term yes(clip(log(p), -100, std::nullopt, where), where);
  const Term no(clip(apply(Op::log1p, -p), -100, std::nullopt, where), where);
  Term losses = -(t * yes + (1 - t) * no);
  if (weight) losses = losses * Term(*weight, where);
  return reduced(losses, reduction, prediction.dtype(), where);
}

Tensor binary_cross_entropy_with_logits(const Tensor& scores, const Tensor& target,
                                        const std::optional<Tensor>& weight,
                                        const std::optional<Tensor>& positive_weight, Reduction reduction,
                                        Location where) {
  const Line at{where};
  const Term x = wide(scores, where);
  const Term t = wide(target, where);
  // log(1 + exp(−x)), without overflow.
  const Term tail = -at(log_sigmoid(x, where));
  Term losses = (1 - t) * x;
  losses = losses + (positive_weight ? ((at(*positive_weight) - 1) * t + 1) * tail : tail);
  if (weight) losses = losses * at(*weight);
  return reduced(losses, reduction, scores.dtype(), where);
}

Tensor focal_loss(const Tensor& scores, const Tensor& target, double alpha, double gamma, Reduction reduction,
                  Location where) {
  const Line at{where};
  const Term x = wide(scores, where);
  const Term t = wide(target, where);
  const Term p = sigmoid(x);
  const Term cross =
      at(binary_cross_entropy_with_logits(x, t, std::nullopt, std::nullopt, Reduction::none, where));
  const Term wrong = 1 - (p * t + (1 - p) * (1 - t));
  Term losses = cross * at(pow(wrong.operand(), Operand(gamma, where)));
  if (alpha >= 0) losses = losses * (t * alpha + (1 - t) * (1 - alpha));
  return reduced(losses, reduction, scores.dtype(), where);
}

Tensor cosine_loss(const Tensor& a, const Tensor& b, const Tensor& label, double margin, Reduction reduction,
                   Location where) {
  const Line at{where};
  const Term x = wide(a, where);
  const Term y = wide(b, where);
  // PyTorch's: ε inside the squares keeps vectors of zeros finite.
  const auto squares = [](const Term& v) { return (v * v).sum(-1) + 1e-12; };
  const Term cosine = (x * y).sum(-1) / apply(Op::sqrt, squares(x) * squares(y));
  const Term apart = at(clip(cosine - margin, 0, std::nullopt, where));
  const Term losses = select(at(label) == 1, 1 - cosine, apart);
  return reduced(losses, reduction, a.dtype(), where);
}

}  // namespace luminal::nn
