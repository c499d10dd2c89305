#include "luminal/train/trainer.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

#include "luminal/autograd/gradients.h"
#include "luminal/io/atomic_file.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"
#include "luminal/train/interrupt.h"

namespace luminal::train {
namespace {

/// Recomputing what fits into memory easily costs more than it saves.
constexpr std::size_t ample_memory = std::size_t{1} << 30U;
constexpr std::size_t trace_limit = 60000;

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The states of a graph by name.
std::map<std::string, Tensor> states_of(const Graph& graph) {
  std::map<std::string, Tensor> result;
  for (const NodeId id : graph.dag().nodes())
    if (graph.dag().node(id).op == Op::state) result.emplace(graph.dag().node(id).name, graph.at(id));
  return result;
}

/// `Error` unless a model takes what a dataset gives.
void require_fields(const Model& model, const Dataset& dataset, Location where) {
  const auto& fields = dataset.fields();
  if (model.inputs.size() != fields.size())
    throw Error(cat("Trainer: the model takes ", model.inputs.size(), " inputs, and the dataset has ",
                    fields.size(), " fields"),
                where);
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const Tensor& input = model.inputs[k];
    std::vector<Expr> dims;
    for (std::size_t axis = 1; axis < input.rank(); ++axis) dims.push_back(input.shape()[axis]);
    bool fits = input.dtype() == fields[k].dtype && input.rank() == fields[k].dims.size() + 1;
    for (std::size_t axis = 0; fits && axis < dims.size(); ++axis)
      fits = prove_eq(dims[axis], Expr(fields[k].dims[axis]));
    if (!fits)
      throw Error(
          cat("Trainer: input ", k, " of the model is ", input.dtype(), input.shape(), ", and the field '",
              fields[k].name, "' of an example is ", fields[k].dtype, "[", join(fields[k].dims), "]"),
          where);
  }
}

bool has_nan(const Array& array) {
  if (array.dtype() != DType::f32) return false;
  const auto* values = reinterpret_cast<const float*>(array.bytes());
  for (std::int64_t k = 0; k < array.size(); ++k)
    if (std::isnan(values[k])) return true;
  return false;
}

/// `Error` now rather than after hours: a file that is to be written at the end can be.
void require_writable(const std::string& path) {
  if (path.empty()) return;
  const std::ofstream probe(path, std::ios::binary | std::ios::app);
  if (!probe) throw Error(cat("the file ", in_quotes(path), " cannot be written: ", std::strerror(errno)));
}

CompileOptions ample(CompileOptions options, std::int64_t batch) {
  if (options.memory_budget == 0) options.memory_budget = ample_memory;
  options.tune_dims.try_emplace("batch", batch);
  return options;
}

}  // namespace

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

void Trainer::Data::build_step() {
  dynamic_batch = !options.loader.drop_partial && dataset->size() % options.loader.batch != 0;
  model = build(context(graph, nn::Mode::train, dynamic_batch ? Expr("batch") : Expr(options.loader.batch)));
  require_fields(*model, *dataset, where);
  for (const auto& [name, state] : states_of(graph)) model_states.push_back(name);
  model->loss.retrieve();
  rate = graph.named_tensor("rate", {});
  const std::vector<Tensor> weights(model->parameters.begin(), model->parameters.end());
  if (options.loss_scale) {
    const optim::LossScale loss_scale(graph, *options.loss_scale);
    const auto unscaled = loss_scale.unscale(gradients(loss_scale.scaled(model->loss), weights));
    const auto slopes =
        options.clip_norm ? optim::clip_by_norm(unscaled.gradients, *options.clip_norm) : unscaled.gradients;
    options.optimiser({model->parameters, slopes, *rate}).apply_if(unscaled.finite);
    unscaled.updates.apply();
    scale = loss_scale.scale();
  } else {
    auto slopes = gradients(model->loss, weights);
    if (options.clip_norm) slopes = optim::clip_by_norm(slopes, *options.clip_norm);
    options.optimiser({model->parameters, slopes, *rate}).apply();
  }
  states = states_of(graph);
  step = compile(graph, device, ample(options.compile, options.loader.batch), where);
}

