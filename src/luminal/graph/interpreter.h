#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "luminal/graph/dag.h"
#include "luminal/support/sink.h"

namespace luminal {

using OutputId = std::pair<NodeId, std::uint32_t>;

/// What a run needs beside the graph.
struct Environment {
  /// The variables' values.
  DimMap dims;
  /// The array of an input or a state; called once a run for each that is needed. Throws `Error` if there is
  /// none.
  std::function<Array(NodeId)> load;
  /// Where print, diff and the trace write.
  Sink sink;
  /// Write a line a node: what ran, its shapes, how long it took.
  bool trace = false;
};

/// The oracle: runs the graph node by node, in the plainest way, and gives every element its defined value.
/// Sums are taken in row-major order and never regrouped; f16, bf16 and 8-bit floats accumulate in f32.
/// Intermediates are freed when their last reader has run. Returns the arrays of `wanted`, after running all
/// side effects if `effects`.
std::map<OutputId, Array> interpret(const Dag& dag, const Environment& environment,
                                    const std::vector<OutputId>& wanted, bool effects = true);

/// An array read through a view: a row-major copy.
Array materialise(const Array& array, const View& view, const DimMap& dims);

/// The oracle, asked for single elements: evaluates what one element needs and nothing else, so that a result
/// whose intermediates would not fit in memory can be sampled. Remembers what it has computed, up to `memory`
/// elements.
class Sampler {
 public:
  explicit Sampler(const Dag& dag, Environment environment, std::size_t memory = std::size_t{1} << 22);
  ~Sampler();
  Sampler(Sampler&&) noexcept;
  /// Throws `Error` for coordinates outside the value, and for a graph deeper than the stack allows.
  Scalar value_at(const Value& value, std::span<const std::int64_t> coordinates);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace luminal
