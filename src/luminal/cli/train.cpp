#include "luminal/cli/train.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>

#include "luminal/cli/search_options.h"
#include "luminal/cli/train_task.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

using train::Config;

struct Given {
  std::string file;
  std::vector<std::string> settings;
  bool fresh = false;
  SearchOptions search;
};

train::Optimiser make_optimiser(Config& part) {
  const std::string kind = part.word("kind", {"adamw", "adam", "sgd", "lion"}, "adamw");
  const double decay = part.real("weight_decay", kind == "adamw" ? 0.01 : 0.0);
  if (kind == "sgd") {
    const double momentum = part.real("momentum", 0.9);
    return [=](const optim::Step& step) {
      return optim::sgd(step, {.momentum = momentum, .weight_decay = decay});
    };
  }
  const double beta1 = part.real("beta1", 0.9);
  const double beta2 = part.real("beta2", kind == "lion" ? 0.99 : 0.999);
  if (kind == "lion")
    return [=](const optim::Step& step) {
      return optim::lion(step, {.beta1 = beta1, .beta2 = beta2, .weight_decay = decay});
    };
  const optim::AdamOptions options{.beta1 = beta1, .beta2 = beta2, .weight_decay = decay};
  if (kind == "adam") return [options](const optim::Step& step) { return optim::adam(step, options); };
  return [options](const optim::Step& step) { return optim::adamw(step, options); };
}

optim::Schedule make_schedule(Config& part, std::int64_t steps) {
  const double rate = part.real("rate", 1e-3);
  const std::int64_t warm = part.integer("warm_up", 0);
  if (warm >= steps) part.refuse(cat("\"warm_up\" is ", warm, " of ", steps, " steps"));
  const std::string kind = part.word("schedule", {"constant", "cosine"}, "cosine");
  const optim::Schedule main = kind == "cosine" ? optim::cosine(rate, steps - warm) : optim::constant(rate);
  return warm > 0 ? optim::linear_warm_up(warm, main, 1.0 / static_cast<double>(warm)) : main;
}

train::TrainerOptions make_options(Config& config) {
  train::TrainerOptions options;
  options.title = config.text("title", "training");
  options.steps = config.integer("steps", 1000, 1);
  options.seed = static_cast<std::uint64_t>(config.integer("seed", 0));
  Config optimiser = config.object("optimiser");
  options.optimiser = make_optimiser(optimiser);
  options.schedule = make_schedule(optimiser, options.steps);
  if (optimiser.has("clip_norm")) options.clip_norm = optimiser.real("clip_norm", 1.0);
  optimiser.finish();
  options.loader.batch = config.integer("batch", 64, 1);
  options.loader.drop_partial = config.flag("drop_partial", true);
  options.evaluate_every = config.integer("evaluate_every", 0);
  options.patience = config.integer("patience", 0);
  options.checkpoints = config.text("checkpoints", "");
  options.save_every = config.integer("save_every", 0);
  options.keep_last = static_cast<int>(config.integer("keep_last", 3, 1));
  options.log_every = config.integer("log_every", 10, 1);
  options.log = config.text("log", "");
  options.trace = config.text("trace", "");
  options.page = config.text("page", "");
  return options;
}

void apply_settings(Config& config, const std::vector<std::string>& settings) {
  for (const auto& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(cat("train: --set takes KEY=VALUE, got ", in_quotes(setting)));
    config.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
}

int run(const Given& given) {
  Config config = Config::read(given.file);
  apply_settings(config, given.settings);
  train::TrainerOptions options = make_options(config);
  const std::string save = config.text("save", "");
  Config data = config.object("data");
  Config model = config.object("model");
  config.finish();
  const std::string folder = std::filesystem::path(given.file).parent_path().string();
  const Task task = make_task(data, model, folder, options.seed);
  options.resume = !given.fresh;
  options.stop_on_interrupt = true;
  options.sink = [](std::string_view line) { std::cerr << "luminal: " << line << '\n'; };
  const bool live = ::isatty(STDERR_FILENO) == 1;
  options.on_step = train::progress_bar(std::cerr, live, std::max<std::int64_t>(1, options.steps / 10));
  CompileSession session(given.search, "train");
  options.compile = session.options();
  train::Trainer trainer(task.build, task.data, task.evaluation, options, session.device());
  session.finish(trainer.executable());
  const train::Summary summary = trainer.run();
  if (!save.empty()) {
    std::map<std::string, Array> named;
    for (const auto& [path, array] : trainer.parameters()) {
      std::string name = path;
      std::replace(name.begin(), name.end(), '/', '.');
      named.emplace(name, array);
    }
    io::save(save, named);
  }
  std::cout << "steps " << summary.steps << "\nloss " << summary.loss << '\n';
  if (summary.evaluation) std::cout << "evaluation " << summary.evaluation->loss << '\n';
  if (summary.evaluation && summary.evaluation->correct)
    std::cout << "right " << *summary.evaluation->correct << '\n';
  std::cout << "examples_per_second " << std::llround(summary.examples_per_second) << '\n';
  if (summary.stop == train::Stop::early) std::cout << "stopped early: the evaluation got no better\n";
  if (summary.stop == train::Stop::interrupted) {
    std::cout << "interrupted"
              << (options.checkpoints.empty() ? "" : ", saved; the same command goes on from here") << '\n';
    return 130;
  }
  return 0;
}

}  // namespace

void add_train_command(CLI::App& app, int& exit_code) {
  const auto given = std::make_shared<Given>();
  auto* command = app.add_subcommand("train", "Train what a configuration describes; see docs/training.md");
  command->add_option("CONFIG", given->file, "A JSON file")->required();
  command->add_option("--set", given->settings,
                      "Another value for a key, as steps=100 or data.file=a.txt; repeatable");
  command->add_flag("--fresh", given->fresh, "Begin anew instead of going on from the last checkpoint");
  given->search.add_to(*command);
  command->callback([given, &exit_code] { exit_code = run(*given); });
}

}  // namespace luminal::cli
