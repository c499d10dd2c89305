#include "check.h"

#include <cmath>
#include <sstream>

#include "luminal/support/text.h"
#include "tests/locations.h"

namespace luminal::ops {
namespace {

Tensor moved(const Tensor& base, const std::string& movement) {
  const auto colon = movement.find(':');
  const std::string name = movement.substr(0, colon);
  std::vector<int> numbers;
  std::istringstream in(movement.substr(colon + 1));
  for (std::string part; std::getline(in, part, ',');) numbers.push_back(std::stoi(part));
  if (name == "permute") return base.permute(numbers);
  if (name == "slice") return base.slice(numbers.at(0), numbers.at(1), numbers.at(2), numbers.at(3));
  if (name == "flip") return base.flip(numbers.at(0));
  if (name == "expand") {
    std::vector<Expr> dims(base.dims());
    dims.at(static_cast<std::size_t>(numbers.at(0))) = numbers.at(1);
    return base.expand(Shape(dims));
  }
  throw std::runtime_error(cat("'", name, "' is no movement"));
}

Tensor input(Graph& graph, const InputTensor& given, bool symbolic, int& names) {
  std::vector<Expr> dims;
  for (const auto size : given.base.dims())
    dims.emplace_back(symbolic && size != 1 ? Expr(cat("n", names++)) : Expr(size));
  return graph.tensor(Shape(dims), given.base.dtype()).set(given.base);
}

/// The distance between neighbouring floats around a value of this size.
double ulp(double value, DType dtype) {
  int digits = 24;
  int lowest = -126;
  if (dtype == DType::f64) digits = 53, lowest = -1022;
  if (dtype == DType::f16) digits = 11, lowest = -14;
  if (dtype == DType::bf16) digits = 8;
  const int exponent = value == 0 ? lowest : std::max(std::ilogb(value), lowest);
  return std::ldexp(1.0, exponent - digits + 1);
}

bool close(double got, double want, const Expected& expected) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  if (got == want) return true;
  if (expected.ulps == 0 || std::isinf(got) || std::isinf(want)) return false;
  const double size = std::max(std::abs(want), expected.scale);
  return std::abs(got - want) <= expected.ulps * ulp(size, expected.values.dtype());
}

}  // namespace

Built build(const Row& row, const Case& of, bool symbolic) {
  Built built;
  Inputs operands;
  int names = 0;
  for (const auto& given : of.inputs) {
    if (const auto* number = std::get_if<Number>(&given)) {
      Operand operand(0);
      operand.value = *number;
      operands.push_back(operand);
      continue;
    }
    const auto& array = std::get<InputTensor>(given);
    Tensor seen = input(built.graph, array, symbolic, names);
    built.inputs.push_back(seen);
    for (const auto& movement : array.view) seen = moved(seen, movement);
    operands.emplace_back(seen);
  }
  Args args = of.args;
  if (symbolic) args.make_symbolic(built.graph);
  built.outputs = row.build(built.graph, operands, args);
  return built;
}

std::optional<std::string> difference(const Array& got, const Expected& expected) {
  const Array& want = expected.values;
  if (got.dtype() != want.dtype() || got.dims() != want.dims())
    return cat("is ", got.dtype(), "[", join(got.dims()), "], expected ", want.dtype(), "[",
               join(want.dims()), "]");
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const Scalar a = got.at(i);
    const Scalar b = want.at(i);
    const bool fits = is_floating(want.dtype()) ? close(to_double(a), to_double(b), expected) : a == b;
    if (!fits) return cat("element ", i, " is ", to_number(a), ", expected ", to_number(b));
  }
  return std::nullopt;
}

std::optional<std::string> check(Backend& backend, const Row& row, const Case& of, bool symbolic) {
  try {
    Built built = build(row, of, symbolic);
    if (const auto foreign = test::foreign_line(built.graph.dag()))
      return cat("names no line of its user: ", *foreign);
    const std::vector<Array> results = backend.run(built.graph, built.outputs);
    if (results.size() != of.outputs.size())
      return cat(results.size(), " outputs, expected ", of.outputs.size());
    for (std::size_t k = 0; k < results.size(); ++k) {
      Expected expected = of.outputs[k];
      expected.ulps += backend.slack();
      if (const auto wrong = difference(results[k], expected)) return cat("output ", k, " ", *wrong);
    }
  } catch (const std::exception& problem) {
    return cat("refused: ", problem.what());
  }
  return std::nullopt;
}

namespace {

/// Σ outputs · weights, with weights that differ from element to element.
Tensor weighted(Graph& graph, const std::vector<Tensor>& outputs) {
  Tensor loss = graph.constant(0.0, DType::f64);
  for (const auto& output : outputs) {
    if (!is_floating(output.dtype())) continue;
    const Tensor flat = output.cast(DType::f64).reshape({output.shape().element_count()});
    loss += (flat * graph.iota(flat.shape(), 0).cast(DType::f64).cos()).sum();
  }
  return loss;
}

/// The inputs that a gradient is taken by.
std::vector<Tensor> variables(const Built& built) {
  std::vector<Tensor> result;
  for (const auto& input : built.inputs)
    if (input.dtype() == DType::f64) result.push_back(input);
  return result;
}

struct Slope {
  double value;
  double uncertainty;
};

/// The slope by differences on both sides; nothing where they disagree, at a kink or a jump, or are not
/// finite.
std::optional<Slope> slope(const std::function<double(double)>& loss_at) {
  const double step = 1e-6;
  const double middle = loss_at(0);
  const double right = (loss_at(step) - middle) / step;
  const double left = (middle - loss_at(-step)) / step;
  const double size = std::max({1.0, std::abs(left), std::abs(right)});
  if (size > 1e5) return std::nullopt;
  if (!std::isfinite(left) || !std::isfinite(right) || std::abs(left - right) > 1e-3 * size)
    return std::nullopt;
  return Slope{(left + right) / 2, 2e-4 * size + 1e-9 * std::abs(middle)};
}

/// What is differentiated: the outputs, or for order 2 their gradients.
Tensor loss_of(Built& built, const Gradients& gradients, int order) {
  const Tensor loss = weighted(built.graph, built.outputs);
  return order == 1 ? loss : weighted(built.graph, gradients(loss, variables(built)));
}

}  // namespace

std::optional<std::string> check_gradients(Backend& backend, const Gradients& gradients, const Row& row,
                                           const Case& of, int order) {
  Built differentiated = build(row, of, false);
  const std::vector<Tensor> exact =
      gradients(loss_of(differentiated, gradients, order), variables(differentiated));
  const std::vector<Array> found = backend.run(differentiated.graph, exact);
  Built plain = build(row, of, false);
  const Tensor loss = loss_of(plain, gradients, order);
  const std::vector<Tensor> inputs = variables(plain);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Array at = inputs[k].array().clone();
    for (std::int64_t i = 0; i < at.size(); ++i) {
      const double x = to_double(at.at(i));
      if (!std::isfinite(x) || std::abs(x) > 1e3) continue;
      const auto expected = slope([&](double distance) {
        Array near = at.clone();
        near.set(i, make_scalar(DType::f64, Number(x + distance)));
        inputs[k].set(near);
        return to_double(backend.run(plain.graph, {loss}).at(0).at(0));
      });
      const double got = to_double(found[k].at(i));
      if (expected && !(std::abs(expected->value - got) <= expected->uncertainty))
        return cat("input ", k, ", element ", i, ": the gradient is ", got, ", differences give ",
                   expected->value);
    }
    inputs[k].set(at);
  }
  return std::nullopt;
}

}  // namespace luminal::ops
