#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "luminal/autograd/gradients.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"
#include "luminal/train/trainer_data.h"

namespace luminal::train {
namespace {

constexpr std::size_t trace_limit = 60000;

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

/// `Error` now rather than after hours: a file that is to be written at the end can be.
void require_writable(const std::string& path) {
  if (path.empty()) return;
  const std::ofstream probe(path, std::ios::binary | std::ios::app);
  if (!probe) throw Error(cat("the file ", in_quotes(path), " cannot be written: ", std::strerror(errno)));
}

/// Typical values of the dims that this graph has: those of training and evaluation may differ.
CompileOptions tuned_for(const Graph& graph, CompileOptions options, std::int64_t batch) {
  options.tune_dims.try_emplace("batch", batch);
  std::erase_if(options.tune_dims,
                [&](const auto& dim) { return !graph.dag().variables().contains(dim.first); });
  return options;
}

}  // namespace

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
  step = compile(graph, device, tuned_for(graph, options.compile, options.loader.batch), where);
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
  const Executable exe =
      compile(own, device, tuned_for(own, options.compile, options.evaluation_batch), where);
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
  if (!given.checkpoints.empty()) data_->folder.emplace(given.checkpoints, given.keep_last);
  for (const auto* path : {&given.log, &given.trace, &given.page}) require_writable(*path);
  data_->loader = std::make_unique<DataLoader>(data_->dataset, data_->options.loader, where);
  data_->build_step();
  data_->build_evaluator();
  data_->resume();
  if (!data_->options.log.empty()) data_->log.emplace(data_->options.log, data_->progress.step);
  if (!data_->options.trace.empty()) data_->trace.emplace(trace_limit);
}

Trainer::~Trainer() = default;

}  // namespace luminal::train
