#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/compile/compile.h"
#include "luminal/nn/module.h"
#include "luminal/optim/loss_scale.h"
#include "luminal/optim/optimiser.h"
#include "luminal/optim/schedule.h"
#include "luminal/train/checkpoint.h"
#include "luminal/train/loader.h"
#include "luminal/train/report.h"

namespace luminal::train {

/// What a model is built for.
struct BuildContext {
  nn::Scope scope;
  nn::Mode mode = nn::Mode::train;
  Expr batch;  // the examples of a batch: a number, or a named dim
};
struct Model {
  std::vector<Tensor> inputs;     // one a field of the dataset, in its order
  Tensor loss;                    // a scalar: the mean over the batch
  std::optional<Tensor> correct;  // a scalar: the share of right answers
  std::vector<State> parameters;
};
/// Builds the forward pass in the context's graph. Called twice, for training and for evaluation; states find
/// each other by name.
using Build = std::function<Model(const BuildContext&)>;
using Optimiser = std::function<optim::Updates(const optim::Step&)>;

struct TrainerOptions {
  std::int64_t steps = 1000;
  std::uint64_t seed = 0;
  Optimiser optimiser = [](const optim::Step& step) { return optim::adamw(step); };
  optim::Schedule schedule = optim::constant(1e-3);
  std::optional<double> clip_norm = std::nullopt;
  std::optional<optim::LossScaleOptions> loss_scale = std::nullopt;
  LoaderOptions loader = {};  // its seed is the trainer's
  CompileOptions compile = {};

  std::int64_t evaluate_every = 0;  // steps; 0: at the end only
  std::int64_t evaluation_batch = 256;
  std::int64_t patience = 0;  // evaluations that bring no smaller loss before training stops; 0: never

  std::string checkpoints = {};  // a folder; empty: none
  std::int64_t save_every = 0;   // steps; 0: at the end only
  int keep_last = 3;
  bool resume = true;  // go on from the last checkpoint in the folder

  std::int64_t log_every = 10;
  std::string log = {};    // a CSV file
  std::string trace = {};  // a Chrome trace
  std::string page = {};   // one self-contained HTML page
  std::string title = "training";
  std::function<void(const StepReport&)> on_step = {};
  Sink sink = {};  // what there is to say, in lines
  /// Ctrl-C (and SIGTERM) ends training after the step, with a checkpoint; a second one ends the process.
  bool stop_on_interrupt = false;
};

struct Evaluation {
  double loss = 0;
  std::optional<double> correct;
};

enum class Stop : std::uint8_t { finished, early, interrupted };

struct Summary {
  std::int64_t steps = 0;  // all that were taken, earlier runs included
  float loss = 0;          // of the last one
  std::optional<Evaluation> evaluation;
  double seconds = 0;              // of this run, without compiling
  double examples_per_second = 0;  // of steps alone
  Stop stop = Stop::finished;
};

/// Trains a model: one compiled step a batch, whose states stay where they are and are updated in place.
class Trainer {
 public:
  /// Builds and compiles. `Error` for inputs that do not fit the dataset, an empty dataset, a folder that
  /// cannot be written, a checkpoint that does not fit the model.
  Trainer(Build build, std::shared_ptr<const Dataset> data, std::shared_ptr<const Dataset> evaluation,
          TrainerOptions options, std::shared_ptr<runtime::Device> device,
          Location where = Location::current());
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Takes the steps that are left. `Error` when the loss is not finite: it names the step, and the
  /// checkpoints from before stay. A checkpoint that cannot be written is reported to the sink, and training
  /// goes on; if it is the last one, that is an `Error` at the end.
  Summary run();
  /// The model's loss and share of right answers over the evaluation data, with the present values.
  Evaluation evaluate();

  /// The values of all states of the step, by name: parameters, moments, counters.
  std::map<std::string, Array> states() const;
  /// Those of the model alone: what belongs into a file.
  std::map<std::string, Array> parameters() const;
  const Executable& executable() const;
  const Graph& graph() const;
  std::int64_t steps_taken() const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace luminal::train
