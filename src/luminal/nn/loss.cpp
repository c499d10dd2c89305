#include "luminal/nn/loss.h"

#include "luminal/frontend/activation.h"
#include "luminal/frontend/compare.h"
#include "luminal/frontend/create.h"
#include "luminal/frontend/graph.h"
#include "luminal/frontend/index.h"
#include "luminal/frontend/math.h"
#include "luminal/frontend/normalise.h"
#include "luminal/frontend/reduce.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::nn {
namespace {

Tensor wide(const Tensor& x, Location where) {
  return is_floating(x.dtype()) ? x.cast(compute_dtype(x.dtype()), where) : x;
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

Tensor difference(const Tensor& prediction, const Tensor& target, Location where) {
  return Operand(wide(prediction, where), where) - wide(target, where);
}

}  // namespace

Tensor mse_loss(const Tensor& prediction, const Tensor& target, Reduction reduction, Location where) {
  return reduced(square(difference(prediction, target, where), where), reduction, prediction.dtype(), where);
}

Tensor rmse_loss(const Tensor& prediction, const Tensor& target, Location where) {
  return sqrt(mse_loss(prediction, target, Reduction::mean, where), where);
}

Tensor mae_loss(const Tensor& prediction, const Tensor& target, Reduction reduction, Location where) {
  return reduced(abs(difference(prediction, target, where), where), reduction, prediction.dtype(), where);
}

Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta, Reduction reduction,
                  Location where) {
  if (!(delta > 0)) throw Error(cat("huber_loss: delta is ", delta, ", expected more than 0"), where);
  const Tensor distance = difference(prediction, target, where);
  const Tensor size = abs(distance, where);
  const Tensor near = square(distance, where) * 0.5;
  const Tensor losses = luminal::where(le(size, delta), near, (size - delta / 2) * delta, where);
  return reduced(losses, reduction, prediction.dtype(), where);
}

Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, double beta, Reduction reduction,
                      Location where) {
  if (beta < 0) throw Error(cat("smooth_l1_loss: beta is ", beta, ", expected at least 0"), where);
  if (beta == 0) return mae_loss(prediction, target, reduction, where);
  const Tensor distance = difference(prediction, target, where);
  const Tensor size = abs(distance, where);
  const Tensor losses =
      luminal::where(lt(size, beta), square(distance, where) * (0.5 / beta), size - beta / 2, where);
  return reduced(losses, reduction, prediction.dtype(), where);
}

namespace {

/// What cross-entropy and NLL share.
struct Classes {
  Tensor logs;  // log-probabilities
  int axis;
  Location where;
  const ClassOptions& options;
  DType dtype;

  Expr count() const { return logs.shape()[static_cast<std::size_t>(axis)]; }

  /// The class weights along the class axis, ready to broadcast.
  std::optional<Tensor> weights() const {
    if (!options.weight) return std::nullopt;
    std::vector<Expr> dims(logs.rank(), Expr(1));
    dims[static_cast<std::size_t>(axis)] = count();
    return wide(*options.weight, where).reshape(Shape(std::move(dims)), where);
  }

  Tensor soft(const Tensor& target) const {
    Tensor goal = wide(target, where);
    if (options.smoothing != 0) goal = goal * (1 - options.smoothing) + spread();
    Tensor products = goal * logs;
    if (const auto weight = weights()) products = products * *weight;
    const Tensor losses = neg(products.sum(axis, false, where), where);
    return reduced(losses, options.reduction, dtype, where);
  }

  Tensor labelled(const Tensor& given) const {
    const Tensor labels =
        given.cast(DType::i64, where);  // so that the ignored label is none of a narrow dtype's
    const Tensor counts = ne(Operand(labels, where), options.ignored);
    const Tensor safe = luminal::where(counts, labels, 0, where);
    const auto at_label = [&](const Tensor& table) {
      return gather(table, axis, safe.unsqueeze(axis, where), where).squeeze(axis, where);
    };
    const Tensor valid = counts.cast(logs.dtype(), where);
    const auto weight = weights();
    const Tensor label_weight = weight ? at_label(weight->expand(logs.shape(), where)) * valid : valid;
    Tensor losses = luminal::where(counts, neg(at_label(logs), where) * label_weight, 0.0, where);
    if (options.smoothing != 0) {
      const Tensor all = neg((weight ? logs * *weight : logs).sum(axis, false, where), where);
      losses = losses * (1 - options.smoothing) + luminal::where(counts, all, 0.0, where) * spread();
    }
    if (options.reduction != Reduction::mean) return reduced(losses, options.reduction, dtype, where);
    return (losses.sum(Axes::all(), false, where) / label_weight.sum(Axes::all(), false, where))
        .cast(dtype, where);
  }

