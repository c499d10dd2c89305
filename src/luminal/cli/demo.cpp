#include "luminal/cli/demo.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "luminal/cli/adder.h"
#include "luminal/cli/search_options.h"
#include "luminal/cli/torch_peer.h"
#include "luminal/io/atomic_file.h"
#include "luminal/io/json.h"
#include "luminal/luminal.h"
#include "luminal/support/html.h"
#include "luminal/support/text.h"
#include "luminal/train/sums.h"

namespace luminal::cli {
namespace {

using train::DecimalSums;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t held_out = 2000;
constexpr std::int64_t batch = 256;
constexpr double search_seconds = 40;

struct DemoOptions {
  std::uint64_t seed = 0;
  std::int64_t steps = 600;
  std::string json;
  std::string folder = "luminal-demo";
  bool search = false;
};

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A number with so many digits behind the point.
std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

void write_file(const std::string& path, const std::string& text) {
  io::write_atomically(path, [&](io::FileWriter& writer) { writer.write(text); });
}

/// Nodes that compute: what a machine would run one by one without a compiler.
std::size_t operations(const Dag& dag) {
  std::size_t count = 0;
  for (const NodeId id : dag.nodes()) {
    const Op op = dag.node(id).op;
    if (op != Op::input && op != Op::state && op != Op::constant && op != Op::iota) ++count;
  }
  return count;
}

const StageReport* stage(const Executable& exe, std::string_view name) {
  for (const auto& report : exe.stages())
    if (report.name == name) return &report;
  return nullptr;
}

class Demo {
 public:
  explicit Demo(DemoOptions options) : options_(std::move(options)), out_(std::cout) {
    search_.search = options_.search;
    if (search_.search) search_.budget = search_seconds;
    search_.no_cache = true;  // the story is how it is compiled
  }
  int run();

 private:
  void prepare_folder();
  void learn();
  void save();
  void examine();
  void compare();
  void show_views();
  void write_json() const;
  void answer();
  void say_sum(const std::pair<std::int64_t, std::int64_t>& pair);
  std::string at(const std::string& name) const { return options_.folder + "/" + name; }

