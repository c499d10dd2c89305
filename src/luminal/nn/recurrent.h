#pragma once
#include <string>
#include <vector>

#include "luminal/nn/module.h"

namespace luminal::nn {

/// One layer of a recurrent net over [batch, time, inputs] (PyTorch's batch_first=True), with PyTorch's
/// gates, weights and first values. The number of time steps must be a constant: the graph is unrolled.
struct Recurrent {
  enum class Cell : std::uint8_t { rnn_tanh, gru, lstm };
  struct Result {
    Tensor outputs;      // [batch, time, size]
    Tensor last_hidden;  // [batch, size]
    Tensor last_cell;    // of an LSTM; the hidden state otherwise
  };

  Recurrent(const Scope& scope, Cell cell, std::int64_t inputs, std::int64_t size,
            Location where = Location::current());
  /// From zeros, or from given [batch, size] states.
  Result run(const Tensor& x, const std::optional<Tensor>& hidden = std::nullopt,
             const std::optional<Tensor>& cell = std::nullopt, Location where = Location::current()) const;
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return run(x, std::nullopt, std::nullopt, where).outputs;
  }
  void visit(Visitor& v);

  State weight_ih;
  State weight_hh;
  State bias_ih;
  State bias_hh;
  Cell cell;
  std::int64_t size;
};

Recurrent rnn(const Scope& scope, std::int64_t inputs, std::int64_t size,
              Location where = Location::current());
Recurrent gru(const Scope& scope, std::int64_t inputs, std::int64_t size,
              Location where = Location::current());
Recurrent lstm(const Scope& scope, std::int64_t inputs, std::int64_t size,
               Location where = Location::current());

}  // namespace luminal::nn