  /// What smoothing gives to every class.
  Tensor spread() const {
    Graph graph = logs.graph(where);
    return graph.constant(options.smoothing, logs.dtype(), where) / count();
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
  const Classes classes{log_softmax(wide(scores, where), axis, where), axis, where, options, scores.dtype()};
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
  const Tensor input = wide(prediction, where);
  const Tensor goal = wide(target, where);
  Tensor losses = input;
  if (log_target) {
    losses = exp(goal, where) * (goal - input);
  } else {
    const Tensor positive = gt(goal, 0);
    const Tensor safe = luminal::where(positive, goal, 1.0, where);
    losses = luminal::where(positive, goal * log(safe, where), 0.0, where) - goal * input;
  }
  if (!batch_mean) return reduced(losses, reduction, prediction.dtype(), where);
  if (prediction.rank() == 0) throw Error("kl_div: a batch mean needs an axis 0", where);
  return (losses.sum(Axes::all(), false, where) / prediction.shape()[0]).cast(prediction.dtype(), where);
}

Tensor binary_cross_entropy(const Tensor& prediction, const Tensor& target,
                            const std::optional<Tensor>& weight, Reduction reduction, Location where) {
  const Tensor p = wide(prediction, where);
  const Tensor t = wide(target, where);
  const Tensor yes = clip(log(p, where), -100, std::nullopt, where);
  const Tensor no = clip(log1p(neg(p, where), where), -100, std::nullopt, where);
  Tensor losses = neg(t * yes + (1 - t) * no, where);
  if (weight) losses = losses * *weight;
  return reduced(losses, reduction, prediction.dtype(), where);
}

Tensor binary_cross_entropy_with_logits(const Tensor& scores, const Tensor& target,
                                        const std::optional<Tensor>& weight,
                                        const std::optional<Tensor>& positive_weight, Reduction reduction,
                                        Location where) {
  const Tensor x = wide(scores, where);
  const Tensor t = wide(target, where);
  // log(1 + exp(−x)), without overflow.
  const Tensor tail = neg(log_sigmoid(x, where), where);
  Tensor losses = (1 - t) * x;
  losses = losses + (positive_weight ? ((*positive_weight - 1) * t + 1) * tail : tail);
  if (weight) losses = losses * *weight;
  return reduced(losses, reduction, scores.dtype(), where);
}

Tensor focal_loss(const Tensor& scores, const Tensor& target, double alpha, double gamma, Reduction reduction,
                  Location where) {
  const Tensor x = wide(scores, where);
  const Tensor t = wide(target, where);
  const Tensor p = sigmoid(x, where);
  const Tensor cross =
      binary_cross_entropy_with_logits(x, t, std::nullopt, std::nullopt, Reduction::none, where);
  const Tensor right = p * t + (1 - p) * (1 - t);
  Tensor losses = cross * pow(Operand(1 - right, where), Operand(gamma, where));
  if (alpha >= 0) losses = losses * (t * alpha + (1 - t) * (1 - alpha));
  return reduced(losses, reduction, scores.dtype(), where);
}

Tensor cosine_loss(const Tensor& a, const Tensor& b, const Tensor& label, double margin, Reduction reduction,
                   Location where) {
  const Tensor x = wide(a, where);
  const Tensor y = wide(b, where);
  // PyTorch's: ε inside the squares keeps vectors of zeros finite.
  const auto squares = [&](const Tensor& v) { return square(v, where).sum(-1, false, where) + 1e-12; };
  const Tensor cosine = (x * y).sum(-1, false, where) / sqrt(squares(x) * squares(y), where);
  const Tensor apart = clip(cosine - margin, 0, std::nullopt, where);
  const Tensor losses = luminal::where(eq(Operand(label, where), 1), 1 - cosine, apart, where);
  return reduced(losses, reduction, a.dtype(), where);
}

}  // namespace luminal::nn