  DemoOptions options_;
  SearchOptions search_;
  std::ostream& out_;
  models::LlamaConfig config_ = adder_config();
  train::SplitSums sums_;
  std::unique_ptr<train::Trainer> trainer_;
  std::unique_ptr<Adder> adder_;
  train::Summary summary_;
  std::string egraph_;
  Clock::time_point started_ = Clock::now();
  double seconds_ = 0;
  double tokens_per_second_ = 0;
  double exact_ = 0;
};

void Demo::prepare_folder() {
  if (!options_.json.empty()) {
    const auto parent = std::filesystem::absolute(options_.json).parent_path();
    if (::access(parent.c_str(), W_OK) != 0 || std::filesystem::is_directory(options_.json))
      throw Error(cat("demo: the file ", in_quotes(options_.json), " cannot be written"));
  }
  std::error_code error;
  std::filesystem::create_directories(options_.folder, error);
  if (error)
    throw Error(cat("demo: the folder ", in_quotes(options_.folder), " cannot be made: ", error.message()));
  write_file(
      at("README.txt"),
      "Made by 'luminal demo': a small Llama that adds, and views of how it was compiled and trained.\n");
}

void Demo::learn() {
  sums_ = train::split_decimal_sums(options_.seed, held_out);
  out_ << "Luminal demo: a transformer learns to add three-digit numbers, from nothing, on this machine.\n\n"
       << "  data       " << sums_.training->size() << " sums to learn from, " << held_out
       << " others kept back (seed " << options_.seed << ")\n"
       << "  compiling  the training step: forward, backward and AdamW in one graph ..." << std::endl;
  train::TrainerOptions options;
  options.steps = options_.steps;
  options.seed = options_.seed;
  options.schedule =
      optim::linear_warm_up(50, optim::cosine(3e-3, std::max<std::int64_t>(1, options_.steps - 50)), 0.02);
  options.optimiser = [](const optim::Step& step) {
    return optim::adamw(step, {.beta2 = 0.99, .weight_decay = 0.01});
  };
  options.loader = {.batch = batch, .drop_partial = true};
  CompileSession session(search_, "demo");
  options.compile = session.options();
  options.log_every = 5;
  options.log = at("training.csv");
  options.trace = at("trace.json");
  options.page = at("training.html");
  options.title = "Learning to add";
  options.stop_on_interrupt = true;
  options.on_step = train::progress_bar(std::cerr, ::isatty(STDERR_FILENO) == 1, 100);
  const auto start = Clock::now();
  trainer_ =
      std::make_unique<train::Trainer>(adder_build(config_), sums_.training, nullptr, options, best_device());
  session.finish(trainer_->executable());
  const Executable& exe = trainer_->executable();
  std::int64_t parameters = 0;
  for (const auto& [name, array] : trainer_->parameters()) parameters += array.size();
  out_ << "  model      Llama: " << config_.layers << " layers, " << config_.size << " wide, " << parameters
       << " parameters\n"
       << "  graph      " << trainer_->graph().dag().nodes().size() << " nodes\n";
  if (const auto* saturated = stage(exe, "saturate"))
    out_ << "  e-graph    " << saturated->detail << ", in " << fixed(saturated->seconds, 2) << " s\n";
  if (const auto* mapped = stage(exe, "map")) out_ << "  mapping    " << mapped->detail << '\n';
  out_ << "  kernels    " << operations(trainer_->graph().dag()) << " operations before, "
       << exe.kernel_count() << " kernels after; compiled in " << fixed(since(start), 1) << " s\n\n"
       << "  training   " << options_.steps << " steps of " << batch << " sums\n"
       << std::flush;
  summary_ = trainer_->run();
  tokens_per_second_ = summary_.examples_per_second * static_cast<double>(DecimalSums::positions);
  out_ << "  trained    in " << fixed(summary_.seconds, 1) << " s, " << std::llround(tokens_per_second_)
       << " tokens/s, loss " << fixed(static_cast<double>(summary_.loss), 4) << "\n";
}

void Demo::save() {
  const std::string folder = at("model");
  models::save_llama(folder, config_, trainer_->parameters(),
                     models::character_tokenizer(DecimalSums::characters()));
  CompileOptions options;
  options.cache = false;
  options.inspect = [this](std::string_view what, const std::string& text) {
    if (what == "egraph") egraph_ = text;
  };
  adder_ = std::make_unique<Adder>(folder, options);
  out_ << "  saved      " << folder << " (config.json, tokenizer.json, model.safetensors), and loaded back\n";
}

void Demo::examine() {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t k = 0; k < sums_.held_out->size(); ++k)
    pairs.emplace_back(sums_.held_out->first(k), sums_.held_out->second(k));
  const auto sums = adder_->add(pairs);
  std::int64_t right = 0;
  for (std::size_t k = 0; k < pairs.size(); ++k)
    if (sums[k] == pairs[k].first + pairs[k].second) ++right;
  exact_ = static_cast<double>(right) / static_cast<double>(pairs.size());
  seconds_ = since(started_);
  out_ << "  examined   " << right << " of " << pairs.size()
       << " sums it never saw are exactly right: " << fixed(exact_ * 100, 2) << " %\n\n"
       << std::flush;
}

void Demo::compare() {
  // The interpreter takes the same step with few sums: its time grows with their number.
  constexpr std::int64_t few = 2;
  Graph g;
  const train::Model model = adder_build(config_)({nn::Scope(g, options_.seed), nn::Mode::train, Expr(few)});
  model.loss.retrieve();
  optim::adamw(
      {model.parameters, gradients(model.loss, {model.parameters.begin(), model.parameters.end()}), 1e-3})
      .apply();
  model.inputs[0].set(Array(DType::i32, {few, DecimalSums::positions}));
  model.inputs[1].set(Array(DType::i32, {few, DecimalSums::digits}));
  const auto start = Clock::now();
  g.execute();
  const double interpreter = static_cast<double>(few * DecimalSums::positions) / since(start);
  out_ << "  speed      " << fixed(tokens_per_second_ / interpreter, 0) << " times the interpreter";
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  if (const auto peer =
          torch_training_speed(config_, batch, DecimalSums::positions, DecimalSums::question - 1, threads))
    out_ << "; " << fixed(tokens_per_second_ / peer->tokens_per_second, 2) << " times PyTorch "
         << peer->version << " (" << std::llround(peer->tokens_per_second) << " tokens/s, " << threads
         << " threads)\n";
  else
    out_ << "; PyTorch is not installed here, so it was not compared\n";
}

void Demo::show_views() {
  write_file(at("graph.html"), to_html(adder_->graph().dag(), "The model that adds"));
  write_file(at("training-graph.html"), to_html(trainer_->graph().dag(), "The training step"));
  write_file(at("egraph.html"), cat("<!doctype html><html lang=\"en\"><head><meta "
                                    "charset=\"utf-8\"><title>The e-graph</title></head><body>"
                                    "<h1>Every way to write each value of the model</h1><pre>",
                                    escape_html(egraph_), "</pre></body></html>\n"));
  out_ << "  views      " << at("graph.html") << "  the model\n"
       << "             " << at("training-graph.html") << "  forward, backward, update\n"
       << "             " << at("egraph.html") << "  every way to write each value\n"
       << "             " << at("training.html") << "  curves (also training.csv, trace.json)\n\n";
}

void Demo::write_json() const {
  if (options_.json.empty()) return;
  io::Json json;
  json["exact"] = exact_;
  json["steps"] = summary_.steps;
  json["seconds"] = seconds_;
  json["tokens_per_s"] = tokens_per_second_;
  json["kernels"] = trainer_->executable().kernel_count();
  json["seed"] = options_.seed;
  json["pairs"] = held_out;
  write_file(options_.json, json.dump(2) + "\n");
}

void Demo::say_sum(const std::pair<std::int64_t, std::int64_t>& pair) {
  const std::int64_t sum = adder_->add({pair})[0];
  out_ << "  " << pair.first << " + " << pair.second << " = ";
  if (sum < 0)
    out_ << "something that is no number; I still have to learn";
  else
    out_ << sum;
  if (sum >= 0 && sum != pair.first + pair.second)
    out_ << "  (not right: it is " << pair.first + pair.second << ")";
  out_ << '\n' << std::flush;
}

void Demo::answer() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    out_ << "Some sums:\n";
    for (const auto& pair : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {123, 456}, {7, 8}, {999, 1}, {500, 500}, {246, 813}, {0, 0}, {999, 999}})
      say_sum(pair);
    return;
  }
  out_ << "Type a sum, such as 123+456 (an empty line ends):\n";
  std::string line;
  while (out_ << "> " << std::flush && std::getline(std::cin, line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) break;
    std::string why;
    if (const auto pair = parse_sum(line, why))
      say_sum(*pair);
    else
      out_ << "  " << why << '\n';
  }
}

int Demo::run() {
  prepare_folder();
  learn();
  if (summary_.stop == train::Stop::interrupted) {
    out_ << "  interrupted after " << summary_.steps << " of " << options_.steps
         << " steps: no model was saved; its curves so far are in " << at("training.html") << '\n';
    return 130;
  }
  save();
  examine();
  write_json();
  compare();
  show_views();
  answer();
  return 0;
}

}  // namespace

void add_demo_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<DemoOptions>();
  auto* command =
      app.add_subcommand("demo", "Train a small transformer to add, save it, load it, and ask it sums");
  command->add_option("--seed", options->seed,
                      "What the weights and the held-out sums are drawn with (default: 0)");
  command->add_option("--steps", options->steps, "Training steps (default: 600)")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--json", options->json,
                      "Write exact, steps, seconds, tokens_per_s and kernels to this file");
  command->add_option("--out", options->folder,
                      "The folder for the model and the views (default: luminal-demo)");
  command->add_flag("--search", options->search,
                    "Choose the kernels of the training step by measuring them here, for up to 40 s");
  command->callback([options, &exit_code] { exit_code = Demo(*options).run(); });
}

}  // namespace luminal::cli
