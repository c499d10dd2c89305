#include "luminal/models/llama.h"

#include <filesystem>
#include <system_error>

#include "luminal/io/atomic_file.h"
#include "luminal/io/json_object.h"
#include "luminal/io/mapped_file.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::models {

Llama::Llama(const nn::Scope& scope, const LlamaConfig& config, Location where)
    : embedding(scope / "embedding", config.vocabulary, config.size, false, where),
      norm(scope / "norm", config.size, config.epsilon, where),
      head(scope / "head", config.size, config.vocabulary, {.bias = false}, where) {
  for (std::int64_t k = 0; k < config.layers; ++k)
    layers.emplace_back(scope / "layers" / std::to_string(k), config.size,
                        nn::LlamaOptions{.heads = config.heads,
                                         .kv_heads = config.kv_heads,
                                         .hidden = config.hidden,
                                         .epsilon = config.epsilon,
                                         .rotary = {.base = config.rotary_base}},
                        where);
}

Tensor Llama::hidden(const Tensor& tokens, Location where) const {
  Tensor x = embedding(tokens, where);
  for (const auto& layer : layers) x = layer(x, where);
  return x;
}

Tensor Llama::scores(const Tensor& hidden_values, Location where) const {
  return head(norm(hidden_values, where), where);
}

void Llama::visit(nn::Visitor& v) {
  v.module("embedding", embedding);
  v.module("layers", layers);
  v.module("norm", norm);
  v.module("head", head);
}

io::NameMap llama_names() {
  return io::renamed({{"embedding.weight", "model.embed_tokens.weight"},
                      {"layers.*.attention_norm.weight", "model.layers.*.input_layernorm.weight"},
                      {"layers.*.attention.query.weight", "model.layers.*.self_attn.q_proj.weight"},
                      {"layers.*.attention.key.weight", "model.layers.*.self_attn.k_proj.weight"},
                      {"layers.*.attention.value.weight", "model.layers.*.self_attn.v_proj.weight"},
                      {"layers.*.attention.output.weight", "model.layers.*.self_attn.o_proj.weight"},
                      {"layers.*.mlp_norm.weight", "model.layers.*.post_attention_layernorm.weight"},
                      {"layers.*.mlp.*.weight", "model.layers.*.mlp.*_proj.weight"},
                      {"norm.weight", "model.norm.weight"},
                      {"head.weight", "lm_head.weight"}});
}

LlamaConfig read_llama_config(const std::string& folder) {
  const std::string path = folder + "/config.json";
  const io::MappedFile file(path);
  const io::Json json = io::parse_json(file.text(), path);
  const io::JsonObject root(json, path);
  if (root.text("model_type") != "llama")
    root.refuse(cat("the model type is ", in_quotes(root.text("model_type")), ", expected \"llama\""));
  const auto positive = [&](const char* key) {
    const std::int64_t value = root.integer(key);
    if (value < 1 || value > (std::int64_t{1} << 31U)) root.refuse(cat(in_quotes(key), " is ", value));
    return value;
  };
  const auto real = [&](const char* key, double otherwise) {
    const io::Json* found = root.find(key);
    if (found == nullptr) return otherwise;
    if (!found->is_number()) root.refuse(cat(in_quotes(key), " is no number"));
    return found->get<double>();
  };
  LlamaConfig config;
  config.vocabulary = positive("vocab_size");
  config.size = positive("hidden_size");
  config.layers = positive("num_hidden_layers");
  config.heads = positive("num_attention_heads");
  config.kv_heads =
      root.find("num_key_value_heads") == nullptr ? config.heads : positive("num_key_value_heads");
  config.hidden = positive("intermediate_size");
  config.positions = positive("max_position_embeddings");
  config.epsilon = real("rms_norm_eps", 1e-6);
  config.rotary_base = real("rope_theta", 10000);
  if (root.flag("tie_word_embeddings", false)) root.refuse("tied embeddings are not supported yet");
  if (root.find("rope_scaling") != nullptr) root.refuse("scaled rotary positions are not supported yet");
  if (root.find("head_dim") != nullptr && positive("head_dim") * config.heads != config.size)
    root.refuse("heads of another size than hidden_size / num_attention_heads are not supported yet");
  return config;
}

void save_llama(const std::string& folder, const LlamaConfig& config,
                const std::map<std::string, Array>& values, const std::string& tokenizer_json) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(cat("the folder ", in_quotes(folder), " cannot be made: ", error.message()));
  io::Json json;
  json["architectures"] = {"LlamaForCausalLM"};
  json["model_type"] = "llama";
  json["vocab_size"] = config.vocabulary;
  json["hidden_size"] = config.size;
  json["num_hidden_layers"] = config.layers;
  json["num_attention_heads"] = config.heads;
  json["num_key_value_heads"] = config.kv_heads;
  json["intermediate_size"] = config.hidden;
  json["max_position_embeddings"] = config.positions;
  json["rms_norm_eps"] = config.epsilon;
  json["rope_theta"] = config.rotary_base;
  json["hidden_act"] = "silu";
  json["attention_bias"] = false;
  json["mlp_bias"] = false;
  json["tie_word_embeddings"] = false;
  json["torch_dtype"] = "float32";
  const io::NameMap names = llama_names();
  std::map<std::string, Array> tensors;
  for (const auto& [path, array] : values) {
    std::string own = path;
    for (char& c : own)
      if (c == '/') c = '.';
    tensors.emplace(names(own), array);
  }
  io::write_atomically(folder + "/config.json",
                       [&](io::FileWriter& writer) { writer.write(json.dump(2) + "\n"); });
  io::write_atomically(folder + "/tokenizer.json",
                       [&](io::FileWriter& writer) { writer.write(tokenizer_json); });
  io::save(folder + "/model.safetensors", tensors, {{"format", "pt"}});
}

std::string character_tokenizer(const std::vector<std::string>& characters) {
  io::Json vocabulary = io::Json::object();
  for (std::size_t k = 0; k < characters.size(); ++k) vocabulary[characters[k]] = k;
  io::Json json;
  json["version"] = "1.0";
  json["truncation"] = nullptr;
  json["padding"] = nullptr;
  json["added_tokens"] = io::Json::array();
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = nullptr;
  json["post_processor"] = nullptr;
  json["decoder"] = {{"type", "Fuse"}};
  json["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"ignore_merges", false},
                   {"vocab", vocabulary},
                   {"merges", io::Json::array()}};
  return json.dump(1) + "\n";
}

}  // namespace luminal::models
