#include "luminal/nn/recurrent.h"

#include <cmath>

#include "luminal/frontend/activation.h"
#include "luminal/frontend/create.h"
#include "luminal/frontend/formula.h"
#include "luminal/frontend/math.h"
#include "luminal/frontend/matmul.h"
#include "luminal/frontend/movement.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::nn {
namespace {

std::int64_t gates(Recurrent::Cell cell) {
  switch (cell) {
    case Recurrent::Cell::rnn_tanh:
      return 1;
    case Recurrent::Cell::gru:
      return 3;
    case Recurrent::Cell::lstm:
      return 4;
  }
  throw InternalError("a recurrent cell of no kind");
}

Initialiser by_size(std::int64_t size) {
  const double bound = 1 / std::sqrt(static_cast<double>(size));
  return init::uniform(-bound, bound);
}

struct Memory {
  Term hidden;
  Term cell;
};

std::vector<Term> chunks(const Term& x, std::int64_t count) {
  std::vector<Term> result;
  for (const auto& part : x.tensor().chunk(static_cast<int>(count), 1, x.where()))
    result.emplace_back(part, x.where());
  return result;
}

/// One time step, from the gates' inputs W x + b and W h + b.
Memory step(Recurrent::Cell kind, const Term& from_x, const Term& from_h, const Memory& memory) {
  if (kind == Recurrent::Cell::rnn_tanh) {
    const Term hidden = tanh(from_x + from_h);
    return {hidden, hidden};
  }
  const auto x = chunks(from_x, gates(kind));
  const auto h = chunks(from_h, gates(kind));
  if (kind == Recurrent::Cell::gru) {
    const Term reset = sigmoid(x[0] + h[0]);
    const Term update = sigmoid(x[1] + h[1]);
    const Term fresh = tanh(x[2] + reset * h[2]);
    const Term hidden = (memory.hidden - fresh) * update + fresh;
    return {hidden, hidden};
  }
  const Term cell = sigmoid(x[1] + h[1]) * memory.cell + sigmoid(x[0] + h[0]) * tanh(x[2] + h[2]);
  return {sigmoid(x[3] + h[3]) * tanh(cell), cell};
}

}  // namespace

Recurrent::Recurrent(const Scope& scope, Cell cell_, std::int64_t inputs, std::int64_t size_, Location where)
    : weight_ih(
          scope.of("recurrent").state("weight_ih", {gates(cell_) * size_, inputs}, by_size(size_), where)),
      weight_hh(scope.sibling(weight_ih.name(where), "weight_hh", {gates(cell_) * size_, size_},
                              by_size(size_), where)),
      bias_ih(scope.sibling(weight_ih.name(where), "bias_ih", {gates(cell_) * size_}, by_size(size_), where)),
      bias_hh(scope.sibling(weight_ih.name(where), "bias_hh", {gates(cell_) * size_}, by_size(size_), where)),
      cell(cell_),
      size(size_) {}

Recurrent::Result Recurrent::run(const Tensor& x, const std::optional<Tensor>& hidden,
                                 const std::optional<Tensor>& cell_state, Location where) const {
  if (x.rank() != 3)
    throw Error(cat("Recurrent: the input has shape ", x.shape(), ", expected [batch, time, inputs]"), where);
  const auto steps = x.shape()[1].constant_value();
  if (!steps || *steps < 1)
    throw Error(cat("Recurrent: the input has shape ", x.shape(),
                    ", expected a constant number of time steps, at least 1"),
                where);
  Graph graph = x.graph(where);
  const Tensor start = zeros(graph, {x.shape()[0], size}, x.dtype(), where);
  const Line at{where};
  Memory memory{at(hidden.value_or(start)), at(cell_state.value_or(start))};
  const Tensor from_x = at(matmul(x, in_dtype_of(x, weight_ih, where).transpose(0, 1, where), where)) +
                        at(in_dtype_of(x, bias_ih, where));  // all steps at once
  const Tensor recurrent = in_dtype_of(x, weight_hh, where).transpose(0, 1, where);
  std::vector<Tensor> outputs;
  for (std::int64_t t = 0; t < *steps; ++t) {
    const Term now = at(from_x.slice(1, t, t + 1, 1, where).squeeze(1, where));
    const Term from_h = at(matmul(memory.hidden, recurrent, where)) + at(in_dtype_of(x, bias_hh, where));
    memory = step(cell, now, from_h, memory);
    outputs.push_back(memory.hidden);
  }
  return {stack(outputs, 1, where), memory.hidden, memory.cell};
}

void Recurrent::visit(Visitor& v) {
  v.parameter("weight_ih", weight_ih);
  v.parameter("weight_hh", weight_hh);
  v.parameter("bias_ih", bias_ih);
  v.parameter("bias_hh", bias_hh);
}

Recurrent rnn(const Scope& scope, std::int64_t inputs, std::int64_t size, Location where) {
  return {scope, Recurrent::Cell::rnn_tanh, inputs, size, where};
}
Recurrent gru(const Scope& scope, std::int64_t inputs, std::int64_t size, Location where) {
  return {scope, Recurrent::Cell::gru, inputs, size, where};
}
Recurrent lstm(const Scope& scope, std::int64_t inputs, std::int64_t size, Location where) {
  return {scope, Recurrent::Cell::lstm, inputs, size, where};
}

}  // namespace luminal::nn
