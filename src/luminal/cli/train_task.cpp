#include "luminal/cli/train_task.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "luminal/cli/adder.h"
#include "luminal/support/text.h"
#include "luminal/train/drawn_digits.h"
#include "luminal/train/sums.h"

namespace luminal::cli {
namespace {

using train::BuildContext;
using train::Config;

/// Data, and what a model has to know of it.
struct Source {
  std::shared_ptr<const train::Dataset> data;
  std::shared_ptr<const train::Dataset> evaluation;
  std::int64_t classes = 0;     // 0: the target is numbers
  bool bits = false;            // numbers that are 0 or 1
  std::int64_t vocabulary = 0;  // of tokens
};

std::string in_folder(const std::string& folder, const std::string& path) {
  return std::filesystem::path(path).is_absolute() ? path : (std::filesystem::path(folder) / path).string();
}

/// The last examples, or a shuffled share of them, are kept back.
void hold_out(Source& source, std::int64_t count, std::uint64_t seed, bool in_order, const Config& data) {
  if (count == 0) return;
  const std::int64_t size = source.data->size();
  if (count >= size) data.refuse(cat("\"held_out\" is ", count, " of ", size, " examples"));
  const std::shared_ptr<const train::Dataset> all = source.data;
  if (in_order) {
    source.data = std::make_shared<train::Subset>(all, 0, size - count);
    source.evaluation = std::make_shared<train::Subset>(all, size - count, count);
    return;
  }
  const auto order = train::shuffled(size, seed, 0x686f6c64);
  source.evaluation =
      std::make_shared<train::Subset>(all, std::vector<std::int64_t>(order.begin(), order.begin() + count));
  source.data =
      std::make_shared<train::Subset>(all, std::vector<std::int64_t>(order.begin() + count, order.end()));
}

Source from_tokens(const std::vector<std::int32_t>& tokens, std::int64_t vocabulary, Config& data) {
  const std::int64_t length = data.integer("length", 64, 1);
  const double share = data.real("held_out", 0.1);
  if (share < 0 || share >= 1) data.refuse(cat("\"held_out\" is ", share, ": expected a share, 0 to 1"));
  const auto kept = static_cast<std::ptrdiff_t>(static_cast<double>(tokens.size()) * (1 - share));
  Source source;
  source.vocabulary = vocabulary;
  source.data =
      std::make_shared<train::TokenWindows>(std::vector(tokens.begin(), tokens.begin() + kept), length);
  if (share > 0)
    source.evaluation = std::make_shared<train::TokenWindows>(
        std::vector(tokens.begin() + kept, tokens.end()), length, length);
  return source;
}

Source text_source(Config& data, const std::string& folder) {
  const std::string path = in_folder(folder, data.text("file"));
  const std::string text = train::read_text(path);
  if (text.empty()) data.refuse(cat("the file ", in_quotes(path), " is empty"));
  std::map<unsigned char, std::int32_t> numbers;
  for (const char c : text) numbers.emplace(static_cast<unsigned char>(c), 0);
  std::int32_t next = 0;
  for (auto& [byte, number] : numbers) number = next++;
  std::vector<std::int32_t> tokens;
  tokens.reserve(text.size());
  for (const char c : text) tokens.push_back(numbers.at(static_cast<unsigned char>(c)));
  return from_tokens(tokens, next, data);
}

Source csv_source(Config& data, const std::string& folder, std::uint64_t seed) {
  train::CsvOptions options;
  options.targets = data.texts("targets");
  options.header = data.flag("header", true);
  const std::string separator = data.text("separator", ",");
  if (separator.size() != 1) data.refuse("\"separator\" is not one character");
  options.separator = separator[0];
  Source source;
  source.classes = data.integer("classes", 0);
  options.classes = source.classes > 0;
  source.data = train::read_csv(in_folder(folder, data.text("file")), options);
  hold_out(source, data.integer("held_out", source.data->size() / 10), seed, false, data);
  return source;
}

Source make_source(Config& data, const std::string& folder, std::uint64_t seed) {
  const std::string kind =
      data.word("kind", {"binary_sums", "decimal_sums", "drawn_digits", "idx", "csv", "text", "tokens"});
  Source source;
  if (kind == "binary_sums") {
    source.data = source.evaluation = std::make_shared<train::BinarySums>(
        static_cast<int>(std::min<std::int64_t>(8, data.integer("bits", 4, 1))));
    source.bits = true;
  } else if (kind == "decimal_sums") {
    const auto split = train::split_decimal_sums(seed, data.integer("held_out", 2000, 1));
    source.data = split.training;
    source.evaluation = split.held_out;
    source.vocabulary = static_cast<std::int64_t>(train::DecimalSums::characters().size());
  } else if (kind == "drawn_digits") {
    source.data = std::make_shared<train::DrawnDigits>(data.integer("count", 50000, 1), seed);
    source.evaluation = std::make_shared<train::DrawnDigits>(data.integer("held_out", 2000, 1), seed + 1);
    source.classes = 10;
  } else if (kind == "idx") {
    source.data =
        train::idx_images(in_folder(folder, data.text("images")), in_folder(folder, data.text("labels")));
    if (data.has("test_images"))
      source.evaluation = train::idx_images(in_folder(folder, data.text("test_images")),
                                            in_folder(folder, data.text("test_labels")));
    else
      hold_out(source, data.integer("held_out", source.data->size() / 10), seed, false, data);
    source.classes = data.integer("classes", 10, 2);
  } else if (kind == "csv") {
    source = csv_source(data, folder, seed);
  } else if (kind == "text") {
    source = text_source(data, folder);
  } else {
    const std::int64_t vocabulary = data.integer("vocabulary", std::nullopt, 2);
    const bool narrow = data.word("bits", {"16", "32"}, "16") == "16";
    source = from_tokens(
        train::read_tokens(in_folder(folder, data.text("file")),
                           narrow ? train::TokenWidth::bits16 : train::TokenWidth::bits32, vocabulary),
        vocabulary, data);
  }
  data.finish();
  return source;
}

/// The loss of scores against the second field, and how much is right.
train::Model judged(const std::vector<Tensor>& inputs, const Tensor& scores, const Source& source,
                    std::vector<State> parameters) {
  const Tensor& target = inputs[1];
  if (source.classes > 0) {
    const Tensor right = argmax(scores, 1).eq(target).cast(DType::f32).mean();
    return {inputs, nn::cross_entropy(scores, target), right, std::move(parameters)};
  }
  if (source.bits) {
    const Tensor wrong = scores.gt(0).cast(DType::f32).ne(target).cast(DType::f32).max(1);
    return {inputs, nn::binary_cross_entropy_with_logits(scores, target), 1 - wrong.mean(),
            std::move(parameters)};
  }
  return {inputs, nn::mse_loss(scores, target), std::nullopt, std::move(parameters)};
}

std::vector<Tensor> fields_as_inputs(const BuildContext& context, const train::Dataset& data) {
  nn::Scope scope = context.scope;
  std::vector<Tensor> inputs;
  for (const auto& field : data.fields()) {
    std::vector<Expr> dims = {context.batch};
    for (const std::int64_t dim : field.dims) dims.emplace_back(dim);
    inputs.push_back(scope.graph().named_tensor(field.name, Shape(dims), field.dtype));
  }
  return inputs;
}

struct Mlp {
  std::vector<nn::Linear> layers;
  bool tanh = false;