void Trainer::Data::build_evaluator() {
  if (!held_out) return;
  if (held_out->size() == 0) throw Error("Trainer: the evaluation dataset is empty", where);
  Graph own;
  Model made = build(context(own, nn::Mode::eval, Expr("batch")));
  require_fields(made, *held_out, where);
  made.loss.retrieve();
  if (made.correct) made.correct->retrieve();
  auto own_states = states_of(own);
  const Executable exe = compile(own, device, ample(options.compile, options.evaluation_batch), where);
  evaluator.emplace(Evaluator{own, made, std::move(own_states), exe});
}

void Trainer::Data::restore(const Checkpoint& checkpoint) {
  const std::string source = folder->path_of(checkpoint.progress.step);
  std::string problems;
  for (const auto& [name, tensor] : states) {
    const auto found = checkpoint.states.find(name);
    if (found == checkpoint.states.end()) {
      problems += cat("\n  ", name, " is missing");
      continue;
    }
    const auto dims = tensor.shape().eval({});
    if (found->second.dtype() != tensor.dtype() || found->second.dims() != dims)
      problems += cat("\n  ", name, " is ", found->second.dtype(), "[", join(found->second.dims()),
                      "], expected ", tensor.dtype(), "[", join(dims), "]");
  }
  for (const auto& [name, array] : checkpoint.states)
    if (!states.contains(name)) problems += cat("\n  ", name, " belongs to nothing in the model");
  if (!problems.empty())
    throw Error(cat("Trainer: the checkpoint ", in_quotes(source), " does not fit the model:", problems),
                where);
  if (checkpoint.progress.seed != options.seed)
    throw Error(cat("Trainer: the checkpoint ", in_quotes(source), " is of a run with seed ",
                    checkpoint.progress.seed, ", and this one has seed ", options.seed),
                where);
  loader->seek(checkpoint.progress.loader, where);
  for (const auto& [name, tensor] : states) {
    const Array& array = checkpoint.states.at(name);
    step->write_bytes(tensor, array.dtype(),
                      {array.bytes(), static_cast<std::size_t>(array.size()) * byte_size(array.dtype())});
  }
  progress = checkpoint.progress;
}

void Trainer::Data::resume() {
  if (!folder || !options.resume) return;
  if (const auto checkpoint = folder->load_last()) {
    restore(*checkpoint);
    last_saved = progress.step;
    say(cat("going on from step ", progress.step, ", ", folder->path_of(progress.step)));
  }
}

Trainer::Trainer(Build build, std::shared_ptr<const Dataset> data, std::shared_ptr<const Dataset> evaluation,
                 TrainerOptions options, std::shared_ptr<runtime::Device> device, Location where)
    : data_(std::make_unique<Data>()) {
  if (options.steps < 1) throw Error(cat("Trainer: ", options.steps, " steps, expected at least 1"), where);
  options.loader.seed = options.seed;
  data_->options = std::move(options);
  data_->dataset = std::move(data);
  data_->held_out = std::move(evaluation);
  data_->device = std::move(device);
  data_->build = std::move(build);
  data_->where = where;
  data_->progress.seed = data_->options.seed;
  const TrainerOptions& given = data_->options;
  for (const auto* path : {&given.log, &given.trace, &given.page}) require_writable(*path);
  if (!given.checkpoints.empty()) data_->folder.emplace(given.checkpoints, given.keep_last);
  data_->loader = std::make_unique<DataLoader>(data_->dataset, data_->options.loader, where);
  data_->build_step();
  data_->build_evaluator();
  data_->resume();
  if (!data_->options.log.empty()) data_->log.emplace(data_->options.log, data_->progress.step);
  if (!data_->options.trace.empty()) data_->trace.emplace(trace_limit);
}

Trainer::~Trainer() = default;

