// What happens to gradients before an optimiser sees them, and to parameters after it.
#include "luminal/frontend/compare.h"
#include "luminal/frontend/formula.h"
#include "luminal/optim/optimiser.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::optim {

std::vector<Tensor> clip_by_norm(const std::vector<Tensor>& gradients, double largest, Location where) {
  if (!(largest > 0))
    throw Error(cat("clip_by_norm: the largest norm is ", largest, ", expected more than 0"), where);
  if (gradients.empty()) return {};
  const Line at{where};
  std::optional<Term> squares;
  for (const auto& gradient : gradients) {
    const Term wide = at(gradient).cast(compute_dtype(gradient.dtype()));
    const Term sum = (wide * wide).sum();
    squares = squares ? *squares + sum : sum;
  }
  // A NaN norm makes every gradient NaN, as it should: nothing is hidden.
  const Tensor ratio = largest / (apply(Op::sqrt, *squares) + 1e-6);
  const Term factor = at(clip(ratio, std::nullopt, 1.0, where));
  std::vector<Tensor> result;
  for (const auto& gradient : gradients) result.push_back(at(gradient) * factor.cast(gradient.dtype()));
  return result;
}

std::vector<Tensor> clip_by_value(const std::vector<Tensor>& gradients, double largest, Location where) {
  std::vector<Tensor> result;
  for (const auto& gradient : gradients) result.push_back(clip(gradient, -largest, largest, where));
  return result;
}

Accumulated accumulate(const std::vector<State>& parameters, const std::vector<Tensor>& gradients,
                       std::int64_t runs, Location where) {
  if (parameters.empty() || parameters.size() != gradients.size())
    throw Error(cat("accumulate: ", parameters.size(), " parameters and ", gradients.size(), " gradients"),
                where);
  if (runs < 1) throw Error(cat("accumulate: ", runs, " runs, expected at least 1"), where);
  Graph graph = parameters[0].graph(where);
  const State counter =
      graph.state(cat(parameters[0].name(where), "/accumulate/runs"), {}, DType::i64, std::nullopt, where);
  const Line at{where};
  const Term count = at(counter) + 1;
  const Term complete = count == runs;
  Accumulated result{{}, complete, {}};
  result.updates.add(counter, select(complete, 0, count));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const DType dtype = compute_dtype(gradients[i].dtype());
    const State sum = graph.state(cat(parameters[i].name(where), "/accumulate/sum"), gradients[i].shape(),
                                  dtype, std::nullopt, where);
    const Term next = at(sum) + at(gradients[i]).cast(dtype);
    result.gradients.push_back(next / runs);
    result.updates.add(sum, select(complete, 0.0, next));
  }
  return result;
}

Averages moving_average(const std::vector<State>& parameters, const std::vector<Tensor>& values, double decay,
                        Location where) {
  if (parameters.empty() || parameters.size() != values.size())
    throw Error(cat("moving_average: ", parameters.size(), " parameters and ", values.size(), " values"),
                where);
  Graph graph = parameters[0].graph(where);
  const Line at{where};
  Averages result;
  const State started = graph.state(cat(parameters[0].name(where), "/average/started"), {}, DType::boolean,
                                    std::nullopt, where);
  result.updates.add(started, graph.constant(true, DType::boolean, where));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const State average = graph.state(cat(parameters[i].name(where), "/average"), values[i].shape(),
                                      values[i].dtype(), std::nullopt, where);
    const Term next = at(average) * decay + at(values[i]) * (1 - decay);
    result.updates.add(average, select(at(started), next, at(values[i])));
    result.states.push_back(average);
  }
  return result;
}

}  // namespace luminal::optim
