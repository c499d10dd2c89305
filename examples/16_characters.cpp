// Lesson 16: a transformer learns a text, character by character, and goes on with it.
// usage: 16_characters [--steps N] [FILE]
#include <luminal/luminal.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

using namespace luminal;

namespace {

constexpr std::int64_t length = 32;

/// Some text with a grammar, if no file is given.
std::string own_text() {
  const char* subjects[] = {"the graph", "a kernel", "the rule", "every view"};
  const char* verbs[] = {"reads", "writes", "joins", "keeps"};
  const char* objects[] = {"its inputs", "one tile", "the sum", "all rows"};
  std::string text;
  std::uint32_t state = 7;
  for (int k = 0; k < 1500; ++k) {
    state = state * 1664525U + 1013904223U;
    text += std::string(subjects[state >> 30U]) + " " + verbs[state >> 24U & 3U] + " " +
            objects[state >> 18U & 3U] + ". ";
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t steps = 300;
  std::string text;
  for (int k = 1; k < argc; ++k) {
    if (std::string(argv[k]) == "--steps" && k + 1 < argc)
      steps = std::atoll(argv[++k]);
    else
      text = train::read_text(argv[k]);
  }
  const bool own = text.empty();
  if (own) text = own_text();

  std::map<char, std::int32_t> numbers;
  for (const char c : text) numbers.emplace(c, 0);
  std::string characters;
  for (auto& [c, number] : numbers) {
    number = static_cast<std::int32_t>(characters.size());
    characters += c;
  }
  std::vector<std::int32_t> tokens;
  for (const char c : text) tokens.push_back(numbers.at(c));
  const auto cut = static_cast<std::ptrdiff_t>(tokens.size() * 9 / 10);
  const auto learnt =
      std::make_shared<train::TokenWindows>(std::vector(tokens.begin(), tokens.begin() + cut), length);
  const auto held_out =
      std::make_shared<train::TokenWindows>(std::vector(tokens.begin() + cut, tokens.end()), length, length);

  const models::LlamaConfig config{.vocabulary = static_cast<std::int64_t>(characters.size()),
                                   .size = 64,
                                   .layers = 2,
                                   .heads = 4,
                                   .kv_heads = 2,
                                   .hidden = 192,
                                   .positions = length};
  const train::Build build = [&](const train::BuildContext& context) {
    nn::Scope scope = context.scope;
    models::Llama model(scope, config);
    if (context.mode == nn::Mode::train)
      model.embedding.weight.set(nn::init::normal(0, 0.2)({config.vocabulary, config.size}, DType::f32, 1));
    const Tensor seen = scope.graph().tensor({context.batch, length}, DType::i32);
    const Tensor next = scope.graph().tensor({context.batch, length}, DType::i32);
    const Tensor scores = model(seen);
    const Tensor right = argmax(scores, 2).cast(DType::i32).eq(next).cast(DType::f32).mean();
    return train::Model{{seen, next}, nn::cross_entropy(scores, next, {.axis = 2}), right, nn::params(model)};
  };
  train::TrainerOptions options;
  options.steps = steps;
  options.schedule =
      optim::linear_warm_up(20, optim::cosine(0.003, std::max<std::int64_t>(1, steps - 20)), 0.05);
  options.loader = {.batch = 32, .drop_partial = true};
  options.on_step = train::progress_bar(std::cout, false, std::max<std::int64_t>(1, steps / 6));
  train::Trainer trainer(build, learnt, held_out, options, best_device());
  const train::Evaluation evaluation = trainer.run().evaluation.value();
  std::cout << "loss " << evaluation.loss << " and " << evaluation.correct.value() * 100
            << " % of characters right in text it never saw\n";

  // The model again, for one text at a time, with the values it has now.
  Graph g;
  models::Llama model(nn::Scope(g).without_values(), config);
  const auto values = trainer.parameters();
  for (auto& [path, state] : nn::state_dict(model)) state.set(values.at(path));
  const Tensor seen = g.tensor({1, length}, DType::i32);
  const Tensor choice = argmax(model(seen), 2).cast(DType::i32).retrieve();
  Executable exe = compile(g, best_device());
  std::vector<std::int32_t> window(tokens.begin(), tokens.begin() + length);
  std::string written;
  for (int k = 0; k < 60; ++k) {
    exe.set(seen, Array(std::span<const std::int32_t>(window), {1, length})).run();
    window.push_back(exe.get<std::int32_t>(choice).back());
    window.erase(window.begin());
    written += characters[static_cast<std::size_t>(window.back())];
  }
  std::cout << "'" << text.substr(0, length) << "' goes on: '" << written << "'\n";
  return !own || steps < 300 || evaluation.correct.value() > 0.85 ? 0 : 1;
}