void Trainer::Data::take_step() {
  const double start = since(started);
  const Batch& batch = loader->next();
  if (dynamic_batch) step->set_dim("batch", batch.examples);
  for (std::size_t k = 0; k < model->inputs.size(); ++k)
    step->write_bytes(model->inputs[k], model->inputs[k].dtype(), batch.field(k));
  progress.rate = options.schedule(progress.step);
  const std::array<float, 1> now = {static_cast<float>(progress.rate)};
  step->write<float>(*rate, now);
  const double ready = since(started);
  step->run(where);
  const float loss = step->first(model->loss);
  const double done = since(started);
  if (trace) {
    trace->add("load", "data", start, ready - start, progress.step);
    trace->add("step", "compute", ready, done - ready, progress.step);
  }
  if (!std::isfinite(loss)) {
    const auto there = folder ? folder->steps() : std::vector<std::int64_t>();
    throw Error(
        cat("Trainer: the loss of step ", progress.step + 1, " is ", shortest(loss), " (rate ",
            shortest(progress.rate), "); nothing was saved since",
            there.empty() ? ""
                          : cat(", and the last checkpoint is ", in_quotes(folder->path_of(there.back())))),
        where);
  }
  stepping += done - start;
  examples += batch.examples;
  ++progress.step;
  progress.loader = loader->position();
  report.step = progress.step;
  report.steps = options.steps;
  report.epoch = batch.position.epoch;
  report.loss = loss;
  report.rate = progress.rate;
  report.examples_per_second = static_cast<double>(batch.examples) / std::max(done - start, 1e-9);
  const double speed = static_cast<double>(examples) / stepping;
  report.seconds_left =
      static_cast<double>((options.steps - progress.step) * options.loader.batch) / std::max(speed, 1e-9);
  report.evaluation_loss.reset();
  report.evaluation_correct.reset();
}

Evaluation Trainer::Data::evaluate() {
  if (!evaluator) throw Error("Trainer: there is no data to evaluate with", where);
  const double start = since(started);
  Executable& exe = evaluator->exe;
  for (const auto& [name, tensor] : evaluator->states) {
    const auto ours = states.find(name);
    if (ours == states.end()) continue;  // a state of evaluation alone
    const Array array = step->array(ours->second);
    exe.set(tensor, array);
  }
  LoaderOptions in_order;
  in_order.batch = std::min(options.evaluation_batch, held_out->size());
  in_order.shuffle = false;
  in_order.threads = 0;
  DataLoader batches(held_out, in_order, where);
  double loss = 0;
  double correct = 0;
  for (std::int64_t k = 0; k < batches.batches_per_epoch(); ++k) {
    const Batch& batch = batches.next();
    exe.set_dim("batch", batch.examples);
    for (std::size_t f = 0; f < evaluator->model.inputs.size(); ++f)
      exe.write_bytes(evaluator->model.inputs[f], evaluator->model.inputs[f].dtype(), batch.field(f));
    exe.run(where);
    const auto weight = static_cast<double>(batch.examples);
    loss += weight * static_cast<double>(exe.first(evaluator->model.loss));
    if (evaluator->model.correct)
      correct += weight * static_cast<double>(exe.first(*evaluator->model.correct));
  }
  const auto all = static_cast<double>(held_out->size());
  Evaluation result{loss / all, std::nullopt};
  if (evaluator->model.correct) result.correct = correct / all;
  if (trace) trace->add("evaluate", "compute", start, since(started) - start, progress.step);
  return result;
}

/// Takes note of an evaluation; whether it is the best so far.
bool Trainer::Data::observe(const Evaluation& evaluation) {
  last_evaluation = evaluation;
  report.evaluation_loss = evaluation.loss;
  report.evaluation_correct = evaluation.correct;
  const bool better = std::isfinite(evaluation.loss) && (!progress.best || evaluation.loss < *progress.best);
  if (better) {
    progress.best = evaluation.loss;
    progress.best_step = progress.step;
    progress.since_best = 0;
  } else {
    ++progress.since_best;
  }
  return better;
}

void Trainer::Data::save() {
  if (!folder || last_saved == progress.step) return;
  const double start = since(started);
  Checkpoint checkpoint{progress, {}};
  if (scale) checkpoint.progress.loss_scale = static_cast<double>(step->get<float>(*scale)[0]);
  for (const auto& [name, tensor] : states) {
    const Array array = step->array(tensor);
    if (has_nan(array))
      throw Error(cat("Trainer: after step ", progress.step, " the state '", name,
                      "' holds NaN; it was not saved, and earlier checkpoints stay"),
                  where);
    checkpoint.states.emplace(name, array);
  }
  try {
    folder->save(checkpoint);
    last_saved = progress.step;
    unsaved.clear();
  } catch (const Error& error) {
    unsaved = error.problem();
    say(unsaved);
  }
  if (trace) trace->add("save", "data", start, since(started) - start, progress.step);
}

