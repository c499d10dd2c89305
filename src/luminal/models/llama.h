#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "luminal/io/parameters.h"
#include "luminal/nn/transformer.h"

namespace luminal::models {

/// The sizes of a Llama, as its `config.json` gives them.
struct LlamaConfig {
  std::int64_t vocabulary = 0;
  std::int64_t size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t hidden = 0;
  std::int64_t positions = 0;  // the longest text
  double epsilon = 1e-5;
  double rotary_base = 10000;
};

/// Embedding, blocks, norm and head.
class Llama {
 public:
  Llama(const nn::Scope& scope, const LlamaConfig& config, Location where = Location::current());

  /// Token numbers [batch, positions] to hidden values [batch, positions, size], after the last block.
  Tensor hidden(const Tensor& tokens, Location where = Location::current()) const;
  /// Hidden values to scores [… vocabulary].
  Tensor scores(const Tensor& hidden, Location where = Location::current()) const;
  Tensor operator()(const Tensor& tokens, Location where = Location::current()) const {
    return scores(hidden(tokens, where), where);
  }
  void visit(nn::Visitor& v);

  nn::Embedding embedding;
  std::vector<nn::LlamaBlock> layers;
  nn::RmsNorm norm;
  nn::Linear head;
};

/// The names that Llama's files give to the parameters: "model.layers.0.self_attn.q_proj.weight".
io::NameMap llama_names();

/// From a folder's `config.json`. `Error` names what is missing, or what we cannot do.
LlamaConfig read_llama_config(const std::string& folder);

/// Writes a folder that `read_llama_config`, `io::open_model` and `io::open_tokenizer` read, and other
/// programs that know Llama: `config.json`, `tokenizer.json` and `model.safetensors`. `values` are the
/// parameters by our paths ("layers/0/attention/query/weight").
void save_llama(const std::string& folder, const LlamaConfig& config,
                const std::map<std::string, Array>& values, const std::string& tokenizer_json);

/// A tokenizer.json of single characters, numbered in this order. They are given as UTF-8.
std::string character_tokenizer(const std::vector<std::string>& characters);

}  // namespace luminal::models
