#include <array>
#include <cmath>
#include <utility>

#include "luminal/io/atomic_file.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"
#include "luminal/train/interrupt.h"
#include "luminal/train/trainer_data.h"

namespace luminal::train {
namespace {

bool has_nan(const Array& array) {
  if (array.dtype() != DType::f32) return false;
  const auto* values = reinterpret_cast<const float*>(array.bytes());
  for (std::int64_t k = 0; k < array.size(); ++k)
    if (std::isnan(values[k])) return true;
  return false;
}

}  // namespace

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