void Trainer::Data::note_step() {
  const bool at_interval = progress.step % std::max<std::int64_t>(1, options.log_every) == 0;
  if (at_interval || report.evaluation_loss || progress.step == options.steps) {
    if (history.size() < history.capacity()) history.push_back(report);
    if (log) log->add(report);
  }
  if (options.on_step) options.on_step(report);
}

void Trainer::Data::write_reports(const Summary& summary) const {
  if (trace) trace->write(options.trace, step->stages());
  if (options.page.empty()) return;
  std::int64_t count = 0;
  for (const State& state : model->parameters) count += state.shape().element_count().eval({});
  std::vector<PageFact> facts = {
      {"parameters", std::to_string(count)},
      {"kernels in a step", std::to_string(step->kernel_count())},
      {"steps", std::to_string(summary.steps)},
      {"examples in a batch", std::to_string(options.loader.batch)},
      {"examples a second", std::to_string(std::llround(summary.examples_per_second))},
      {"seconds", std::to_string(std::llround(summary.seconds))},
      {"loss", shortest(summary.loss)},
  };
  if (summary.evaluation) facts.push_back({"loss in evaluation", shortest(summary.evaluation->loss)});
  if (summary.evaluation && summary.evaluation->correct)
    facts.push_back({"right answers", shortest(*summary.evaluation->correct)});
  const std::string page = html_page(options.title, history, facts);
  io::write_atomically(options.page, [&](io::FileWriter& writer) { writer.write(page); });
}

Summary Trainer::run() {
  Data& d = *data_;
  const InterruptGuard guard(d.options.stop_on_interrupt);
  d.started = Clock::now();
  const std::int64_t left = std::max<std::int64_t>(0, d.options.steps - d.progress.step);
  const std::int64_t evaluations = d.options.evaluate_every > 0 ? left / d.options.evaluate_every : 0;
  d.history.reserve(
      d.history.size() +
      static_cast<std::size_t>(left / std::max<std::int64_t>(1, d.options.log_every) + evaluations + 2));
  if (left == 0) {
    d.say(cat("all ", d.options.steps, " steps were taken already"));
    if (d.evaluator) d.last_evaluation = d.evaluate();
  }
  Summary summary;
  while (d.progress.step < d.options.steps && summary.stop == Stop::finished) {
    d.take_step();
    const std::int64_t step = d.progress.step;
    const bool last = step == d.options.steps;
    bool keep = d.options.save_every > 0 && step % d.options.save_every == 0;
    if (d.evaluator && (last || (d.options.evaluate_every > 0 && step % d.options.evaluate_every == 0))) {
      keep = d.observe(d.evaluate()) || keep;
      if (d.options.patience > 0 && d.progress.since_best >= d.options.patience && !last)
        summary.stop = Stop::early;
    }
    if (guard.interrupted()) summary.stop = Stop::interrupted;
    d.note_step();
    if (keep || last || summary.stop != Stop::finished) d.save();
  }
  summary.steps = d.progress.step;
  summary.loss = d.report.loss;
  summary.evaluation = d.last_evaluation;
  summary.seconds = since(d.started);
  summary.examples_per_second = d.stepping > 0 ? static_cast<double>(d.examples) / d.stepping : 0;
  d.write_reports(summary);
  if (!d.unsaved.empty()) throw Error(d.unsaved, d.where);
  return summary;
}

Evaluation Trainer::evaluate() {
  return data_->evaluate();
}
std::map<std::string, Array> Trainer::states() const {
  std::map<std::string, Array> result;
  for (const auto& [name, tensor] : data_->states) result.emplace(name, data_->step->array(tensor));
  return result;
}
std::map<std::string, Array> Trainer::parameters() const {
  std::map<std::string, Array> result;
  for (const auto& name : data_->model_states)
    result.emplace(name, data_->step->array(data_->states.at(name)));
  return result;
}
const Executable& Trainer::executable() const {
  return *data_->step;
}
const Graph& Trainer::graph() const {
  return data_->graph;
}
std::int64_t Trainer::steps_taken() const {
  return data_->progress.step;
}

}  // namespace luminal::train