  Tensor operator()(const Tensor& x) const {
    Tensor y = x;
    for (std::size_t k = 0; k < layers.size(); ++k) {
      y = layers[k](y);
      if (k + 1 < layers.size()) y = tanh ? luminal::tanh(y) : silu(y);
    }
    return y;
  }
  void visit(nn::Visitor& v) { v.module("layers", layers); }
};

train::Build mlp_build(Config& model, const Source& source) {
  const auto hidden = model.integers("hidden", {32});
  const bool tanh = model.word("activation", {"silu", "tanh"}, "silu") == "tanh";
  if (source.vocabulary > 0) model.refuse("an mlp takes numbers, and the data is tokens: take a \"llama\"");
  return [hidden, tanh, source](const BuildContext& context) {
    const auto inputs = fields_as_inputs(context, *source.data);
    const Tensor x = inputs[0].rank() > 2 ? inputs[0].flatten(1, -1) : inputs[0];
    std::int64_t width = *x.shape()[1].constant_value();
    std::vector<std::int64_t> sizes = hidden;
    sizes.push_back(source.classes > 0 ? source.classes : *inputs[1].shape()[1].constant_value());
    Mlp net{{}, tanh};
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      net.layers.emplace_back(context.scope / "layers" / std::to_string(k), width, sizes[k]);
      width = sizes[k];
    }
    return judged(inputs, net(x), source, nn::params(net));
  };
}

struct Cnn {
  std::vector<nn::Conv> convolutions;
  std::optional<nn::Linear> head;

