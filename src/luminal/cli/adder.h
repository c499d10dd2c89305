#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "luminal/luminal.h"

namespace luminal::cli {

/// The small Llama that learns to add.
models::LlamaConfig adder_config();
/// Its forward pass for `train::Trainer`: the loss counts the digits of the answer alone; `correct` is the
/// share of wholly right answers.
train::Build adder_build(const models::LlamaConfig& config);

/// A saved adder, loaded as any model is.
class Adder {
 public:
  /// A folder with config.json, tokenizer.json and model.safetensors.
  explicit Adder(const std::string& folder, const CompileOptions& options = {});
  /// The sums of pairs of numbers from 0 to 999, decoded greedily, all at once.
  std::vector<std::int64_t> add(const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs);

  const Graph& graph() const { return graph_; }
  const Executable& executable() const { return *exe_; }

 private:
  io::Tokenizer tokenizer_;
  Graph graph_;
  std::optional<Tensor> tokens_;
  std::optional<Tensor> choice_;
  std::optional<Executable> exe_;
};

/// A sum as someone types it: "12+34", " 12 + 34 = ". Nothing if it is not one, and then `why` says kindly
/// what would be.
std::optional<std::pair<std::int64_t, std::int64_t>> parse_sum(const std::string& line, std::string& why);

}  // namespace luminal::cli
