// Lesson 17: a run that stops and goes on ends with the same bits as one that never stopped. Also a CSV log,
// a trace and a page with curves.
#include <luminal/luminal.h>
#include <luminal/train/sums.h>

#include <filesystem>
#include <iostream>
#include <random>

using namespace luminal;

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       ("luminal-lesson-17-" + std::to_string(std::random_device()()));
  const train::Build build = [](const train::BuildContext& context) {
    nn::Scope scope = context.scope;
    nn::Sequential net(nn::Linear(scope / "hidden", 8, 32), nn::Tanh{}, nn::Linear(scope / "out", 32, 5));
    const Tensor bits = scope.graph().tensor({context.batch, 8});
    const Tensor sum = scope.graph().tensor({context.batch, 5});
    return train::Model{{bits, sum}, nn::mse_loss(net(bits), sum), std::nullopt, nn::params(net)};
  };
  const auto sums = std::make_shared<train::BinarySums>(4);
  train::TrainerOptions options;
  options.steps = 200;
  options.schedule = optim::cosine(0.02, 200);
  options.loader.batch = 32;
  train::Trainer whole(build, sums, sums, options, best_device());
  whole.run();

  options.checkpoints = folder / "checkpoints";
  options.save_every = 40;
  options.evaluate_every = 50;
  options.log = folder / "log.csv";
  options.page = folder / "page.html";
  options.trace = folder / "trace.json";
  options.steps = 90;  // here the machine stops
  train::Trainer(build, sums, sums, options, best_device()).run();
  options.steps = 200;  // and the same program is started again
  options.sink = [](std::string_view line) { std::cout << line << '\n'; };
  train::Trainer again(build, sums, sums, options, best_device());
  std::cout << "goes on after step " << again.steps_taken() << '\n';
  again.run();

  bool equal = true;
  for (const auto& [name, array] : whole.states())
    equal = equal && same_values(array, again.states().at(name));
  std::cout << (equal ? "every state has the same bits\n" : "states differ\n");
  for (const auto step : train::CheckpointFolder(folder / "checkpoints", 3).steps())
    std::cout << "checkpoint of step " << step << '\n';
  std::filesystem::remove_all(folder);
  return equal && again.steps_taken() == 200 ? 0 : 1;
}