  void visit(nn::Visitor& v) {
    v.module("convolutions", convolutions);
    v.module("head", head);
  }
};

train::Build cnn_build(Config& model, const Source& source) {
  const auto channels = model.integers("channels", {8, 16});
  const auto& fields = source.data->fields();
  if (source.classes == 0 || fields[0].dims.size() != 3)
    model.refuse(
        "a cnn takes images [channels, height, width] with classes, as \"drawn_digits\" and \"idx\" are");
  return [channels, source](const BuildContext& context) {
    const auto inputs = fields_as_inputs(context, *source.data);
    Cnn net;
    Tensor x = inputs[0];
    std::int64_t width = source.data->fields()[0].dims[0];
    for (std::size_t k = 0; k < channels.size(); ++k) {
      net.convolutions.push_back(nn::conv2d(context.scope / "convolutions" / std::to_string(k), width,
                                            channels[k], 3, {.convolution = {.padding = 1}}));
      width = channels[k];
      x = max_pool(net.convolutions.back()(x).relu(), 2, 2);
    }
    x = x.flatten(1, -1);
    net.head.emplace(context.scope / "head", *x.shape()[1].constant_value(), source.classes);
    return judged(inputs, (*net.head)(x), source, nn::params(net));
  };
}

train::Build llama_build(Config& model, const Source& source) {
  models::LlamaConfig config = adder_config();
  config.vocabulary = source.vocabulary;
  config.size = model.integer("size", config.size, 2);
  config.layers = model.integer("layers", config.layers, 1);
  config.heads = model.integer("heads", config.heads, 1);
  config.kv_heads = model.integer("kv_heads", config.kv_heads, 1);
  config.hidden = model.integer("hidden", 3 * config.size, 1);
  if (source.vocabulary == 0)
    model.refuse("a llama takes tokens, as \"text\", \"tokens\" and \"decimal_sums\" are");
  if (source.data->fields()[1].name == "answer") return adder_build(config);
  return [config, source](const BuildContext& context) {
    const auto inputs = fields_as_inputs(context, *source.data);
    models::Llama net(context.scope, config);
    if (context.mode == nn::Mode::train)
      net.embedding.weight.set(
          nn::init::normal(0, 0.2)({config.vocabulary, config.size}, DType::f32, context.scope.seed()));
    const Tensor scores = net(inputs[0]);
    const Tensor right = argmax(scores, 2).cast(DType::i32).eq(inputs[1]).cast(DType::f32).mean();
    return train::Model{inputs, nn::cross_entropy(scores, inputs[1], {.axis = 2}), right, nn::params(net)};
  };
}

}  // namespace

Task make_task(Config& data, Config& model, const std::string& folder, std::uint64_t seed) {
  const Source source = make_source(data, folder, seed);
  const std::string kind = model.word("kind", {"mlp", "cnn", "llama"});
  Task task;
  task.data = source.data;
  task.evaluation = source.evaluation;
  if (kind == "mlp")
    task.build = mlp_build(model, source);
  else if (kind == "cnn")
    task.build = cnn_build(model, source);
  else
    task.build = llama_build(model, source);
  model.finish();
  return task;
}

}  // namespace luminal::cli
