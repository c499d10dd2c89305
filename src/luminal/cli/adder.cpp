#include "luminal/cli/adder.h"

#include <cctype>

#include "luminal/support/text.h"
#include "luminal/train/sums.h"

namespace luminal::cli {

using train::DecimalSums;

models::LlamaConfig adder_config() {
  return {.vocabulary = static_cast<std::int64_t>(DecimalSums::characters().size()),
          .size = 64,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .hidden = 192,
          .positions = 16};
}

train::Build adder_build(const models::LlamaConfig& config) {
  return [config](const train::BuildContext& context) {
    nn::Scope scope = context.scope;
    models::Llama model(scope, config);
    // Small first embeddings: the residual stream starts out led by what attention brings.
    if (context.mode == nn::Mode::train)
      model.embedding.weight.set(
          nn::init::normal(0, 0.2)({config.vocabulary, config.size}, DType::f32, scope.seed()));
    const Tensor tokens =
        scope.graph().named_tensor("tokens", {context.batch, DecimalSums::positions}, DType::i32);
    const Tensor answer =
        scope.graph().named_tensor("answer", {context.batch, DecimalSums::digits}, DType::i32);
    const Tensor written = model.hidden(tokens).slice(1, DecimalSums::question - 1, DecimalSums::positions);
    const Tensor scores = model.scores(written);
    const Tensor loss = nn::cross_entropy(scores, answer, {.axis = 2});
    const Tensor wrong = argmax(scores, 2).cast(DType::i32).ne(answer).cast(DType::f32).max(1);
    return train::Model{{tokens, answer}, loss, 1 - wrong.mean(), nn::params(model)};
  };
}

Adder::Adder(const std::string& folder, const CompileOptions& options)
    : tokenizer_(io::open_tokenizer(folder)) {
  const models::LlamaConfig config = models::read_llama_config(folder);
  models::Llama model(nn::Scope(graph_).without_values(), config);
  io::load_into(nn::state_dict(model), io::open_model(folder), {.names = models::llama_names()});
  tokens_ = graph_.named_tensor("tokens", {"batch", DecimalSums::positions}, DType::i32);
  choice_ = argmax(model(*tokens_), 2).cast(DType::i32).retrieve();
  CompileOptions own = options;
  own.tune_dims = {{"batch", 500}};
  exe_ = compile(graph_, best_device(), own);
}

std::vector<std::int64_t> Adder::add(const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs) {
  constexpr std::size_t width = DecimalSums::positions;
  constexpr std::size_t question = DecimalSums::question;
  constexpr std::size_t most = 500;
  std::vector<std::int64_t> sums;
  for (std::size_t start = 0; start < pairs.size(); start += most) {
    const std::size_t count = std::min(most, pairs.size() - start);
    std::vector<std::int32_t> text(count * width, 0);
    std::vector<std::vector<io::TokenId>> written(count);
    for (std::size_t k = 0; k < count; ++k) {
      const auto& [a, b] = pairs[start + k];
      const auto ids = tokenizer_.encode(DecimalSums::question_text(a, b));
      std::copy(ids.begin(), ids.end(), text.begin() + static_cast<std::ptrdiff_t>(k * width));
    }
    for (std::size_t digit = 0; digit < static_cast<std::size_t>(DecimalSums::digits); ++digit) {
      exe_->set_dyn(*tokens_, Array(std::span<const std::int32_t>(text)),
                    {static_cast<std::int64_t>(count), DecimalSums::positions});
      exe_->run();
      const auto choice = exe_->get<std::int32_t>(*choice_);
      for (std::size_t k = 0; k < count; ++k) {
        const std::int32_t next = choice[k * width + question - 1 + digit];
        written[k].push_back(next);
        if (question + digit < width) text[k * width + question + digit] = next;
      }
    }
    for (const auto& ids : written) {
      const std::string answer = tokenizer_.decode(ids);
      const bool number =
          answer.size() == ids.size() && answer.find_first_not_of("0123456789") == std::string::npos;
      sums.push_back(number ? DecimalSums::answer_of(answer) : -1);
    }
  }
  return sums;
}

std::optional<std::pair<std::int64_t, std::int64_t>> parse_sum(const std::string& line, std::string& why) {
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < line.size() && std::isspace(static_cast<unsigned char>(line[at])) != 0) ++at;
  };
  bool too_large = false;
  const auto number = [&]() -> std::optional<std::int64_t> {
    skip();
    const std::size_t start = at;
    std::int64_t value = 0;
    for (; at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])) != 0; ++at) {
      if (value < DecimalSums::numbers) value = value * 10 + (line[at] - '0');
    }
    too_large = too_large || value >= DecimalSums::numbers;
    skip();
    return at > start ? std::optional(value) : std::nullopt;
  };
  const auto a = number();
  const bool plus = a && at < line.size() && line[at] == '+';
  if (plus) ++at;
  const auto b = plus ? number() : std::nullopt;
  if (b && at < line.size() && line[at] == '=') ++at;
  skip();
  if (b && at == line.size() && !too_large) return std::pair{*a, *b};
  why = too_large ? "I only learnt numbers up to 999. Shall we try a smaller one, such as 123+456?"
                  : "I can only add two whole numbers, written like 123+456. Would you try again?";
  return std::nullopt;
}

}  // namespace luminal::cli
