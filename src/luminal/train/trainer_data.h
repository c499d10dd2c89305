#pragma once
// What Trainer's handle points to. Internal to train/.
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/train/trainer.h"

namespace luminal::train {

using Clock = std::chrono::steady_clock;
inline double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Trainer::Data {
  TrainerOptions options;
  std::shared_ptr<const Dataset> dataset;
  std::shared_ptr<const Dataset> held_out;
  std::shared_ptr<runtime::Device> device;
  Build build;
  Location where;

  std::unique_ptr<DataLoader> loader;
  Graph graph;
  std::optional<Model> model;
  std::optional<Tensor> rate;
  std::optional<Tensor> scale;
  std::map<std::string, Tensor> states;
  std::vector<std::string> model_states;
  std::optional<Executable> step;
  bool dynamic_batch = false;

  struct Evaluator {
    Graph graph;
    Model model;
    std::map<std::string, Tensor> states;
    Executable exe;
  };
  std::optional<Evaluator> evaluator;

  std::optional<CheckpointFolder> folder;
  std::string unsaved;  // why the last checkpoint was not written
  Progress progress;
  StepReport report;
  std::vector<StepReport> history;
  std::optional<Trace> trace;
  std::optional<CsvLog> log;
  Clock::time_point started;
  double stepping = 0;  // seconds of steps in this run
  std::int64_t examples = 0;
  std::optional<Evaluation> last_evaluation;
  std::int64_t last_saved = -1;

  void say(const std::string& line) const {
    if (options.sink) options.sink(line);
  }
  BuildContext context(Graph& in, nn::Mode mode, const Expr& batch) const {
    const nn::Scope scope(in, options.seed);
    return {mode == nn::Mode::train ? scope : scope.without_values(), mode, batch};
  }
  void build_step();
  void build_evaluator();
  void resume();
  void restore(const Checkpoint& checkpoint);
  void take_step();
  Evaluation evaluate();
  bool observe(const Evaluation& evaluation);
  void save();
  void note_step();
  void write_reports(const Summary& summary) const;
};

}  // namespace luminal::train
