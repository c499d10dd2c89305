#include "luminal/optim/build.h"

#include "luminal/frontend/math.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::optim {

std::vector<Slot> Build::slots(const Step& step, std::string_view family) const {
  if (step.parameters.size() != step.gradients.size())
    throw Error(
        cat(family, ": ", step.parameters.size(), " parameters but ", step.gradients.size(), " gradients"),
        where);
  std::vector<Slot> result;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const State& parameter = step.parameters[i];
    const Tensor& gradient = step.gradients[i];
    if (!is_floating(parameter.dtype()))
      throw Error(cat(family, ": the parameter '", parameter.name(where), "' is ", parameter.dtype(),
                      ", expected floating-point elements"),
                  where);
    if (gradient.shape() != parameter.shape())
      throw Error(cat(family, ": the parameter '", parameter.name(where), "' has shape ", parameter.shape(),
                      ", its gradient ", gradient.shape()),
                  where);
    const DType dtype = compute_dtype(parameter.dtype());
    result.push_back({parameter, at(parameter).cast(dtype), at(gradient).cast(dtype)});
  }
  return result;
}

State Build::moment(const Slot& slot, const std::string& name, double initial) const {
  Graph graph = slot.parameter.graph(where);
  const Shape& shape = slot.value.shape();
  std::optional<Array> values;
  if (initial != 0) {
    const auto dims = shape.constant_dims();
    if (!dims) throw Error(cat(name, ": a state of shape ", shape, " can only start as zeros"), where);
    values.emplace(slot.value.dtype(), *dims);
    for (std::int64_t i = 0; i < values->size(); ++i)
      values->set(i, make_scalar(slot.value.dtype(), Number(initial)));
  }
  return graph.state(cat(slot.parameter.name(where), "/", name), shape, slot.value.dtype(), values, where);
}

Term Build::counter(const Step& step, const std::string& family, Updates& updates) const {
  if (step.parameters.empty()) throw Error(cat(family, ": there are no parameters"), where);
  Graph graph = step.parameters[0].graph(where);
  const State runs = graph.state(cat(step.parameters[0].name(where), "/", family, "/runs"), {}, DType::f64,
                                 std::nullopt, where);
  const Term count = at(runs) + 1;
  updates.add(runs, count);
  return count;
}

Term Build::decayed(const Slot& slot, double weight_decay) const {
  return weight_decay == 0 ? slot.gradient : slot.gradient + slot.value * weight_decay;
}

void Build::finish(const Slot& slot, const Term& value, Updates& updates) const {
  updates.add(slot.parameter, value.cast(slot.parameter.dtype()));
}

Term Build::wide(const Slot& slot, const Operand& value) const {
  if (const auto* tensor = std::get_if<Tensor>(&value.value)) {
    if (tensor->rank() != 0)
      throw Error(cat("the learning rate has shape ", tensor->shape(), ", expected a scalar"), where);
    return at(*tensor).cast(DType::f64);
  }
  Graph graph = slot.parameter.graph(where);
  if (const auto* number = std::get_if<Number>(&value.value))
    return at(graph.constant(*number, DType::f64, where));
  return at(graph.constant(std::get<Expr>(value.value), where)).cast(DType::f64);
}

Term Build::scalar(const Slot& slot, const Operand& value) const {
  return at(wide(slot, value).cast(slot.value.dtype()).tensor().expand(slot.value.shape(), where));
}

Term Build::power(double base, const Term& exponent) const {
  return at(pow(Operand(base, where), exponent.operand()));
}

}  // namespace luminal::optim
