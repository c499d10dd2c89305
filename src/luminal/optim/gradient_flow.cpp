// What happens to gradients before an optimiser sees them, and to parameters after it.
#include "luminal/optim/build.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::optim {

std::vector<Tensor> clip_by_norm(const std::vector<Tensor>& gradients, double largest, Location where) {
  if (gradients.empty()) return {};
  std::optional<Tensor> squares;
  for (const auto& gradient : gradients) {
    const Tensor wide = gradient.cast(compute_dtype(gradient.dtype()), where);
    const Tensor sum = (wide * wide).sum();
    squares = squares ? *squares + sum : sum;
  }
  const Build build{where};
  const Tensor factor = largest / (squares->sqrt(where) + 1e-6);
  const Tensor one = build.one(factor);
  // A NaN norm makes every gradient NaN, as it should: nothing is hidden.
  const Tensor limited = build.select(build.less(1, factor), one, factor);
  std::vector<Tensor> result;
  for (const auto& gradient : gradients) result.push_back(gradient * limited.cast(gradient.dtype(), where));
  return result;
}

std::vector<Tensor> clip_by_value(const std::vector<Tensor>& gradients, double largest, Location where) {
  const Build build{where};
  std::vector<Tensor> result;
  for (const auto& gradient : gradients) {
    const Tensor high = build.one(gradient) * largest;
    const Tensor low = build.one(gradient) * -largest;
    const Tensor below = build.select(build.less(high, gradient), high, gradient);
    result.push_back(build.select(build.less(below, low), low, below));
  }
  return result;
}

Accumulated accumulate(const std::vector<State>& parameters, const std::vector<Tensor>& gradients,
                       std::int64_t runs, Location where) {
  if (parameters.empty() || parameters.size() != gradients.size())
    throw Error(cat("accumulate: ", parameters.size(), " parameters and ", gradients.size(), " gradients"),
                where);
  if (runs < 1) throw Error(cat("accumulate: ", runs, " runs, expected at least 1"), where);
  const Build build{where};
  Graph graph = parameters[0].graph(where);
  const State counter =
      graph.state(cat(parameters[0].name(where), "/accumulate/runs"), {}, DType::i64, std::nullopt, where);
  const Tensor count = counter + 1;
  const Tensor complete = build.equal(count, runs);
  Accumulated result{{}, complete, {}};
  const Tensor zero = graph.constant(std::int64_t{0}, DType::i64, where);
  result.updates.add(counter, build.select(complete, zero, count));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const DType dtype = compute_dtype(gradients[i].dtype());
    const State sum = graph.state(cat(parameters[i].name(where), "/accumulate/sum"), gradients[i].shape(),
                                  dtype, std::nullopt, where);
    const Tensor next = sum + gradients[i].cast(dtype, where);
    result.gradients.push_back(next / runs);
    result.updates.add(
        sum, build.select(complete, graph.constant(0.0, dtype, where).expand(next.shape(), where), next));
  }
  return result;
}

Averages moving_average(const std::vector<State>& parameters, const std::vector<Tensor>& values, double decay,
                        Location where) {
  if (parameters.empty() || parameters.size() != values.size())
    throw Error(cat("moving_average: ", parameters.size(), " parameters and ", values.size(), " values"),
                where);
  const Build build{where};
  Graph graph = parameters[0].graph(where);
  Averages result;
  const State started = graph.state(cat(parameters[0].name(where), "/average/started"), {}, DType::boolean,
                                    std::nullopt, where);
  result.updates.add(started, graph.constant(true, DType::boolean, where));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const State average = graph.state(cat(parameters[i].name(where), "/average"), values[i].shape(),
                                      values[i].dtype(), std::nullopt, where);
    const Tensor next = average * decay + values[i] * (1 - decay);
    result.updates.add(average, build.select(started, next, values[i]));
    result.states.push_back(average);
  }
  return result;
}

}  // namespace luminal::optim
