#pragma once
#include <string>
#include <vector>

#include "luminal/frontend/graph.h"

namespace luminal::cli {

/// A model that benchmarks and tests of the search build by name.
struct Model {
  std::string name;
  /// At its real size, or so small that the interpreter runs it in seconds.
  Graph (*build)(bool small);
  bool trains = false;
};

/// The suite: an MNIST net, ResNet-50, a BERT block, a Llama block in prefill and in decoding, and training
/// steps, the demo's among them. Graphs have no weights; `fill` gives them.
const std::vector<Model>& model_suite();

/// Llama-3.2-1B's decoding step: one token in, logits out, a cache a layer of 2,048 places ("past" in use).
Graph llama_decode(int layers);

/// Gives inputs and states without values seeded ones: small random numbers, and 0 for integers.
void fill(Graph& graph, std::uint64_t seed = 7);

}  // namespace luminal::cli
